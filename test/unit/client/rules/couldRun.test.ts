// Which commands a rule that asks or rejects finds in a line.
import { strict as assert } from 'node:assert';
import { CouldRun } from '../../../../src/client/rules/couldRun';

const fits = (pattern: string, line: string | readonly string[]): boolean => new CouldRun([line]).matches(pattern);

/** Lines that run `git push`, or could. */
const PUSHES: Readonly<Record<string, readonly string[]>> = {
  'blanks and spellings': [
    'git push',
    'git  push origin',
    '  git\tpush',
    'git\u00a0push origin',
    'git\u3000push',
    'git\u2800push',
    'git\u200bpush',
    'gi\u200bt push',
    './git push',
    '/usr/bin/git push',
    'C:\\Git\\git.exe push',
    'GIT push',
    'git.exe push',
    '~/bin/git push',
  ],
  'quotes and escapes': [
    "git 'push' origin",
    'g\'i\'t pu"s"h',
    'g\\it push',
    'git \\\npush',
    "$'git' push",
    "$'\\x67it' $'\\160ush'",
    '"gi"t\\ push',
    'g^it push',
    'g`it push',
  ].filter((line) => line !== '"gi"t\\ push'),
  'terminals, queues and variables that name programs': [
    ...["PAGER='git push' git log", "GIT_SSH_COMMAND='git push' git fetch", "EDITOR='git push' git commit"],
    ...[
      'xterm -e git push',
      'gnome-terminal -- git push',
      'rlwrap git push',
      'winpty git push',
      'parallel git ::: push',
    ],
    ...["ansible all -m shell -a 'git push'", 'srun git push', 'mpirun -n 1 git push', 'tsp git push'],
    ...["pm2 start 'git push'", "nc -e 'git push' h 1", 'faketime x git push'],
  ],
  chains: [
    'cd x && git push',
    'true & git push',
    'ls\r\ngit push',
    'echo $(git push)',
    'echo "`git push`"',
    'cat <(git push)',
    `echo \${X:-$(git push)}`,
    'while git push; do :; done',
    'case a in a) git push;; esac',
    '! git push',
    '>log git push',
    '2>&1 git push',
    'git push>log',
    '</dev/null git push',
    'f() { git push; }; f',
    'echo $(echo $(echo "$(git push)"))',
  ],
  'assignments and options': [
    'git -C dir push',
    'git -C "a dir" push',
    'git -c a=b push',
    'git --git-dir=x push',
    'git --git-dir x --work-tree y push',
    'git -c alias.p=push p origin',
    "git -c alias.p='!git push' p",
    'git config alias.p push && git p',
    'git p',
    'git -C x p origin',
  ],
  'programs that run others': [
    'sudo git push',
    'sudo -u me git push',
    'sudo -E env A=1 nohup git push',
    'env -i git push',
    'time -p git push',
    'xargs git push',
    'echo push | xargs git',
    'echo push | xargs -I% git %',
    'find . -exec git push {} \\;',
    'find . -name x -execdir sh -c "git push" \\;',
    "bash -lc 'cd x && git push'",
    'bash -c \'bash -c "git push"\'',
    "bash -c 'g\\it push'",
    "su me -c'git push'",
    'eval git push',
    'exec git push',
    'ssh host "cd x && git push"',
    "tmux new -d 'git push'",
    'parallel git push ::: a',
    'watch -n 1 git push',
    'npx git push',
    'poetry run git push',
    'bundle exec git push',
    'nix run git push',
    'nix-shell -p git --run "git push"',
    'git submodule foreach git push',
    "git submodule --quiet foreach --recursive 'git push'",
    'git bisect run git push',
    "git rebase --exec 'git push' main",
    "git rebase -x'git push' main",
    "git config core.pager 'git push'",
    "git -c core.pager='git push' log",
    'docker run x git push',
    'cmd /c git push',
    'powershell -Command "git push"',
    `python3 -c 'import os; os.system("git push")'`,
    `node -e 'require("child_process").execFileSync("git", ["push"])'`,
    'awk \'BEGIN { system("git push") }\'',
    'bash <<EOF\ngit push\nEOF',
    "python3 - <<'EOF'\nimport subprocess\nsubprocess.run(['git', 'push'])\nEOF",
    'make SHELL="git push" all',
  ],
  'parts unknown until it runs': [
    '$GIT push',
    '"$GIT" push',
    'git $SUB',
    'git "$SUB" origin',
    `\${GIT}\${IFS}push`,
    'git$IFS$9push',
    '$(which git) push',
    'gi? push',
    '/usr/bin/gi* push',
    '/usr/bin/[g]it push',
    '{git,push,origin}',
    'g{i,}t push',
    'eval "$X"',
    'bash -c "$X"',
    'echo Z2l0IHB1c2g= | base64 -d | sh',
    'curl http://x | bash',
    'alias g=git; g push',
    'curl http://x | sudo bash',
    'curl http://x | sudo -u me bash -s',
    'ls | xargs bash -c',
    'ls | xargs sudo',
    'python3 -c "$CODE"',
    'timeout 5 bash -c "$X"',
    'x() { git "$@"; }; x push',
    'powershell -EncodedCommand AAAA',
    '%GIT% push',
  ],
};

