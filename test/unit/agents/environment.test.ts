// The environment of agents: the user's PATH, without VS Code's internal variables.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  agentEnvironment,
  lastShellAnswer,
  loginShellPath,
  mergePaths,
  shellArguments,
  usersEnvironment,
  withVariables,
} from '../../../src/agents/agentEnvironment';
import { silentLog } from '../../../src/base/log';
import { removeScratch, scratchFile, scratchFolder } from '../../support/scratch';

describe('agentEnvironment', () => {
  it('drops variables that would make an agent act as part of VS Code, and keeps the rest', () => {
    const env = {
      HOME: '/home/me',
      PATH: '/usr/bin',
      ELECTRON_RUN_AS_NODE: '1',
      VSCODE_IPC_HOOK: '/run/x',
      VSCODE_NODE_OPTIONS: '--use-system-ca',
      NODE_OPTIONS: '--inspect=9229',
      GONE: undefined,
    };
    assert.deepEqual(agentEnvironment(env, '/home/me/.nvm/bin:/usr/bin'), {
      HOME: '/home/me',
      PATH: '/home/me/.nvm/bin:/usr/bin',
      NODE_OPTIONS: '--use-system-ca',
    });
  });

  it("keeps the user's NODE_OPTIONS, not those of a debugger", () => {
    const own = '--max-old-space-size=4096';
    assert.equal(agentEnvironment({ NODE_OPTIONS: own }, undefined).NODE_OPTIONS, own);
    const debuggers = '--require /x/ms-vscode.js-debug/bootloader.js';
    assert.equal(agentEnvironment({ NODE_OPTIONS: debuggers }, undefined).NODE_OPTIONS, undefined);
  });

  it('sets a UTF-8 locale for an app that macOS started without one', () => {
    assert.equal(agentEnvironment({ HOME: '/me' }, undefined, 'darwin').LANG, 'en_US.UTF-8');
    assert.equal(agentEnvironment({ LANG: '' }, undefined, 'darwin').LANG, 'en_US.UTF-8');
    assert.equal(agentEnvironment({ LC_ALL: 'de_DE.UTF-8' }, undefined, 'darwin').LANG, undefined);
    assert.equal(agentEnvironment({ HOME: '/me' }, undefined, 'linux').LANG, undefined);
  });

  describe('in a package that brings its own libraries', () => {
    const snap = {
      SNAP: '/snap/code/123',
      SNAP_NAME: 'code',
      HOME: '/home/me',
      PATH: '/snap/code/123/usr/bin:/usr/bin:/snap/bin',
      LD_LIBRARY_PATH: '/snap/code/123/usr/lib:/snap/code/123/lib',
      GTK_PATH: '/snap/code/123/usr/lib/gtk-3.0',
      GTK_PATH_VSCODE_SNAP_ORIG: '',
      XDG_DATA_DIRS: '/snap/code/123/usr/share:/usr/share',
      XDG_DATA_DIRS_VSCODE_SNAP_ORIG: '/usr/local/share:/usr/share',
      LOCPATH: 'of the snap',
      LOCPATH_VSCODE_SNAP_ORIG: '',
    };

    it('restores variables that the snap launcher replaced, and drops paths into the snap', () => {
      assert.deepEqual(usersEnvironment(snap, '/snap/code/123/usr/share/code/code'), {
        HOME: '/home/me',
        PATH: '/usr/bin:/snap/bin',
        XDG_DATA_DIRS: '/usr/local/share:/usr/share',
      });
    });

    it('drops paths into an AppImage', () => {
      const env = {
        APPDIR: '/tmp/.mount_cursor',
        APPIMAGE: '/home/me/cursor.AppImage',
        PATH: '/tmp/.mount_cursor/usr/bin:/usr/bin',
        LD_LIBRARY_PATH: '/tmp/.mount_cursor/usr/lib:/opt/own',
        PERLLIB: '/tmp/.mount_cursor/usr/share/perl5:',
        ARGV0: 'cursor',
      };
      assert.deepEqual(usersEnvironment(env, '/tmp/.mount_cursor/usr/share/cursor/cursor'), {
        PATH: '/usr/bin',
        LD_LIBRARY_PATH: '/opt/own',
        ARGV0: 'cursor',
      });
    });

    it('keeps the variables of another package, from which VS Code was started', () => {
      assert.deepEqual(usersEnvironment(snap, '/usr/share/code/code'), snap);
    });
  });

  it('merges search paths without duplicates and empty folders', () => {
    assert.equal(mergePaths('/a:/b', '/b::/c:/a'), '/a:/b:/c');
    assert.equal(mergePaths(undefined, '/a'), '/a');
    assert.equal(mergePaths(undefined, undefined), '');
  });
});

