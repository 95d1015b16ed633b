// What an agent may read and write, and what it is answered.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, posix, win32 } from 'node:path';
import { RpcError } from '../../../../src/acp/jsonrpc/rpcError';
import { missingFileReadsEmpty } from '../../../../src/acp/quirks/gemini';
import { Deferred } from '../../../../src/base/deferred';
import { ParleyError } from '../../../../src/base/errors';
import type { FilePort } from '../../../../src/client/ports/ports';
import { ACCESS_REFUSED, AgentFiles } from '../../../../src/client/requests/agentFiles';
import type { AskFile } from '../../../../src/client/requests/fileQuestions';
import { isBelow, isForeignShare } from '../../../../src/client/requests/roots';

const never = new AbortController().signal;

/** Files on disk, and a user with fixed answers. */
class DiskPort implements FilePort {
  readonly questions: string[] = [];
  answer: (signal: AbortSignal) => boolean | Promise<boolean> = () => false;
  gate: Promise<void> = Promise.resolve();

  async readText(path: string): Promise<string> {
    await this.gate;
    return readFile(path, 'utf8').catch((cause: unknown) => {
      throw new ParleyError('file-not-found', `${path} is not there`, { cause });
    });
  }

  async writeText(path: string, text: string): Promise<void> {
    await this.gate;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }

  readonly ask: AskFile = async ({ agentName, access, path, reason }, signal) => {
    this.questions.push(`${agentName} ${access} ${path}${reason === 'protected' ? ' (protected)' : ''}`);
    return this.answer(signal);
  };
}

function isRpcError(code: number, text: RegExp, data?: unknown): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof RpcError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, text);
    if (data !== undefined) assert.deepEqual(error.data, data);
    return true;
  };
}

const beforeWrite = async (): Promise<void> => undefined;

