// Starting Windows batch files: arguments against a model of cmd.exe and programs, and shims of
// package managers.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { batchLine, planStart, shimTarget } from '../../../src/agents/startPlan';
import { removeScratch, scratchFile, scratchFolder } from '../../support/scratch';

const SHIM = 'C:\\Users\\a b\\npm\\gemini.cmd';

/** Models how cmd.exe reads a line: the text without carets, and the characters with a meaning. */
function readByCmd(line: string): { readonly text: string; readonly operators: string } {
  let [isQuoted, text, operators] = [false, '', ''];
  for (let at = 0; at < line.length; at++) {
    const character = line[at] ?? '';
    if (character === '"') isQuoted = !isQuoted;
    else if (character === '%' || /[\r\n]/.test(character)) operators += character;
    else if (!isQuoted && /[&|<>()]/.test(character)) operators += character;
    else if (!isQuoted && character === '^') {
      text += line[++at] ?? '';
      continue;
    }
    text += character;
  }
  return { text, operators };
}

/** Models how a program parses its command line (the C runtime's rules of 2008). */
function readByProgram(line: string): string[] {
  const words: string[] = [];
  let [word, isQuoted, isOpen] = ['', false, false];
  for (let at = 0; at < line.length; ) {
    const slashes = /^\\*/.exec(line.slice(at))?.[0].length ?? 0;
    const next = line[at + slashes];
    if (next === '"') {
      word += '\\'.repeat(slashes >> 1);
      at += slashes + 1;
      isOpen = true;
      if (slashes % 2 === 1) word += '"';
      else if (isQuoted && line[at] === '"') {
        word += '"';
        at++;
      } else isQuoted = !isQuoted;
    } else if (slashes > 0) {
      word += '\\'.repeat(slashes);
      at += slashes;
      isOpen = true;
    } else if (!isQuoted && (next === ' ' || next === '\t')) {
      if (isOpen) words.push(word);
      [word, isOpen] = ['', false];
      at++;
    } else {
      word += next;
      isOpen = true;
      at++;
    }
  }
  return isOpen ? [...words, word] : words;
}

describe('the command line of a batch file', () => {
  const PIECES = [...`"\\&|^<>()! \t,;=*?aü-/'\``];
  const argument = fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => pieces.join(''));

  it('passes each argument unchanged, however often cmd.exe parses it, and runs no part of it', () => {
    fc.assert(
      fc.property(fc.array(argument, { maxLength: 4 }), (args) => {
        const line = batchLine(SHIM, args);
        assert.ok(line.startsWith('"') && line.endsWith('"'), 'the quotes that /s takes off');
        let text = line.slice(1, -1);
        for (const reading of ['the line', 'the call in the batch file', 'a batch file that it calls']) {
          const read = readByCmd(text);
          assert.equal(read.operators, '', reading);
          text = read.text;
        }
        assert.deepEqual(readByProgram(text), [SHIM, ...args]);
      }),
      { numRuns: 2000 },
    );
  });

  it('keeps a command after an ampersand inside its argument', () => {
    assert.equal(batchLine('C:\\x.cmd', ['a" & echo b']), '"C:\\x.cmd "a"" & echo b""');
  });

  for (const argument of ['100%', '%PATH%', 'a\nb', 'a\rb', 'a\0b']) {
    it(`is refused for ${JSON.stringify(argument)}`, () => {
      assert.throws(() => batchLine(SHIM, ['--key', argument]), {
        code: 'agent-spawn-failed',
        message: /can't have a percent sign or a line break/,
      });
    });
  }
});

const FIND = `@ECHO off\r\nGOTO start\r\n:find_dp0\r\nSET dp0=%~dp0\r\nEXIT /b\r\n:start\r\nSETLOCAL\r\nCALL :find_dp0\r\n`;
const PROG = `\r\nIF EXIST "%dp0%\\node.exe" (\r\n  SET "_prog=%dp0%\\node.exe"\r\n) ELSE (\r\n  SET "_prog=node"\r\n  SET PATHEXT=%PATHEXT:;.JS;=;%\r\n)\r\n`;
const END = 'endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & ';
const npm = (options = ''): string =>
  `${FIND}${PROG}\r\n${END}"%_prog%" ${options} "%dp0%\\node_modules\\@google\\gemini-cli\\dist\\index.js" %*\r\n`;