describe('withVariables', () => {
  it("overrides the user's variables with the agent's", () => {
    assert.deepEqual(withVariables({ HOME: '/me', PATH: '/bin' }, { HOME: '/else', KEY: 'x' }, 'linux'), {
      HOME: '/else',
      PATH: '/bin',
      KEY: 'x',
    });
  });

  it('keeps one spelling of a name on Windows, and two elsewhere', () => {
    const own = { PATH: 'C:\\Agent' };
    assert.deepEqual(withVariables({ Path: 'C:\\Windows' }, own, 'win32'), { PATH: 'C:\\Agent' });
    assert.deepEqual(withVariables({ Path: '/a' }, { PATH: '/b' }, 'linux'), { Path: '/a', PATH: '/b' });
  });
});

describe('loginShellPath', () => {
  afterEach(removeScratch);

  /** A shell that runs this text; `"$4"` is the command that it gets. */
  const shell = async (text: string): Promise<string> =>
    scratchFile(await scratchFolder(), 'shell', `#!/bin/sh\n${text}\n`);
  const env = { PATH: '/usr/bin:/bin', HOME: '/nowhere' };

  it('finds what a profile adds, whatever the profile prints', async () => {
    const noisy = await shell(
      'echo Welcome; echo PATH=/wrong; export PATH="/opt/my tools:$PATH"; sh -c "$4"; echo bye',
    );
    assert.equal(await loginShellPath({ log: silentLog, env, shell: noisy }), '/opt/my tools:/usr/bin:/bin');
    const { ms = -1, ...answer } = lastShellAnswer() ?? {};
    assert.deepEqual(answer, { shell: noisy, path: '/opt/my tools:/usr/bin:/bin' });
    assert.ok(ms > 0);
  });

  it('asks real shells', async () => {
    const others = ['/usr/bin/zsh', '/usr/bin/fish', '/usr/bin/tcsh'].filter((other) => existsSync(other));
    for (const real of ['/bin/sh', '/bin/bash', ...others]) {
      const path = await loginShellPath({ log: silentLog, env, shell: real });
      assert.match(path ?? '', /\/bin/, real);
    }
  });

  it('calls one program in nushell, which prints only the last of several commands, and in PowerShell', () => {
    const program = "/bin/sh -c 'echo m; /usr/bin/env; echo m'";
    assert.deepEqual(shellArguments('/usr/bin/nu', 'm'), ['-i', '-l', '-c', `^${program}`]);
    assert.deepEqual(shellArguments('/opt/pwsh', 'm'), ['-Login', '-Command', program]);
    assert.deepEqual(shellArguments('/bin/zsh', 'm'), ['-i', '-l', '-c', program]);
  });

  it('does not let a profile wait for a person', async () => {
    const asking = await shell('read -r answer; export PATH="/answered:$PATH"; sh -c "$4"');
    assert.equal(await loginShellPath({ log: silentLog, env, shell: asking }), '/answered:/usr/bin:/bin');
  });

  it('does not wait for processes that a profile leaves running', async () => {
    const lingering = await shell('sleep 600 & sh -c "$4"; wait');
    assert.equal(await loginShellPath({ log: silentLog, env, shell: lingering }), '/usr/bin:/bin');
  });

  it('gives up on a shell that hangs, fails or does not exist, and says so', async () => {
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (message: string) => warnings.push(message) };
    const hanging = await shell('sleep 600');
    const failing = await shell('exit 1');
    assert.equal(await loginShellPath({ log, env, shell: hanging, deadlineMs: 100, limitMs: 100 }), undefined);
    assert.equal(await loginShellPath({ log, env, shell: failing }), undefined);
    assert.equal(await loginShellPath({ log, env, shell: '/no/such/shell' }), undefined);
    assert.ok(warnings.length >= 3);
    assert.equal(lastShellAnswer()?.shell, '/no/such/shell');
    assert.match(lastShellAnswer()?.problem ?? '', /ENOENT/);
  });

  it('asks a failed shell again, and a successful one only once', async () => {
    const folder = await scratchFolder();
    const broken = join(folder, 'broken');
    const count = join(folder, 'count');
    await writeFile(broken, '');
    const shellFile = await shell(`echo >> '${count}'; [ -e '${broken}' ] && exit 1; sh -c "$4"`);
    const ask = (): Promise<string | undefined> => loginShellPath({ log: silentLog, env, shell: shellFile });
    assert.equal(await ask(), undefined);
    await rm(broken);
    assert.equal(await ask(), '/usr/bin:/bin');
    assert.equal(await ask(), '/usr/bin:/bin');
    assert.equal(await readFile(count, 'utf8'), '\n\n');
  });

  it('joins the pending run of a slow shell', async () => {
    const folder = await scratchFolder();
    const [fifo, count] = [join(folder, 'go'), join(folder, 'count')];
    execFileSync('mkfifo', [fifo]);
    const late = await shell(`echo >> '${count}'; read -r word < '${fifo}'; sh -c "$4"`);
    const ask = (deadlineMs: number): Promise<string | undefined> =>
      loginShellPath({ log: silentLog, env, shell: late, deadlineMs });
    assert.equal(await ask(1), undefined);
    // The slow run continues: the next call joins it and starts no other.
    const again = ask(60_000);
    await writeFile(fifo, 'go\n');
    assert.equal(await again, '/usr/bin:/bin');
    assert.equal(await readFile(count, 'utf8'), '\n');
  });
});
