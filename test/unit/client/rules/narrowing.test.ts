// Rules that ask or reject: paths with links and other spellings, and random command lines.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PermissionAsk } from '../../../../src/acp/protocol/dialect';
import { CouldRun } from '../../../../src/client/rules/couldRun';
import { judge } from '../../../../src/client/rules/judge';
import type { PermissionRule } from '../../../../src/client/rules/permissionRule';
import { matchesWords, plainWords } from '../../../../src/client/rules/runners';
import { seeded } from '../../../support/store/random';
import { seeds } from '../../../support/tier';

describe('a rule that rejects', () => {
  let base: string;
  let root: string;

  before(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), 'parley-narrow-')));
    root = join(base, 'project');
    for (const folder of ['secrets/deep', 'src', 'vault']) mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, 'secrets/key'), 'x');
    symlinkSync('../secrets', join(root, 'src/innocent'));
    symlinkSync('../secrets/key', join(root, 'src/key.txt'));
    symlinkSync('../secrets/new', join(root, 'src/dangling'));
    symlinkSync('vault', join(root, 'named'));
    symlinkSync('loop', join(root, 'src/loop'));
  });
  after(() => rmSync(base, { recursive: true, force: true }));

  const options = [{ optionId: 'once', name: 'Once', kind: 'allow_once' }];
  const action = async (patch: PermissionAsk['patch'], ...user: PermissionRule[]): Promise<string> => {
    const asked = { toolCallId: 'c', title: 'x', options, ...(patch && { patch }) };
    const rules = { user, workspace: [], isTrusted: true };
    return (await judge(asked, rules, { cwd: root, roots: [root], agentId: 'ada' })).action ?? 'ask';
  };
  const edit = (path: string) => {
    const whole = path.startsWith('/') || path.startsWith('file:') ? path : `${root}/${path}`;
    return { kind: 'edit', content: [{ type: 'diff', path: whole, newText: 'x' }] } as const;
  };
  const all: PermissionRule = { kind: 'edit', pattern: '**', action: 'allow' };
  const no = (pattern: string, kind = 'edit'): PermissionRule => ({ kind, pattern, action: 'reject' });

  it('matches a file behind links, in other cases and spellings', async () => {
    for (const path of [
      'secrets/key',
      'secrets/deep/new',
      'src/innocent/key',
      'src/innocent/deep/new',
      'src/key.txt',
      'src/dangling',
      'SECRETS/key',
      'src/../secrets/key',
      'secrets./key',
      'secrets//key',
      'secr\u200bets/key',
      'secrets\\key',
    ])
      assert.equal(await action(edit(path), no('secrets/**'), all), 'reject', path);
    assert.equal(await action(edit(`file://${root}/secrets/key`), no('secrets/**'), all), 'reject');
    assert.equal(await action(edit('src/a.ts'), no('secrets/**'), all), 'allow');
    assert.equal(await action(edit('vault/x'), no('Secrets/**'), all), 'allow');
  });

  it('matches the target of links in its own pattern', async () => {
    assert.equal(await action(edit('vault/x'), no('named/**'), all), 'reject');
    assert.equal(await action(edit('vault/x'), no('named/x'), all), 'reject');
    assert.equal(await action(edit('secrets/key'), no('src/key.txt'), all), 'reject');
    assert.equal(await action(edit('vault/x'), no(`${root}/named/*`), all), 'reject');
    assert.equal(await action(edit('vault/x'), { ...no('named/**'), folder: root }, all), 'reject');
  });

  it('matches a path that cannot be looked up', async () => {
    assert.equal(await action(edit('src/loop/x'), no('secrets/**'), all), 'reject');
    assert.equal(await action(edit(`src/${'x'.repeat(300)}`), no('secrets/**'), all), 'ask');
  });

  it('finds commands and paths whatever the field names and the kind', async () => {
    const push = no('git push*', 'execute');
    for (const rawInput of [
      { cmd: 'git  push' },
      { commands: ['ls', 'git push'] },
      { shell: { commandLine: 'git push' } },
      { command: ['git', 'push'] },
      { argv: ['sh', '-c', 'git push'] },
      { program: 'git', args: ['push'] },
      { bash: 'git push' },
      { tool: 'run', arguments: '{"command":"git push"}' },
      '{"command":"git push"}',
    ])
      assert.equal(await action({ kind: 'execute', rawInput }, push), 'reject', JSON.stringify(rawInput));
    assert.equal(await action({ rawInput: { command: 'git push' } }, push), 'reject');
    assert.equal(await action({ kind: 'execute', title: 'Run `git push`' }, push), 'reject');
    const secret = no('secrets/**');
    for (const rawInput of [{ target_file: 'secrets/key' }, { edits: [{ uri: `file://${root}/secrets/key` }] }])
      assert.equal(await action({ kind: 'other', rawInput }, secret), 'reject', JSON.stringify(rawInput));
    for (const rawInput of [
      { input: '*** Begin Patch\n*** Update File: secrets/key\n+x\n*** End Patch' },
      { patch: '--- a/secrets/key\n+++ b/secrets/key\n@@ -1 +1 @@\n-x\n+y\n' },
      { patch: 'rename from src/a\nrename to secrets/key\n' },
      { file_path: 'file:secrets/key', uri: `file:${root}/secrets/key#L3` },
      JSON.stringify({ path: 'secrets/key' }),
      { input: JSON.stringify({ path: 'secrets/key' }) },
    ])
      assert.equal(await action({ kind: 'edit', rawInput }, secret), 'reject', JSON.stringify(rawInput));
    assert.equal(await action({ kind: 'edit', rawInput: { file_text: 'secrets/key' } }, secret), 'ask');
    assert.equal(await action({ kind: 'other', rawInput: { query: 'x' } }, { kind: 'edit', action: 'reject' }), 'ask');
  });

  it('is not overridden by a rule that allows a command on its file', async () => {
    const cat: PermissionRule = { kind: 'execute', pattern: 'cat *', action: 'allow' };
    const show: PermissionRule = { kind: 'execute', pattern: 'git show HEAD:secrets/key', action: 'allow' };
    const run = (command: string, ...rules: PermissionRule[]) =>
      action({ kind: 'execute', rawInput: { command } }, ...rules);
    for (const kind of ['read', 'edit', '*'])
      for (const name of ['secrets/key', './secrets/', 'src/key.txt', 'src/../secrets/key', 'SECRETS/key'])
        assert.equal(await run(`cat ${name}`, no('secrets/**', kind), cat), 'ask', name);
    assert.equal(await run('git show HEAD:secrets/key', no('secrets/**'), show), 'ask');
    assert.equal(await run('cat src/a.ts', no('secrets/**'), cat), 'allow');
    assert.equal(await run('cat secrets/key', cat, no('secrets/**')), 'allow', 'the first rule that fits decides');
    assert.equal(await run('cat secrets/key', no('secrets/**'), no('cat*', 'execute'), cat), 'reject');
    assert.equal(await run('cat src/a.ts', no('**', 'edit'), cat), 'allow');
  });

  const COMMANDS = [
    'git push',
    'git push origin main',
    'rm -rf build',
    'npm publish',
    'terraform apply',
    'kubectl delete pod',
  ];
  /** Quotes a line for a POSIX shell. */
  const quoted = (line: string): string => `'${line.replaceAll("'", "'\\''")}'`;
  type Around = readonly [title: string, make: (line: string, below: (limit: number) => number) => string];
  const PREFIXES: readonly Around[] = [
    ['env', (line) => `env X=1 ${line}`],
    ['nohup', (line) => `nohup ${line}`],
    ['nice', (line) => `nice -n 5 ${line}`],
    ['timeout', (line) => `timeout 9 ${line}`],
    ['command', (line) => `command ${line}`],
    ['assignment', (line) => `A=1 B="2 3" ${line}`],
    ['redirection', (line) => `2>/dev/null ${line}`],
    ['option', (line) => line.replace('git ', 'git --no-pager ')],
    ['option with a value', (line) => line.replace('git ', 'git -C . -c a.b=c ')],
    ['setsid', (line) => `setsid -w ${line}`],
    ['xargs', (line) => `echo x | xargs ${line}`],
    ['find', (line) => `find . -maxdepth 0 -exec ${line} \\;`],
  ];
  const WORDS: readonly Around[] = [
    ['blanks', (line, below) => line.replaceAll(' ', () => ['  ', '\t', ' \\\n '][below(3)] ?? ' ')],
    ['quotes', (line) => line.replace(/\S+/g, (word) => `"${word}"`)],
    ['single quotes', (line) => line.replace(/\S+/, (word) => `'${word}'`)],
    ['quotes inside', (line) => line.replace(/\w(?=\w)/g, (char) => `${char}''`)],
    ['escapes', (line) => line.replace(/[a-z](?=[a-z])/g, (char) => `\\${char}`)],
    ['codes', (line) => line.replace(/^\w+/, (word) => `$'\\x${word.charCodeAt(0).toString(16)}${word.slice(1)}'`)],
    ['a folder', (line) => `./bin/../bin/${line}`],
  ];
  const LINES: readonly Around[] = [
    ['and', (line) => `true && ${line}`],
    ['semicolon', (line) => `true;${line}`],
    ['or', (line) => `false||${line}`],
    ['pipe', (line) => `echo|${line}`],
    ['line break', (line) => `true\n${line}`],
    ['background', (line) => `true & ${line}`],
    ['subshell', (line) => `(${line})`],
    ['group', (line) => `{ ${line}; }`],
    ['substitution', (line) => `echo "$(${line})"`],
    ['backquotes', (line) => (/[`\\]/.test(line) ? `(${line})` : `echo \`${line}\``)],
    ['condition', (line) => `if true; then ${line}; fi`],
    ['loop', (line) => `for x in a; do ${line}; done`],
    ['assignment', (line) => `A=1 B='2 3'; ${line}`],
    ['redirection', (line) => `true >/dev/null; ${line}`],
    ['sh', (line) => `sh -c ${quoted(line)}`],
    ['bash', (line) => `bash -c ${quoted(line)}`],
    ['eval', (line) => `eval ${quoted(line)}`],
    ['env', (line) => `env X=1 sh -c ${quoted(line)}`],
    ['nohup', (line) => `nohup sh -c ${quoted(line)}`],
    ['timeout', (line) => `timeout 9 sh -c ${quoted(line)}`],
    ['find', (line) => `find . -maxdepth 0 -exec sh -c ${quoted(line)} \\;`],
    ['xargs', (line) => `echo x | xargs -I@ sh -c ${quoted(line)}`],
    ['input', (line) => `bash <<'END'\n${line}\nEND\n`],
    ['input as a word', (line) => `bash <<< ${quoted(line)}`],
  ];
  const [lines, runs] = [seeds(300, 5000), seeds(15, 300)];

  it('finds a command in random lines', () => {
    const below = seeded(35);
    for (let left = lines; left > 0; left--) {
      const command = COMMANDS[below(COMMANDS.length)] ?? '';
      const [title, line] = randomLine(command, below);
      const words = command.split(' ');
      const pattern =
        [`${words.slice(0, 2).join(' ')}*`, `${words[0]} *`, command, `*${words[1]}*`][
          below(command === line ? 4 : 2)
        ] ?? '';
      assert.ok(new CouldRun([line]).matches(pattern), JSON.stringify({ title, pattern, line }));
    }
  });

  function randomLine(command: string, below: (limit: number) => number): readonly [title: string, line: string] {
    let line = command;
    const titles: string[] = [];
    const wrap = (all: readonly Around[]): void => {
      const [title, make] = all[below(all.length)] ?? all[0]!;
      titles.push(title);
      line = make(line, below);
    };
    for (const all of [WORDS, PREFIXES]) if (below(2) === 0) wrap(all);
    for (let count = below(4); count > 0; count--) wrap(LINES);
    return [titles.join(), line];
  }

  it('finds everything that a real shell runs', function () {
    this.timeout(600_000);
    const bin = join(base, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'git'), `#!/bin/sh\necho "$*" > ${base}/ran\n`);
    chmodSync(join(bin, 'git'), 0o755);
    const below = seeded(7);
    const folder = join(base, 'empty');
    mkdirSync(join(folder, 'bin'), { recursive: true });
    symlinkSync(join(bin, 'git'), join(folder, 'bin/git'));
    let ran = 0;
    for (let left = runs; left > 0; left--) {
      rmSync(join(base, 'ran'), { force: true });
      const [title, line] = randomLine('git push origin', below);
      try {
        execFileSync('bash', ['-c', line], {
          cwd: folder,
          env: { PATH: `${bin}:${process.env.PATH}` },
          stdio: 'ignore',
          timeout: 9000,
        });
      } catch {
        // The exit code is that of the line's last command.
      }
      if (!existsSync(join(base, 'ran'))) continue;
      ran++;
      assert.ok(new CouldRun([line]).matches('git push*'), JSON.stringify({ title, line }));
    }
    assert.ok(ran > runs * 0.9, `${ran} of ${runs}`);
  });

  it('matches whatever a rule with the same pattern allows', () => {
    const below = seeded(3);
    const words = ['git', 'push', 'npm', 'test', 'run', 'status', '-x', 'a.ts', './x', '/usr/bin/git', 'A:b', 'src/a'];
    const pick = (): string =>
      Array.from({ length: 1 + below(4) }, () => words[below(words.length)]).join(' '.repeat(1 + below(2)));
    for (let left = lines; left > 0; left--) {
      const line = pick();
      const plain = plainWords(line);
      const pattern = below(2) === 0 ? line : `${line.split(' ')[0]} *`;
      if (!plain || !matchesWords(pattern, plain)) continue;
      assert.ok(new CouldRun([line]).matches(pattern), JSON.stringify({ pattern, line }));
    }
  });

  it('does not match a plain line that another rule allows', async () => {
    const below = seeded(9);
    const rejected = ['git push*', 'rm *', 'npm publish*', '*--force*'].map((pattern) => no(pattern, 'execute'));
    const plain = ['npm test', 'git status', 'cargo build', 'tsc -p .', 'make test', 'npm run build', 'git log'];
    for (let left = seeds(20, 200); left > 0; left--) {
      const line = plain[below(plain.length)] ?? '';
      const rule: PermissionRule = { kind: 'execute', pattern: line, action: 'allow' };
      assert.equal(await action({ kind: 'execute', rawInput: { command: line } }, ...rejected, rule), 'allow', line);
    }
  });
});
