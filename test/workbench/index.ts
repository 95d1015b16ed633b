// What the extension host loads: runs mocha on the bundled test files, in this process, with `vscode` at hand.
import { appendFileSync } from 'node:fs';
import Mocha from 'mocha';

/** Called by VS Code. Rejects where a test failed, which is how the host learns the exit code. */
export async function run(): Promise<void> {
  const mocha = new Mocha({ ui: 'bdd', timeout: 30_000, color: Boolean(process.env.PARLEY_TEST_COLOR) });
  const files: unknown = JSON.parse(process.env.PARLEY_TEST_FILES ?? '[]');
  if (!Array.isArray(files) || files.length === 0) throw new Error('There are no test files in PARLEY_TEST_FILES');
  for (const file of files) mocha.addFile(String(file));
  const failures = await new Promise<number>((resolve) => {
    const runner = mocha.run(resolve);
    runner.once('end', () => {
      const { passes, failures: failed, pending } = runner.stats ?? { passes: 0, failures: 1, pending: 0 };
      const line = JSON.stringify({ passed: passes, failed, pending });
      if (process.env.PARLEY_TEST_RESULT) appendFileSync(process.env.PARLEY_TEST_RESULT, `${line}\n`);
    });
  });
  if (failures > 0) throw new Error(`${failures} failed`);
}
