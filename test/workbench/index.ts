// Loaded by the extension host: runs mocha on the bundled test files in this process.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import Mocha from 'mocha';
import { ConfigurationTarget, workspace } from 'vscode';

/** Called by VS Code. Rejects if a test failed, which sets the exit code. */
export async function run(): Promise<void> {
  const reporter: unknown = createRequire(__filename)(
    join(process.env.PARLEY_REPOSITORY ?? '', 'scripts/lib/countingReporter.cjs'),
  );
  const mocha = new Mocha({
    ui: 'bdd',
    timeout: 30_000,
    color: Boolean(process.env.PARLEY_TEST_COLOR),
    reporter: reporter as Mocha.ReporterConstructor,
  });
  const files: unknown = JSON.parse(process.env.PARLEY_TEST_FILES ?? '[]');
  if (!Array.isArray(files) || files.length === 0) throw new Error('There are no test files in PARLEY_TEST_FILES');
  for (const file of files) mocha.addFile(String(file));
  // The VS Code from npm has no TypeScript, and looks for it once: at the first file of that
  // language.
  await workspace
    .getConfiguration('typescript')
    .update('tsdk', process.env.PARLEY_TEST_TSDK, ConfigurationTarget.Global);
  const failures = await new Promise<number>((resolve) => {
    mocha.run(resolve);
  });
  if (failures > 0) throw new Error(`${failures} failed`);
}