const yarn = (second = '..\\cli\\bin.js'): string =>
  `@IF EXIST "%~dp0\\node.exe" (\r\n  "%~dp0\\node.exe"  "%~dp0\\..\\cli\\bin.js" %*\r\n) ELSE (\r\n  @SETLOCAL\r\n  @SET PATHEXT=%PATHEXT:;.JS;=;%\r\n  node  "%~dp0\\${second}" %*\r\n)`;

describe('the target of a shim', () => {
  const script = 'C:\\Users\\a b\\npm\\node_modules\\@google\\gemini-cli\\dist\\index.js';
  it('is the script that an npm shim passes to Node.js', () => {
    assert.deepEqual(shimTarget(SHIM, npm()), { file: script, isScript: true, nodeArgs: [] });
  });
  it('has the options of the first line of the script', () => {
    const target = shimTarget(SHIM, npm('--no-warnings=DEP0040 --enable-source-maps'));
    assert.deepEqual(target, {
      file: script,
      isScript: true,
      nodeArgs: ['--no-warnings=DEP0040', '--enable-source-maps'],
    });
  });
  it('is the script of both calls in a shim of Yarn, pnpm or an older npm', () => {
    const expected = { file: 'C:\\Users\\a b\\cli\\bin.js', isScript: true, nodeArgs: [] };
    assert.deepEqual(shimTarget(SHIM, yarn()), expected);
  });
  it('is the program that a shim calls without Node.js', () => {
    const text = `${FIND}"%dp0%\\node_modules\\opencode\\bin\\opencode.exe"   %*\r\n`;
    const file = 'C:\\Users\\a b\\npm\\node_modules\\opencode\\bin\\opencode.exe';
    assert.deepEqual(shimTarget(SHIM, text), { file, isScript: false, nodeArgs: [] });
  });
  for (const [what, text] of [
    ['an empty file', ''],
    ['another batch file', '@echo off\r\nset X=1\r\nnode "%~dp0\\x.js" %*\r\n'],
    ['a shim with a variable of its own', `@SET NODE_ENV=production\r\n${npm()}`],
    ['a shim with a command more', `${npm()}del x\r\n`],
    ['calls of two scripts', yarn('..\\other\\bin.js')],
    ['a script that is no program', `${FIND}"%dp0%\\run.cmd" %*\r\n`],
    ['a variable in the path', `${FIND}"%dp0%\\%X%\\run.exe" %*\r\n`],
  ] as const) {
    it(`is unknown for ${what}`, () => assert.equal(shimTarget(SHIM, text), undefined));
  }
});

describe('programs on Windows', () => {
  afterEach(removeScratch);
  const args = ['a" & echo b', '100%'];
  const env = { PATH: '' };

  it('are started directly if they are .exe files', async () => {
    const plan = await planStart('C:\\x.exe', args, env, 'win32');
    assert.deepEqual(plan, { file: 'C:\\x.exe', args, env, windowsVerbatimArguments: false });
  });
  it('are started by cmd.exe if they are batch files, without searching the current folder', async () => {
    const plan = await planStart('C:\\no-such.bat', ['a b'], env, 'win32');
    assert.deepEqual(plan.args, ['/d', '/e:on', '/v:off', '/s', '/c', '"C:\\no-such.bat "a b""']);
    assert.equal(plan.windowsVerbatimArguments, true);
    assert.deepEqual(plan.env, { PATH: '', NoDefaultCurrentDirectoryInExePath: '1' });
    await assert.rejects(planStart('C:\\no-such.bat', args, env, 'win32'), { code: 'agent-spawn-failed' });
  });
  it('are run by the Node.js beside them if they are .js files', async () => {
    const folder = await scratchFolder();
    const node = await scratchFile(folder, 'node.exe', '');
    const script = join(folder, 'agent.js');
    const plan = await planStart(script, args, env, 'win32');
    assert.deepEqual(plan, { file: node, args: [script, ...args], env, windowsVerbatimArguments: false });
  });
  it('need Node.js on the PATH if none is beside them', async () => {
    await assert.rejects(planStart(join(await scratchFolder(), 'agent.mjs'), [], env, 'win32'), {
      code: 'agent-not-found',
    });
  });
  it('are read as shims up to 16 KB', async () => {
    const folder = await scratchFolder();
    await mkdir(join(folder, 'npm'));
    const shim = await scratchFile(join(folder, 'npm'), 'big.cmd', npm() + '\r\n'.repeat(9000));
    const plan = await planStart(shim, ['x'], env, 'win32');
    assert.equal(plan.windowsVerbatimArguments, true);
  });
});
