// Programs installed by npm on Windows: `.cmd` files that start Node, found through Path and
// PATHEXT. Runs on win32 only (npm run test:windows).
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hostEnvironment, withVariables } from '../../../src/agents/agentEnvironment';
import { resolveCommand } from '../../../src/agents/resolveCommand';
import { scratchFile, scratchFolder } from '../../support/scratch';
import { closeAgents, output, start } from './startedAgents';

const SCRIPT = 'process.stdout.write(JSON.stringify(process.argv.slice(2)))';
const FIND =
  '@ECHO off\r\nGOTO start\r\n:find_dp0\r\nSET dp0=%~dp0\r\nEXIT /b\r\n:start\r\nSETLOCAL\r\nCALL :find_dp0\r\n';
const PROG =
  'IF EXIST "%dp0%\\node.exe" (\r\n  SET "_prog=%dp0%\\node.exe"\r\n) ELSE (\r\n  SET "_prog=node"\r\n  SET PATHEXT=%PATHEXT:;.JS;=;%\r\n)\r\n';
const CALL =
  'endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & "%_prog%"  "%dp0%\\node_modules\\agent\\agent.js" %*\r\n';

/** A shim like npm's cmd-shim, and its script, which prints its arguments. */
async function shim(folder: string): Promise<string> {
  const module = join(folder, 'node_modules/agent');
  await mkdir(module, { recursive: true });
  await writeFile(join(module, 'agent.js'), SCRIPT);
  return scratchFile(folder, 'agent.cmd', FIND + PROG + CALL);
}

/** A batch file that passes its arguments on, like npx.cmd. */
async function batchFile(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'agent.js'), SCRIPT);
  const text = `@ECHO OFF\r\nSETLOCAL\r\nSET "NODE_EXE=${process.execPath}"\r\n"%NODE_EXE%" "%~dp0\\agent.js" %*\r\n`;
  return scratchFile(folder, 'agent.cmd', text);
}

async function seen(command: string, args: readonly string[]): Promise<unknown> {
  const env = withVariables(hostEnvironment(process.env), { Path: dirname(process.execPath) });
  return JSON.parse(await output(await start('', { command, args, env })));
}

(process.platform === 'win32' ? describe : describe.skip)('Programs that npm installed on Windows', () => {
  afterEach(closeAgents);

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
  for (const [where, below, make] of [
    ['through a shim of a global folder', 'npm', shim],
    ['through a shim of a project', 'node_modules/.bin', shim],
    ['through a shim below a folder with a space', 'a b', shim],
    ['through another batch file', 'bin', batchFile],
  ] as const) {
    for (const [what, argument] of ARGUMENTS) {
      if (make === batchFile && argument.includes('%')) continue;
      it(`${where} get an argument with ${what} as it is written`, async () => {
        const command = await make(join(await scratchFolder(), below));
        assert.deepEqual(await seen(command, ['first', argument, 'last']), ['first', argument, 'last']);
      });
    }
  }

  it('do not start if a batch file would get a percent sign', async () => {
    const command = await batchFile(await scratchFolder());
    await assert.rejects(seen(command, ['100%']), { code: 'agent-spawn-failed' });
  });
});