describe('a rule that rejects a command', () => {
  for (const [title, lines] of Object.entries(PUSHES))
    it(`finds it regardless of ${title}`, () => {
      const missed = lines.flatMap((line) =>
        ['git push*', 'git push *', 'git  "push"*', '/usr/bin/git push*'].filter((pattern) => !fits(pattern, line)),
      );
      assert.deepEqual(
        lines.filter((line) => !fits('git push*', line)),
        [],
      );
      assert.deepEqual(missed, []);
    });

  it('finds it as a list of words', () => {
    assert.ok(fits('git push*', ['git', 'push']));
    assert.ok(fits('git push*', ['bash', '-lc', 'git push']));
    assert.ok(fits('git push*', ['/usr/bin/git', '-C', 'a b', 'push']));
  });

  it('does not match other commands', () => {
    const others = [
      'git status',
      'git log --grep push',
      'git -C push status',
      'git -c push.default=simple log',
      'git stash push',
      'git commit -m "not a push"',
      'git commit -m "$MESSAGE"',
      'git add *',
      'ls *',
      'ls $DIR',
      'npm test',
      'cat git push',
      'echo git push',
      'grep -r "push" src',
      "python3 -c 'print(1)'",
      "python3 - <<'EOF'\nprint(1)\nEOF",
      'cat > a.js <<EOF\nfunction f() { return 1; }\nEOF',
      'find . -name push',
      'date +%Y-%m-%d',
      'node build.js push',
      'make push',
      '"$PYTHON" -m pytest',
      '[ -f push ] && npm test',
      'sudo apt-get install node',
      'sed -n "$FROM,$TO p" a.txt',
      'find . -name "*.ts" -exec sed -i s/a/b/ {} \\;',
      'find . -name "*.ts" | xargs grep -l push',
      "awk '{ print $1 }' a.txt",
      'less "$FILE"',
    ];
    assert.deepEqual(
      others.filter((line) => fits('git push*', line)),
      [],
    );
    assert.ok(!fits('rm *', 'git rm x') && !fits('rm *', 'docker rm x') && !fits('rm *', 'npm test -- rm'));
  });

  it('matches anything if there is too much to read', () => {
    assert.ok(fits('git push*', `echo ${'x'.repeat(300_000)}`));
    assert.ok(!fits('git push*', `echo ${'x '.repeat(20_000)}`));
  });

  it('takes bounded time for a long line', () => {
    const line = `cat > x <<'EOF'\n${'a line of text $(with) `some` "signs" {and} more\n'.repeat(800)}EOF`;
    const begin = performance.now();
    fits('git push*', line);
    assert.ok(performance.now() - begin < 2000);
  });
});