describe('AgentFiles', () => {
  let folder: string;
  let root: string;
  let outside: string;
  let port: DiskPort;
  let files: AgentFiles;

  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'parley-files-')));
    root = join(folder, 'project');
    outside = join(folder, 'project-secrets');
    await mkdir(root);
    await mkdir(outside);
    await writeFile(join(root, 'seed.txt'), 'alpha\nbeta\ngamma\n');
    await writeFile(join(outside, 'key'), 'secret');
    port = new DiskPort();
    files = new AgentFiles(port, { agentName: 'Ada' });
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  const read = (path: string, more: object = {}) =>
    files.read({ sessionId: 's', path, ...more }, [root], port.ask, never);
  const write = (path: string, content: string) =>
    files.write({ sessionId: 's', path, content }, [root], { ask: port.ask, beforeWrite }, never);

  it('reads whole files, and ranges of lines counted from 1', async () => {
    const path = join(root, 'seed.txt');
    assert.deepEqual(await read(path), { content: 'alpha\nbeta\ngamma\n' });
    assert.deepEqual(await read(path, { line: 2, limit: 1 }), { content: 'beta\n' });
    assert.deepEqual(await read(path, { line: 0, limit: 1 }), { content: 'alpha\n' });
    assert.deepEqual(await read(path, { line: null, limit: null }), { content: 'alpha\nbeta\ngamma\n' });
    assert.deepEqual(port.questions, []);
  });

  it('creates files and folders inside the project without asking', async () => {
    assert.deepEqual(await write(join(root, 'new', 'deep', 'file.txt'), 'text'), {});
    assert.equal(await readFile(join(root, 'new/deep/file.txt'), 'utf8'), 'text');
    assert.deepEqual(port.questions, []);
  });

  it('names the file that is missing', async () => {
    const path = join(root, 'missing');
    await assert.rejects(read(path), isRpcError(-32002, /no file/, { path }));
  });

  it('reports a missing file as empty to Gemini only', async () => {
    const answer = (name: string) => ({ protocolVersion: 1, agentInfo: { name, title: 'x', version: '0' } });
    assert.equal(missingFileReadsEmpty(answer('gemini-cli')), true);
    assert.equal(missingFileReadsEmpty(answer('OpenCode')), false);
    for (const odd of [{}, null, 'gemini-cli', { agentInfo: null }]) assert.equal(missingFileReadsEmpty(odd), false);
    files = new AgentFiles(port, { agentName: 'Gemini', missingFileReadsEmpty: true });
    assert.deepEqual(await read(join(root, 'missing')), { content: '' });
    port.answer = () => true;
    await assert.rejects(read(join(outside, 'missing')), isRpcError(-32002, /no file/));
  });

  it('rejects invalid requests with a sentence', async () => {
    await assert.rejects(read('relative.txt'), isRpcError(-32602, /absolute/));
    await assert.rejects(read('~/file'), isRpcError(-32602, /absolute/));
    await assert.rejects(read(join(root, 'a\0b')), isRpcError(-32602, /zero/));
    await assert.rejects(read(join(root, 'seed.txt'), { line: 1.5 }), isRpcError(-32602, /line/));
    await assert.rejects(read(join(root, 'seed.txt'), { limit: -1 }), isRpcError(-32602, /limit/));
    await assert.rejects(
      files.write({ path: join(root, 'x') }, [root], { ask: port.ask, beforeWrite }, never),
      isRpcError(-32602, /content/),
    );
    await assert.rejects(files.read(null, [root], port.ask, never), isRpcError(-32602, /read_text_file/));
    await assert.rejects(read(join(root, 'seed.txt', 'below')), isRpcError(-32603, /not a folder/));
  });

  describe('outside the project', () => {
    it('asks with the resolved path, and refuses with a sentence', async () => {
      const path = join(outside, 'key');
      await assert.rejects(read(path), isRpcError(ACCESS_REFUSED, /did not allow to read/, { path }));
      await assert.rejects(write(path, 'gone'), isRpcError(ACCESS_REFUSED, /did not allow to write/));
      assert.equal(await readFile(path, 'utf8'), 'secret');
      assert.deepEqual(port.questions, [`Ada read ${path}`, `Ada write ${path}`]);
    });

    it('asks about a path with “..”, and about a sibling whose name has the same prefix', async () => {
      await assert.rejects(read(`${root}/../project-secrets/key`), isRpcError(ACCESS_REFUSED, /key/));
      await assert.rejects(read(`${root}-secrets/key`), isRpcError(ACCESS_REFUSED, /key/));
      assert.deepEqual(await read(`${root}/sub/../seed.txt`, { limit: 1 }), { content: 'alpha\n' });
    });

    it('asks if a link leads out of the project: to a file, a folder or nothing yet', async () => {
      await symlink(join(outside, 'key'), join(root, 'link'));
      await symlink(outside, join(root, 'folder'));
      await symlink('../project-secrets/new', join(root, 'dangling'));
      await symlink('dangling', join(root, 'chain'));
      await assert.rejects(read(join(root, 'link')), isRpcError(ACCESS_REFUSED, /link/));
      await assert.rejects(write(join(root, 'folder/sub/x'), 'x'), isRpcError(ACCESS_REFUSED, /sub/));
      await assert.rejects(write(join(root, 'dangling'), 'x'), isRpcError(ACCESS_REFUSED, /dangling/));
      await assert.rejects(write(join(root, 'chain'), 'x'), isRpcError(ACCESS_REFUSED, /chain/));
      assert.deepEqual(port.questions, [
        `Ada read ${outside}/key`,
        `Ada write ${outside}/sub/x`,
        `Ada write ${outside}/new`,
        `Ada write ${outside}/new`,
      ]);
    });

    it('does not ask if the project itself is a link, or a link stays inside', async () => {
      await symlink(root, join(folder, 'alias'));
      await symlink('seed.txt', join(root, 'inside'));
      const ask = (path: string, roots: string[]) => files.read({ sessionId: 's', path }, roots, port.ask, never);
      await ask(join(folder, 'alias/seed.txt'), [root]);
      await ask(join(root, 'seed.txt'), [join(folder, 'alias')]);
      await ask(join(root, 'inside'), [root]);
      await ask(join(root, 'seed.txt'), [join(folder, 'nowhere'), root]);
      assert.deepEqual(port.questions, []);
      await assert.rejects(ask(join(root, 'seed.txt'), []), isRpcError(ACCESS_REFUSED, /seed/));
    });

    it('reports a circle of links instead of hanging', async () => {
      await symlink('b', join(root, 'a'));
      await symlink('a', join(root, 'b'));
      await assert.rejects(read(join(root, 'a')), isRpcError(-32603, /circle/));
    });

    it('asks once per session for reading a file, and each time for writing it', async () => {
      port.answer = () => true;
      const path = join(outside, 'key');
      assert.deepEqual(await read(path), { content: 'secret' });
      await read(path);
      await write(path, 'new');
      await write(path, 'newer');
      await files.read({ sessionId: 'other', path }, [root], port.ask, never);
      assert.deepEqual(
        port.questions.map((question) => question.split(' ')[1]),
        ['read', 'write', 'write', 'read'],
      );
    });

    it('touches nothing if the agent withdraws its request while the question is open', async () => {
      const abort = new AbortController();
      const asked = new Deferred<void>();
      port.answer = (signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve(true));
          asked.resolve();
        });
      const writing = files.write(
        { path: join(outside, 'key'), content: 'x' },
        [root],
        { ask: port.ask, beforeWrite },
        abort.signal,
      );
      await asked.promise;
      abort.abort();
      await assert.rejects(writing, isRpcError(-32800, /cancelled/));
      assert.equal(await readFile(join(outside, 'key'), 'utf8'), 'secret');
    });

    it('follows the rules of Windows: drives, case, both slashes', () => {
      const below = (root: string, path: string) => isBelow(root, path, win32);
      assert.equal(below('C:\\Project', 'c:\\project\\Src\\a.ts'), true);
      assert.equal(below('C:\\Project', 'C:/Project/a.ts'), true);
      assert.equal(below('C:\\', 'C:\\x'), true);
      assert.equal(below('C:\\Project', 'D:\\Project\\a.ts'), false);
      assert.equal(below('C:\\Project', 'C:\\Project2\\a.ts'), false);
      assert.equal(below('C:\\Project', '\\\\server\\share\\a.ts'), false);
      assert.equal(below('/a', '/a/..b'), true);
    });

    it('never accesses a Windows network share that contains none of the folders', () => {
      const foreign = (path: string) => isForeignShare(path, ['C:\\Project', '\\\\home\\me\\Project'], win32);
      assert.equal(foreign('\\\\attacker\\share\\a.ts'), true);
      assert.equal(foreign('\\\\home\\other\\a.ts'), true);
      assert.equal(foreign('\\\\HOME\\me\\project\\a.ts'), false);
      assert.equal(foreign('D:\\a.ts'), false);
      assert.equal(isForeignShare('//a/b', ['/c'], posix), false);
    });
  });

  describe('files that start programs', () => {
    const protectedFiles = [
      '.vscode/settings.json',
      '.vscode/new/deep/tasks.json',
      '.VSCODE/Tasks.JSON',
      '.git/hooks/pre-commit',
      '.git//hooks/./pre-commit',
      '.vscode/../.vscode/mcp.json',
      'sub/.Git/config',
      '.git./config',
      '.git /config',
      '.git::$INDEX_ALLOCATION/config',
      '.git:x',
      'GIT~1/config',
      '.g\u200cit/config',
      '.\u2024git/../.git/config',
      '.ｖscode/settings.json',
      '.vs\ufeffcode/settings.json',
      '.vscode\\settings.json',
      'team.code-workspace',
      'TEAM.Code-Workspace.',
      'sub/.mcp.json',
      '.devcontainer.json',
      '.claude/settings.local.json',
    ];
    for (const name of protectedFiles) {
      it(`need permission: ${JSON.stringify(name)}`, async () => {
        await assert.rejects(write(`${root}/${name}`, 'x'), isRpcError(ACCESS_REFUSED, /can start programs/));
        assert.equal(port.questions.length, 1);
        assert.match(port.questions[0] ?? '', /\(protected\)$/);
      });
    }

    it('need permission each time, and are written if allowed', async () => {
      port.answer = () => true;
      await write(join(root, '.vscode/settings.json'), '{}');
      await write(join(root, '.vscode/settings.json'), '{"a":1}');
      assert.equal(await readFile(join(root, '.vscode/settings.json'), 'utf8'), '{"a":1}');
      assert.equal(port.questions.length, 2);
      assert.deepEqual(await read(join(root, '.vscode/settings.json')), { content: '{"a":1}' });
      assert.equal(port.questions.length, 2);
    });

    it('need permission if a link leads to them or from them', async () => {
      await mkdir(join(root, '.vscode'));
      await mkdir(join(root, 'config'));
      await mkdir(join(root, 'hooks'));
      await mkdir(join(root, '.git'));
      await writeFile(join(root, 'conf.json'), '{}');
      await symlink('.vscode', join(root, 'innocent'));
      await symlink('../config', join(root, '.git/hooks'));
      await symlink('../conf.json', join(root, '.vscode/settings.json'));
      await symlink('config', join(root, '.idea'));
      await mkdir(join(root, 'sub/.husky'), { recursive: true });
      await mkdir(join(root, 'sub/plain'));
      await symlink('sub/.husky', join(root, 'there'));
      await symlink('plain', join(root, 'sub/.githooks'));
      const names = ['innocent/tasks.json', 'config/pre-commit', 'conf.json', '.idea/x', 'config/../config/y'];
      for (const name of [...names, 'there/pre-commit', 'sub/.githooks/pre-commit'])
        await assert.rejects(write(join(root, name), 'x'), isRpcError(ACCESS_REFUSED, /can start programs/), name);
      assert.deepEqual(await write(join(root, 'hooks/use.ts'), 'x'), {});
    });

    it('don’t include a worktree in an agent’s folder', async () => {
      root = join(folder, '.claude/worktrees/x');
      await mkdir(root, { recursive: true });
      await write(join(root, 'tsconfig.json'), '{}');
      assert.deepEqual(port.questions, []);
    });

    it('are refused if no user can be asked', async () => {
      files = new AgentFiles(port, { agentName: 'Ada', refusesQuestions: true });
      port.answer = () => true;
      await assert.rejects(write(join(root, '.vscode/x'), 'x'), isRpcError(ACCESS_REFUSED, /start programs/));
      await assert.rejects(read(join(outside, 'key')), isRpcError(ACCESS_REFUSED, /outside/));
      assert.deepEqual(port.questions, []);
    });
  });

  it('keeps the last of two writes, and reads what was written before', async () => {
    const path = join(root, 'twice');
    const gate = new Deferred<void>();
    port.gate = gate.promise;
    const first = write(path, 'first');
    const second = write(path, 'second');
    const reading = read(path);
    const third = write(path, 'third');
    gate.resolve();
    await Promise.all([first, second]);
    assert.deepEqual(await reading, { content: 'second' });
    await third;
    assert.equal(await readFile(path, 'utf8'), 'third');
  });

  it('passes on the editor’s sentence if a file cannot be written', async () => {
    port.writeText = () => Promise.reject(new ParleyError('file-read-only', 'seed.txt is read-only.'));
    const path = join(root, 'seed.txt');
    await assert.rejects(
      write(path, 'x'),
      isRpcError(-32603, /seed.txt is read-only/, { path, code: 'file-read-only' }),
    );
  });
});
