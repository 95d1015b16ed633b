// Which program a command resolves to.
import assert from 'node:assert/strict';
import { mkdir, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { isOutsideWsl, resolveCommand } from '../../../src/agents/resolveCommand';
import { removeScratch, scratchFile, scratchFolder } from '../../support/scratch';

describe('resolveCommand', () => {
  afterEach(removeScratch);

  it('finds a command on PATH in order, and skips files that are not executable', async () => {
    const [first, second, third] = [await scratchFolder(), await scratchFolder(), await scratchFolder()];
    await scratchFile(first, 'agent', '', 0o644);
    await mkdir(join(second, 'agent'));
    const path = await scratchFile(third, 'agent', '');
    const env = { PATH: [first, second, third].join(delimiter) };
    assert.equal(await resolveCommand('agent', { cwd: '/', env }), path);
  });

  it('accepts paths: absolute, relative to the folder, from the home folder, through links, with spaces', async () => {
    const folder = await scratchFolder();
    const path = await scratchFile(folder, 'my agent', '');
    await symlink(path, join(folder, 'link'));
    const options = { cwd: folder, env: { PATH: '' } };
    assert.equal(await resolveCommand(path, options), path);
    assert.equal(await resolveCommand('./my agent', options), path);
    assert.equal(await resolveCommand('./link', options), join(folder, 'link'));
    await assert.rejects(resolveCommand('~/no-such-agent', options), {
      message: new RegExp(join(homedir(), 'no-such-agent')),
    });
  });

  it('never resolves a name to a program in the opened folder', async () => {
    const folder = await scratchFolder();
    await scratchFile(folder, 'agent', '');
    const env = { PATH: ['', '.', 'bin', './'].join(delimiter) };
    await assert.rejects(resolveCommand('agent', { cwd: folder, env }), { code: 'agent-not-found' });
  });

  it('reports the folders searched for a missing command, and where to get known ones', async () => {
    const folder = await scratchFolder();
    await assert.rejects(resolveCommand('npx', { cwd: '/', env: { PATH: folder } }), {
      code: 'agent-not-found',
      message: `The command "npx" was not found: searched in ${folder}.`,
      hint: /Install Node\.js/,
    });
    await assert.rejects(resolveCommand('agent', { cwd: '/', env: {} }), {
      code: 'agent-not-found',
      message: /PATH is empty/,
    });
    const many = Array.from({ length: 20 }, (_, n) => `/none/${n}`).join(delimiter);
    await assert.rejects(resolveCommand('agent', { cwd: '/', env: { PATH: many } }), { message: /and 8 more/ });
  });

  it('skips Windows programs on the PATH of WSL', () => {
    const isForeign = (path: string, distribution?: string): boolean =>
      isOutsideWsl(path, distribution === undefined ? {} : { WSL_DISTRO_NAME: distribution });
    assert.ok(isForeign('/mnt/c/Users/me/AppData/Roaming/npm/gemini', 'Ubuntu'));
    assert.ok(!isForeign('/home/me/.local/bin/gemini', 'Ubuntu'));
    assert.ok(!isForeign('/mnt/data/bin/gemini', 'Ubuntu'));
    assert.ok(!isForeign('/mnt/c/bin/gemini'));
  });

  it('reports why a file cannot run', async () => {
    const folder = await scratchFolder();
    await scratchFile(folder, 'agent', '', 0o644);
    const options = { cwd: folder, env: { PATH: folder } };
    await assert.rejects(resolveCommand('agent', options), {
      code: 'agent-not-executable',
      message: /it isn't executable/,
    });
    await assert.rejects(resolveCommand(folder, options), { code: 'agent-not-executable', message: /is a folder/ });
  });
});
