// Which command lines are one plain command that a rule can match.
import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import { matchesWords, plainWords } from '../../../../src/client/rules/runners';

/** Attempts to run something else with a rule for `npm test` (or `npm test *`). */
const HOSTILE: readonly string[] = [
  ...['npm test && rm -rf ~', 'npm test; rm -rf ~', 'npm test | sh', 'npm test || id', 'npm test & id', 'npm test\nid'],
  ...['npm test\r\nid', 'npm test\rid', 'npm test\u2028id', 'npm test\u0085id', 'npm test\u000bid', 'npm test\tid'],
  ...['npm test $(id)', 'npm test `id`', 'npm test $' + '{IFS}id', 'npm test $IFS', 'npm test $0', 'npm test $((1))'],
  ...['npm test > /etc/passwd', 'npm test >> x', 'npm test < x', 'npm test 2>&1', 'npm test <(id)', 'npm test >(id)'],
  ...['npm test *', 'npm test ?', 'npm test [a]', 'npm test {a,b}', 'npm test ~', 'npm test ~root', 'npm test !!'],
  ...['npm test "x"', "npm test 'x'", 'npm test \\', 'npm test \\\nid', 'npm "test"', "n'p'm test", '"npm" test'],
  ...[
    'FOO=1 npm test',
    'PATH=/tmp npm test',
    'NODE_OPTIONS=--require=/tmp/x npm test',
    'A=B C=D npm test',
    '=npm test',
  ],
  ...['sh -c npm', 'bash -c id', 'bash script', '/bin/sh x', '/usr/bin/env npm test', 'env npm test', 'sudo npm test'],
  ...['doas npm test', 'xargs npm test', 'nohup npm test', 'nice npm test', 'timeout 9 npm test', 'time npm test'],
  ...['npx npm test', 'bunx x', 'pnpx x', 'uvx x', 'pipx run x', 'npm exec x', 'npm x y', 'pnpm dlx x', 'yarn dlx x'],
  ...['git -c core.pager=id log', 'git -C /etc status', 'git --exec-path=/tmp status', 'git --git-dir=/tmp log'],
  ...[
    'node -e 1',
    'node --eval 1',
    'node -p 1',
    'node --require /tmp/x y',
    'python -c 1',
    'python3 -c 1',
    'python3.12 -c 1',
  ],
  ...['perl -e 1', 'ruby -e 1', 'php -r 1', 'deno eval 1', 'bun -e 1', 'lua -e 1', 'make -f /tmp/x', 'make -C /tmp'],
  ...[
    'npm --prefix /tmp test',
    'npm --script-shell=/tmp/x test',
    'cargo --config x build',
    'tar -cf x --to-command=id',
  ],
  ...['eval npm test', 'exec npm test', 'command npm test', 'builtin cd', '. x', 'source x', 'trap x EXIT', 'cd /tmp'],
  ...[
    'alias npm=id',
    'export PATH=/tmp',
    'set -x',
    'pushd /tmp',
    'hash -p /tmp/x npm',
    'find . -exec id',
    'ssh host id',
  ],
  ...['cmd /c npm test', 'CMD.EXE /c x', 'powershell -c x', 'pwsh x', 'npm test %PATH%', 'npm test ^& id', 'start x'],
  ...[
    'npm test # x',
    'npm test @x',
    '@npm test',
    'npm test (id)',
    'npm te\u200bst',
    'nрm test',
    'npm test\u0000',
    'npm test\u001b[A',
  ],
  ...[
    'git submodule foreach id',
    'git bisect run id',
    'git rebase --exec id',
    'git rebase main --exec=id',
    'git rebase -x id',
  ],
  ...['git config core.pager id', 'git config alias.x id', 'git config --global core.editor id', 'git difftool -x id'],
  ...[
    'git grep -O id x',
    'git clone --upload-pack=id x',
    'git fetch ext::id',
    'git init --template=/tmp/x',
    'git filter-branch x',
  ],
  ...[
    'bundle exec id',
    'poetry run id',
    'pipenv run id',
    'uv run id',
    'hatch run id',
    'conda run id',
    'nix run x',
    'nix shell x',
  ],
  ...[
    'nix-shell -p x',
    'nix develop',
    'direnv exec . id',
    'mise exec id',
    'rbenv exec id',
    'go run x',
    'go generate',
    'dotnet exec x',
  ],
  ...[
    'cargo watch -x id',
    'make SHELL=/tmp/x all',
    'mvn exec:exec',
    'tar xf a -I id',
    'tar cf a --checkpoint-action=exec',
    'gh alias set x',
  ],
  ...[
    'hg --config x log',
    'sqlite3 x',
    'watchexec id',
    'hyperfine id',
    'firejail id',
    'bwrap id',
    'flatpak run x',
    'podman run x',
  ],
  ...['-npm test', '--', '', '   ', 'watch npm test', 'docker run x', 'awk x y', 'sed x y', 'SUDO npm test', './sh x'],
];

describe('the words of a command', () => {
  for (const line of HOSTILE) {
    it(`are not determined for ${JSON.stringify(line)}`, () => {
      assert.equal(plainWords(line), undefined);
    });
  }

  for (const line of [
    'npm test',
    'npm run build',
    './gradlew build',
    'cargo test --release',
    'git status',
    'tsc -p .',
    'make test',
    'git config --get user.name',
    'git submodule update',
    'go test ./...',
    'python3 app.py',
    'node server.js -p 3000',
  ]) {
    it(`are found in ${line}`, () => {
      assert.deepEqual(plainWords(`  ${line.replace(' ', '   ')} `), line.split(' '));
    });
  }

  it('contain only letters, digits and signs without special meaning, for any line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (before, after) => {
        const words = plainWords(`${before}npm test${after}`);
        assert.ok(words === undefined || words.every((word) => /^[\w./:+=-]+$/.test(word)));
      }),
    );
  });

  it('match a rule only if they are equal to its words', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (more) => {
        const words = plainWords(`npm test${more}`);
        if (words && matchesWords('npm test', words)) assert.equal(more.trim(), '');
      }),
    );
  });
});

describe('a rule about words', () => {
  const fits = (pattern: string, line: string): boolean => matchesWords(pattern, plainWords(line) ?? assert.fail());

  it('matches exactly its words', () => {
    assert.ok(fits('npm test', 'npm  test'));
    for (const line of ['npm', 'npm test x', 'npm tests', 'NPM test', './npm test', 'npm run']) {
      assert.ok(!fits('npm test', line), line);
    }
  });

  it('with a final star, matches further words that are no options and stay in the folder', () => {
    for (const line of ['npm test', 'npm test unit', 'npm test src/a.ts b']) assert.ok(fits('npm test *', line), line);
    const outside = ['/etc', '../x', 'a/../b', '--script-shell', '-x', 'a=b', 'C:/x', 'http://x', 'file:x'];
    for (const word of outside) assert.ok(!fits('npm test *', `npm test ok ${word}`), word);
  });

  for (const pattern of ['*', '**', 'npm *t', 'npm * test', 'npm test **', '* test', 'npm test && *', '']) {
    it(`matches nothing if its pattern is ${JSON.stringify(pattern)}`, () => {
      assert.ok(!fits(pattern, 'npm test'));
    });
  }
});
