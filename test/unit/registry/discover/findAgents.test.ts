// Agents on the PATH and their versions.
import assert from 'node:assert/strict';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { silentLog } from '../../../../src/base/log';
import {
  findAgents,
  KNOWN_AGENTS,
  type KnownAgent,
  readVersion,
  versionOf,
} from '../../../../src/registry/discover/findAgents';
import { removeScratch, scratchFile, scratchFolder } from '../../../support/scratch';

const GEMINI: KnownAgent = { id: 'gemini', name: 'Gemini', program: 'gemini', args: ['--acp'], answersVersion: true };

function env(...folders: string[]): Record<string, string> {
  return { PATH: [...folders, process.env.PATH ?? ''].join(delimiter) };
}

describe('findAgents', () => {
  afterEach(removeScratch);

  it('finds agents on the PATH in the order of the table, without starting any', async () => {
    const folder = await scratchFolder();
    const started = join(folder, 'started');
    for (const program of ['opencode', 'gemini', 'claude-agent-acp', 'claude-code-acp'])
      await scratchFile(folder, program, `#!/bin/sh\ntouch ${started}\n`);
    const found = await findAgents({ env: { PATH: folder }, except: [] });
    assert.deepEqual(
      found.map(({ id, program, path, command }) => [id, program, path, command]),
      [
        ['claude', 'claude-agent-acp', join(folder, 'claude-agent-acp'), 'claude-agent-acp'],
        ['gemini', 'gemini', join(folder, 'gemini'), 'gemini'],
        ['opencode', 'opencode', join(folder, 'opencode'), 'opencode'],
      ],
    );
    await assert.rejects(readFile(started));
  });

  it('has the ACP command of each program', async () => {
    const folder = await scratchFolder();
    const commands = [
      ...['grok agent stdio', 'cursor-agent acp', 'kiro-cli acp', 'junie --acp=true', 'omp acp', 'openclaw acp'],
      ...['mastracode --acp', 'codebuddy --acp', 'stakpak acp', 'kit acp', 'copilot-language-server --acp'],
    ];
    for (const command of commands) await scratchFile(folder, command.split(' ')[0]!, '');
    const found = await findAgents({ env: { PATH: folder }, except: [] });
    assert.deepEqual(found.map(({ program, args }) => [program, ...args].join(' ')).sort(), commands.sort());
  });

  it('finds a program that needs an adapter only without the adapter', async () => {
    const folder = await scratchFolder();
    const find = async () =>
      (await findAgents({ env: { PATH: folder }, except: [] })).map(({ program, adapters }) => [program, adapters]);
    await scratchFile(folder, 'claude', '');
    await scratchFile(folder, 'codex', '');
    assert.deepEqual(await find(), [
      ['claude', ['claude-acp', 'claude-code-acp']],
      ['codex', ['codex-acp']],
    ]);
    await scratchFile(folder, 'codex-acp', '');
    assert.deepEqual(await find(), [
      ['claude', ['claude-acp', 'claude-code-acp']],
      ['codex-acp', undefined],
    ]);
  });

  it('ignores programs of the workspace, and uses the full path of a later one', async () => {
    const [workspace, own] = [await scratchFolder(), await scratchFolder()];
    const bin = join(workspace, 'node_modules', '.bin');
    await mkdir(bin, { recursive: true });
    await scratchFile(bin, 'gemini', '');
    const PATH = [bin, own].join(delimiter);
    assert.deepEqual(await findAgents({ env: { PATH }, except: [workspace] }, [GEMINI]), []);
    const path = await scratchFile(own, 'gemini', '');
    assert.deepEqual(await findAgents({ env: { PATH }, except: [workspace] }, [GEMINI]), [
      { ...GEMINI, path, command: path },
    ]);
  });

  it('gives each agent one id that is a valid key of the setting', () => {
    for (const { id } of KNOWN_AGENTS) assert.match(id, /^[a-z][a-z0-9-]*$/);
  });
});

describe('versionOf', () => {
  afterEach(removeScratch);
  const ask = (path: string, place: string, answersVersion = true, limitMs = 10_000) =>
    versionOf({ path, answersVersion }, { env: env(place), log: silentLog, limitMs });

  it('reads the version of an npm package without starting it', async () => {
    const folder = await scratchFolder();
    const home = join(folder, 'lib', 'node_modules', '@google', 'gemini-cli');
    await mkdir(join(home, 'dist'), { recursive: true });
    await writeFile(join(home, 'package.json'), '{"name":"@google/gemini-cli","version":"0.61.0"}');
    const script = await scratchFile(join(home, 'dist'), 'index.js', `#!/bin/sh\ntouch ${join(folder, 'started')}\n`);
    await symlink(script, join(folder, 'gemini'));
    assert.equal(await ask(join(folder, 'gemini'), folder, false), '0.61.0');
    await assert.rejects(readFile(join(folder, 'started')));
  });

  it('starts other programs with --version alone', async () => {
    const folder = await scratchFolder();
    const path = await scratchFile(
      folder,
      'goose',
      '#!/bin/sh\n[ "$#" = 1 ] && [ "$1" = --version ] && echo " 1.9.3"\n',
    );
    assert.equal(await ask(path, folder), '1.9.3');
  });

  it('returns no version if the program hangs, and kills it with its children', async () => {
    const folder = await scratchFolder();
    const pidFile = join(folder, 'pid');
    const script = `#!/bin/sh\nsleep 600 & echo $! > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; wait\n`;
    const path = await scratchFile(folder, 'goose', script);
    assert.equal(await ask(path, folder, true, 1_000), undefined);
    const pid = Number(await readFile(pidFile, 'utf8'));
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ' Z ');
    assert.match(stat, / Z /);
  });

  it('does not start a program that would start serving', async () => {
    const folder = await scratchFolder();
    const path = await scratchFile(folder, 'codex-acp', `#!/bin/sh\ntouch ${join(folder, 'started')}; echo 1.2.3\n`);
    assert.equal(await ask(path, folder, false), undefined);
    await assert.rejects(readFile(join(folder, 'started')));
  });

  it('ignores output that is not a version', async () => {
    const folder = await scratchFolder();
    const path = await scratchFile(folder, 'qwen', '#!/bin/sh\necho unknown option >&2\nexit 2\n');
    assert.equal(await ask(path, folder), undefined);
    assert.equal(readVersion('copilot v1.0.102-beta.1 (linux)'), '1.0.102-beta.1');
    assert.equal(readVersion('none'), undefined);
  });
});
