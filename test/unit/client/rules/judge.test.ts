// Requests of well-behaved and hostile agents, judged by rules over a real folder.
import { strict as assert } from 'node:assert';
import { mkdir, mkdtemp, realpath, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PermissionAsk } from '../../../../src/acp/protocol/dialect';
import { judge, type RuleSet } from '../../../../src/client/rules/judge';
import { type PermissionRule, readRules } from '../../../../src/client/rules/permissionRule';
import type { ToolPatch } from '../../../../src/session/events/event';
import { removeFolder } from '../../../support/scratch';

describe('permission rules', () => {
  let base: string;
  let root: string;

  before(async () => {
    base = await realpath(await mkdtemp(join(tmpdir(), 'parley-rules-')));
    root = join(base, 'project');
    for (const folder of ['src/deep', '.git/hooks', '.vscode', 'srcery'])
      await mkdir(join(root, folder), { recursive: true });
    await mkdir(join(base, 'outside'));
    await writeFile(join(base, 'outside', 'secret.ts'), '');
    await symlink(join(base, 'outside'), join(root, 'src', 'away'));
    await symlink(join(root, '.git'), join(root, 'src', 'git'));
    await symlink(join(base, 'outside', 'new.ts'), join(root, 'src', 'dangling.ts'));
    await symlink(join(root, 'srcery'), join(root, 'src', 'sibling'));
  });
  after(() => removeFolder(base));

  const options = [
    { optionId: 'always', name: 'Always', kind: 'allow_always' },
    { optionId: 'once', name: 'Once', kind: 'allow_once' },
  ];
  const ask = (patch: ToolPatch, more: Partial<PermissionAsk> = {}): PermissionAsk => ({
    toolCallId: 'c',
    title: 'npm test',
    description: 'npm test',
    options,
    patch: { title: 'npm test', name: 'npm test', ...patch },
    ...more,
  });
  const allowTests: PermissionRule = { kind: 'execute', pattern: 'npm test', action: 'allow' };
  const allowSources: PermissionRule = { kind: 'edit', pattern: 'src/**', action: 'allow' };
  const set = (...user: PermissionRule[]): RuleSet => ({ user, workspace: [], isTrusted: true });
  const judged = (asked: PermissionAsk, rules: RuleSet) =>
    judge(asked, rules, { cwd: root, roots: [root], agentId: 'ada' });
  const action = async (asked: PermissionAsk, rules: RuleSet): Promise<string> =>
    (await judged(asked, rules)).action ?? 'ask';
  const run = (rawInput: unknown, more: ToolPatch = {}): PermissionAsk => ask({ kind: 'execute', rawInput, ...more });
  const diff = (path: string, more: object = {}) => ({ type: 'diff', path, newText: 'x', ...more }) as const;
  const edit = (name: string, more: ToolPatch = {}): PermissionAsk => {
    const path = name.startsWith('/') ? name : `${root}/${name}`;
    return ask({ kind: 'edit', content: [diff(path)], locations: [{ path }], ...more });
  };

  it('allow the command that they name, in each agent’s format', async () => {
    const cases = [
      run({ command: 'npm test' }),
      run({ command: 'npm test', description: 'rm -rf /', timeout: 5 }, { locations: [{ path: '/etc/x' }] }),
      run({ command: ['npm', 'test'], cwd: root }),
      run(undefined, {}),
    ];
    assert.equal(await action(cases[3]!, set(allowTests)), 'ask');
    for (const one of cases.slice(0, 3)) assert.equal(await action(one, set(allowTests)), 'allow');
    const named = ask({ kind: 'execute' }, { command: { line: 'npm test', cwd: root } });
    assert.deepEqual(await judged(named, set(allowTests)), { action: 'allow', rule: 'execute: npm test' });
  });

  const lies: readonly (readonly [title: string, request: () => PermissionAsk])[] = [
    ['only its title is the command', () => run(undefined)],
    [
      'only its text is the command',
      () => run({}, { content: [{ type: 'content', block: { type: 'text', text: 'npm test' } }] }),
    ],
    ['its kind is another one', () => ask({ kind: 'read', rawInput: { command: 'npm test' } })],
    ['it has no kind', () => ask({ rawInput: { command: 'npm test' } })],
    ['it changes a file too', () => run({ command: 'npm test' }, { content: [diff(`${root}/src/a.ts`)] })],
    ['it sets an environment', () => run({ command: 'npm test', env: { PATH: '/tmp' } })],
    ['it has arguments beside its command', () => run({ command: 'npm test', args: ['x'] })],
    ['it runs elsewhere', () => run({ command: 'npm test', cwd: base })],
    ['it runs in a parent of the folder', () => run({ command: 'npm test', cwd: `${root}/..` })],
    ['it runs behind a link', () => run({ command: 'npm test', cwd: `${root}/src/away` })],
    ['it runs in a relative folder', () => run({ command: 'npm test', cwd: 'src' })],
    ['it names two folders', () => run({ command: 'npm test', cwd: root, workdir: `${root}/src` })],
    ['it is wrapped in a shell', () => run({ command: ['bash', '-lc', 'npm test'] })],
    ['one of its words holds two', () => run({ command: ['npm test'] })],
    ['one of its words holds another command', () => run({ command: ['npm', 'test', ';', 'id'] })],
    ['its input is no object', () => run('npm test')],
    ['its input is a list', () => run(['npm', 'test'])],
    ['its command is no text', () => run({ command: { toString: 1 } })],
    [
      'it is about no tool call',
      () => {
        const { toolCallId: _, ...one } = run({ command: 'npm test' });
        return one;
      },
    ],
    ['another command follows', () => run({ command: 'npm test && id' })],
  ];
  for (const [title, request] of lies) {
    it(`ask about a command if ${title}`, async () => {
      assert.equal(
        await action(request(), set(allowTests, { ...allowTests, kind: '*' }, { ...allowTests, kind: 'read' })),
        'ask',
      );
    });
  }

  it('allow edits of files in their folder', async () => {
    const path = `${root}/src/a.ts`;
    const requests = [
      edit('src/a.ts'),
      edit('src/deep/new/b.ts'),
      edit('src/a.ts', { rawInput: { file_path: path, old_string: 'a', new_string: '; rm', replace_all: false } }),
      edit('src/a.ts', { rawInput: { filepath: path, diff: `Index: ${path}\n--- ${path}\n+++ ${path}\n+x` } }),
      edit('src/a.ts', { rawInput: { call_id: 'c', changes: { [path]: { type: 'add', content: '' } } } }),
    ];
    for (const one of requests) assert.equal(await action(one, set(allowSources)), 'allow');
  });

  const escapes: readonly (readonly [title: string, request: () => PermissionAsk])[] = [
    ...[
      'README.md',
      'src',
      'srcery/a.ts',
      'Src/a.ts',
      'src/../README.md',
      'src/./a.ts',
      'src//a.ts',
      'src/../../outside/a.ts',
      'src/away/secret.ts',
      'src/away/new/x.ts',
      'src/dangling.ts',
      'src/git/config',
      'src/git/hooks/pre-commit',
      'src/sibling/a.ts',
      'src/.git/config',
      'src/.vscode/tasks.json',
      'src/a.ts\0.md',
      '.git/hooks/pre-commit',
      '.vscode/settings.json',
      '/etc/passwd',
      '/src/a.ts',
      '~/src/a.ts',
      'src/a.ts/',
    ].map((name) => [`it is about ${JSON.stringify(name)}`, () => edit(name)] as const),
    ['its path is relative', () => ask({ kind: 'edit', content: [diff('src/a.ts')] })],
    ['it shows no change', () => ask({ kind: 'edit', locations: [{ path: `${root}/src/a.ts` }] })],
    ['only its input names the file', () => ask({ kind: 'edit', rawInput: { file_path: `${root}/src/a.ts` } })],
    [
      'a second change is elsewhere',
      () => edit('src/a.ts', { content: [diff(`${root}/src/a.ts`), diff(`${root}/b.ts`)] }),
    ],
    ['a location is elsewhere', () => edit('src/a.ts', { locations: [{ path: '/etc/passwd' }] })],
    ['its input names another file', () => edit('src/a.ts', { rawInput: { file_path: '/etc/passwd' } })],
    ['its input has a command', () => edit('src/a.ts', { rawInput: { command: 'id' } })],
    ['it names a command', () => ({ ...edit('src/a.ts'), command: { line: 'id' } })],
    [
      'it shows a terminal',
      () => edit('src/a.ts', { content: [diff(`${root}/src/a.ts`), { type: 'terminal', terminalId: 't' }] }),
    ],
    [
      'it shows what is not known',
      () => edit('src/a.ts', { content: [diff(`${root}/src/a.ts`), { type: 'unknown', kind: 'x', raw: 1 }] }),
    ],
    ['it moves a file', () => edit('src/a.ts', { content: [diff(`${root}/src/a.ts`, { oldPath: `${root}/b.ts` })] })],
    ['it deletes a file', () => edit('src/a.ts', { content: [diff(`${root}/src/a.ts`, { operation: 'delete' })] })],
    [
      'it does something unknown',
      () => edit('src/a.ts', { content: [diff(`${root}/src/a.ts`, { operation: 'chmod' })] }),
    ],
    [
      'its patch names another file',
      () => edit('src/a.ts', { rawInput: { diff: `--- ${root}/src/a.ts\n+++ /etc/passwd\n` } }),
    ],
    ['its patch renames', () => edit('src/a.ts', { rawInput: { diff: 'rename to x\n' } })],
    ['its changes name another file', () => edit('src/a.ts', { rawInput: { changes: { '/etc/x': { type: 'add' } } } })],
    [
      'its changes move a file',
      () => edit('src/a.ts', { rawInput: { changes: { [`${root}/src/a.ts`]: { type: 'update', move_path: '/x' } } } }),
    ],
    [
      'its changes delete a file',
      () => edit('src/a.ts', { rawInput: { changes: { [`${root}/src/a.ts`]: { type: 'delete' } } } }),
    ],
    ['its input sets a mode', () => edit('src/a.ts', { rawInput: { file_path: `${root}/src/a.ts`, mode: '0777' } })],
    ['its kind is another one', () => edit('src/a.ts', { kind: 'read' })],
    ['its kind is unknown', () => edit('src/a.ts', { kind: 'other' })],
  ];
  for (const [title, request] of escapes) {
    it(`ask about an edit if ${title}`, async () => {
      assert.equal(await action(request(), set(allowSources, { ...allowSources, kind: '*' })), 'ask');
    });
  }

  it('neither allow nor offer anything in an untrusted workspace', async () => {
    const rules = { ...set(allowTests, allowSources), isTrusted: false };
    assert.deepEqual(await judged(run({ command: 'npm test' }), rules), {});
    assert.deepEqual(await judged(edit('src/a.ts'), rules), {});
  });

  it('only narrow if they come from a workspace', async () => {
    const asked = run({ command: 'npm test' });
    const rules = (user: PermissionRule[], ...workspace: PermissionRule[]) => ({
      ...set(...user),
      workspace: [workspace],
    });
    assert.equal(await action(asked, rules([], allowTests)), 'ask');
    assert.equal(await action(asked, rules([allowTests], { kind: '*', action: 'ask' })), 'ask');
    assert.equal(await action(asked, rules([allowTests], { kind: 'execute', action: 'reject' })), 'reject');
    assert.equal(await action(asked, rules([{ kind: '*', action: 'reject' }], { kind: '*', action: 'ask' })), 'reject');
    assert.equal(await action(asked, rules([allowTests], allowTests)), 'allow');
  });

  it('apply in order', async () => {
    const asked = run({ command: 'npm test' });
    assert.equal(await action(asked, set({ kind: 'execute', action: 'ask' }, allowTests)), 'ask');
    assert.equal(await action(asked, set(allowTests, { kind: 'execute', action: 'reject' })), 'allow');
  });

  it('apply only to their agent and folder', async () => {
    const asked = run({ command: 'npm test' });
    assert.equal(await action(asked, set({ ...allowTests, agent: 'bob' })), 'ask');
    assert.equal(await action(asked, set({ ...allowTests, agent: 'ada' })), 'allow');
    assert.equal(await action(asked, set({ ...allowTests, folder: base })), 'ask');
    assert.equal(await action(asked, set({ ...allowTests, folder: root })), 'allow');
    assert.equal(
      await action(run({ command: 'npm test', cwd: `${root}/src` }), set({ ...allowTests, folder: root })),
      'ask',
    );
    assert.equal(await action(edit('src/a.ts'), set({ ...allowSources, folder: join(root, 'src') })), 'ask');
  });

  it('allow nothing without a pattern, or for another kind', async () => {
    const rules = set(
      { kind: 'execute', action: 'allow' },
      { kind: '*', action: 'allow' },
      { kind: 'delete', pattern: '**', action: 'allow' },
    );
    assert.equal(await action(run({ command: 'npm test' }), rules), 'ask');
    assert.equal(await action(edit('src/a.ts'), rules), 'ask');
  });

  it('are offered as narrow as the request', async () => {
    const offer = async (asked: PermissionAsk) => (await judged(asked, set())) as { offer?: { pattern: string } };
    assert.deepEqual(await offer(run({ command: 'npm  test' })), {
      offer: { kind: 'execute', pattern: 'npm test', folder: root },
    });
    assert.equal((await offer(edit('src/deep/b.ts'))).offer?.pattern, 'src/deep/**');
    assert.equal((await offer(edit('README.md'))).offer?.pattern, 'README.md');
    const both = edit('src/a.ts', { content: [diff(`${root}/src/a.ts`), diff(`${root}/src/deep/b.ts`)] });
    assert.equal((await offer(both)).offer?.pattern, 'src/**');
    for (const one of [
      edit('src/away/secret.ts'),
      edit('.vscode/x'),
      edit('src/a*/b.ts'),
      run({ command: 'npm test; id' }),
    ])
      assert.deepEqual(await offer(one), {});
  });

  it('are read one by one, skipping invalid ones', () => {
    const rules = [
      allowTests,
      { kind: 'execute' },
      { ...allowTests, folder: 'src' },
      7,
      null,
      { kind: '*', action: 'allow!' },
    ];
    assert.deepEqual(readRules(rules), [{ rule: allowTests, index: 0 }]);
    assert.deepEqual(readRules({ 0: allowTests }), []);
  });
});
