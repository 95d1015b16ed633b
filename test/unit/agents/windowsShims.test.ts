// Programs that npm installed on Windows: `.cmd` files that start Node, found through Path and PATHEXT. Runs where the platform is win32 (npm run test:windows).
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentProcess } from '../../../src/agents/agentProcess';
import { hostEnvironment } from '../../../src/agents/hostEnvironment';
import { resolveCommand } from '../../../src/agents/resolveCommand';
import { Deferred } from '../../../src/base/deferred';
import { silentLog } from '../../../src/base/log';
import { removeScratch, scratchFile, scratchFolder } from '../../support/scratch';

/** A shim as npm's cmd-shim writes it, and the script that it starts, which prints its arguments. */
async function shim(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'agent.js'), 'process.stdout.write(JSON.stringify(process.argv.slice(2)))');
  return scratchFile(folder, 'agent.cmd', `@ECHO off\r\n"${process.execPath}" "%~dp0\\agent.js" %*\r\n`);
}

/** What the agent sees as its arguments. */
async function seen(command: string, args: readonly string[]): Promise<unknown> {
  const env = hostEnvironment(process.env);
  const agent = await AgentProcess.start({ command, args, env, cwd: process.cwd(), log: silentLog });
  const chunks: Uint8Array[] = [];
  const printed = new Deferred<string>();
  agent.transport.listen({
    data: (chunk) => chunks.push(chunk),
    closed: () => printed.resolve(Buffer.concat(chunks).toString()),
  });
  const text = await printed.promise;
  await agent.close();
  return JSON.parse(text);
}

(process.platform === 'win32' ? describe : describe.skip)('Programs that npm installed on Windows', () => {
  afterEach(removeScratch);

  for (const [what, variables] of [
    ['Path and PATHEXT', ['Path', 'PATHEXT', '.EXE;.CMD']],
    ['PATH and PathExt in small letters', ['PATH', 'PathExt', '.exe;.cmd']],
  ] as const) {
    it(`are found by name through ${what}`, async () => {
      const [path, pathExt, extensions] = variables;
      const folder = await scratchFolder();
      const expected = await shim(folder);
      const found = await resolveCommand('agent', { cwd: 'Z:\\', env: { [path]: folder, [pathExt]: extensions } });
      assert.equal(found.toLowerCase(), expected.toLowerCase());
    });
  }

  const ARGUMENTS: readonly (readonly [string, string])[] = [
    ['a space', 'a b'],
    ['quotes', 'say "hi"'],
    ['a percent sign', '100% %PATH%'],
    ['a caret', 'a^b'],
    ['an ampersand', 'a&b & c'],
    ['an exclamation mark', 'hi!'],
    ['an ampersand after a quote', 'a" & echo b'],
    ['nothing', ''],
  ];
  for (const [where, below] of [
    ['of a global folder', 'npm'],
    ['of a project', 'node_modules/.bin'],
  ] as const) {
    for (const [what, argument] of ARGUMENTS) {
      it(`${where} get an argument with ${what} as it is written`, async () => {
        const command = await shim(join(await scratchFolder(), below));
        assert.deepEqual(await seen(command, ['first', argument, 'last']), ['first', argument, 'last']);
      });
    }
  }
});
