// Terminal commands on Windows: programs, batch files and builtins of cmd.exe. Runs only on win32
// (npm run test:windows).
import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { hostEnvironment, withVariables } from '../../../src/agents/agentEnvironment';
import { silentLog } from '../../../src/base/log';
import { ConsoleReader, consoleCodePage } from '../../../src/terminals/consoleText';
import { planCommand } from '../../../src/terminals/terminalCommand';
import { TerminalProcess } from '../../../src/terminals/terminalProcess';
import { removeScratch, scratchFile, scratchFolder } from '../../support/scratch';

const SCRIPT = 'process.stdout.write(JSON.stringify(process.argv.slice(2)))';
const env = withVariables(hostEnvironment(process.env), { Path: dirname(process.execPath) });

async function printed(command: string, args: readonly string[], cwd: string): Promise<string> {
  const options = { cwd, env, capacityBytes: 100_000, log: silentLog, onChange: () => undefined };
  const terminal = await TerminalProcess.start(planCommand({ command, args, cwd }, env), options);
  await terminal.exited;
  return terminal.output().output;
}

(process.platform === 'win32' ? describe : describe.skip)('Terminals on Windows', () => {
  afterEach(removeScratch);
  const argument = 'a" & echo b';

  it('pass arguments to a program verbatim', async () => {
    const folder = await scratchFolder();
    const script = await scratchFile(folder, 'print.js', SCRIPT);
    assert.deepEqual(JSON.parse(await printed('node', [script, argument, '100%'], folder)), [argument, '100%']);
  });

  it('pass arguments to a batch file verbatim', async () => {
    const folder = await scratchFolder();
    await scratchFile(folder, 'print.js', SCRIPT);
    const file = await scratchFile(folder, 'run.cmd', '@node "%~dp0\\print.js" %*\r\n');
    assert.deepEqual(JSON.parse(await printed(file, [argument], folder)), [argument]);
  });

  it('run only builtins of cmd.exe with arguments in cmd.exe', async () => {
    const text = await printed('echo', ['a" & ver'], await scratchFolder());
    assert.equal(text.trim(), '"a"" & ver"');
  });

  it('run a command line verbatim', async () => {
    const text = await printed('echo one&& echo two', [], await scratchFolder());
    assert.deepEqual(text.trim().split(/\s+/), ['one', 'two']);
  });

  it("show output of cmd.exe and older programs in the console's code page", async () => {
    const page = await consoleCodePage();
    assert.ok(page !== undefined);
    const folder = await scratchFolder();
    const print = (bytes: string): string => `process.stdout.write(Buffer.from('${bytes}', 'hex'))`;
    const reader = new ConsoleReader(page);
    assert.equal(await printed('node', ['-e', print('810a')], folder), reader.write(Buffer.from('810a', 'hex')));
    assert.equal(await printed('node', ['-e', print('c3bc0a')], folder), 'ü\n');
  });

  it('end with their child processes', async () => {
    const folder = await scratchFolder();
    const command = planCommand({ command: 'node', args: ['-e', 'setInterval(() => {}, 1000)'], cwd: folder }, env);
    const options = { cwd: folder, env, capacityBytes: 100_000, log: silentLog, onChange: () => undefined };
    const terminal = await TerminalProcess.start(command, options);
    await terminal.kill();
    assert.notEqual(terminal.exit?.exitCode, 0);
  });

  it("don't prefer a program in the folder over one in PATH", async () => {
    const folder = await scratchFolder();
    await scratchFile(folder, 'planted.cmd', '@echo planted\r\n');
    await assert.rejects(printed('planted', ['x'], folder), { code: 'agent-not-found' });
  });
});
