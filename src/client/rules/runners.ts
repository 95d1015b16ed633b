// Table of programs that run what their arguments say. No rule allows such a command; rules that
// ask or reject look at each command in it.
import { posix } from 'node:path';

interface Runner {
  /** Lower case, without `.exe`; a trailing `*` matches a prefix. */
  readonly names: string;
  /** Tested on the arguments, joined by spaces; absent: always matches. */
  readonly when?: RegExp;
  /** The arguments may be code in another language. */
  readonly isCode?: true;
}

const sub = (names: string): RegExp => new RegExp(`^(?:-\\S+ (?:[^-]\\S* )?)*?(?:${names})(?: |$)`);

const RUNNERS: readonly Runner[] = [
  { names: 'sh bash zsh dash ash fish ksh mksh csh tcsh nu nushell xonsh elvish busybox toybox rbash' },
  { names: 'eval exec command builtin coproc trap alias source . noglob nocorrect abbr function hash complete bind' },
  { names: 'cmd powershell pwsh wsl wslg conhost start call forfiles runas psexec schtasks wmic iex icm saps' },
  { names: 'invoke-expression invoke-command invoke-item start-process start-job start-threadjob add-type' },
  { names: 'rundll32 regsvr32 mshta cscript wscript' },
  // Other privileges, priorities, limits and environments
  { names: 'sudo sudoedit doas su runuser run0 pkexec gksu gksudo kdesudo sg newgrp setpriv capsh runcon machinectl' },
  { names: 'env nohup nice ionice chrt taskset numactl prlimit cpulimit cgexec setarch linux32 linux64 setsid' },
  { names: 'timeout gtimeout time gtime watch stdbuf unbuffer script scriptreplay expect autoexpect ts chronic ifne' },
  { names: 'unshare nsenter chroot fakeroot fakechroot proot bwrap firejail systemd-run systemd-inhibit caffeinate' },
  { names: 'dbus-run-session dbus-launch xvfb-run startx xinit ssh-agent start-stop-daemon daemonize daemon chpst' },
  { names: 'setuidgid softlimit gosu su-exec tini dumb-init s6-* flock lckdo with-lock-ex torsocks torify tsocks' },
  {
    names: 'proxychains proxychains4 op doppler infisical chamber envchain aws-vault vault teller sops dotenv dotenvx',
  },
  { names: 'direnv foreman honcho overmind rtk' },
  // Terminals, queues and groups of machines
  { names: 'xterm uxterm urxvt rxvt st kitty alacritty foot wezterm ghostty konsole gnome-terminal ptyxis tilix' },
  { names: 'terminator xfce4-terminal lxterminal mintty winpty cygstart wt rlwrap with-contenv faketime' },
  { names: 'mpirun mpiexec srun sbatch salloc qsub bsub sem tsp ts nq pueue pm2 forever' },
  { names: 'ansible ansible-console salt salt-ssh fab pdsh dsh clush rsh nc ncat netcat socat' },
  // Profiling and debugging
  { names: 'strace ltrace dtruss gdb lldb rr valgrind perf heaptrack hyperfine catchsegv sde pyinstrument' },
  // Repeated and remote execution
  { names: 'xargs gxargs parallel rush fd fdfind entr watchexec watchman-make nodemon chokidar reflex onchange' },
  { names: 'find gfind', when: / -(?:exec|execdir|ok|okdir|delete|fprint\w*|fls)\b|^-(?:exec|ok)/ },
  { names: 'concurrently wait-on wsrun lerna nx turbo cross-env cross-env-shell run-s run-p npm-run-all dotenv-cli' },
  { names: 'at batch cron crontab tmux screen zellij byobu dtach abduco open xdg-open osascript gio' },
  { names: 'ssh mosh autossh sshpass pssh clusterssh scp sftp rsync' },
  {
    names: 'docker docker-compose podman podman-compose nerdctl',
    when: sub('run|exec|compose|buildx|container|create'),
  },
  { names: 'kubectl oc k9s', when: sub('exec|run|debug|plugin|krew|cp') },
  { names: 'lxc incus vagrant multipass toolbox distrobox flatpak flatpak-spawn snap heroku fly flyctl gcloud qemu-*' },
  { names: 'wine wine64 mono' },
  // Package and version managers
  {
    names: 'npx bunx pnpx uvx pipx dlx corepack volta fnm nvm nave nodenv rbenv pyenv jenv asdf mise rtx proto rustup',
  },
  { names: 'npm pnpm yarn bun', when: sub('exec|x|dlx|explore|init|create|node|edit|config|set|prefix') },
  { names: 'deno', when: sub('eval|repl|task|run|serve|x') },
  { names: 'bundle bundler', when: sub('exec|e|console|open|config|plugin') },
  {
    names: 'poetry pipenv pdm hatch rye uv pixi conda mamba micromamba tox nox',
    when: sub('run|shell|tool|x|exec|activate'),
  },
  { names: 'nix', when: sub('run|shell|develop|eval|repl|build|profile|bundle|fmt') },
  { names: 'nix-shell nix-build nix-env guix devbox devenv flox' },
  { names: 'cargo', when: sub('watch|miri|install|expand') },
  { names: 'go', when: / -(?:exec|toolexec|vettool)\b|^(?:generate|run|tool)\b/ },
  {
    names: 'stack cabal opam dune mix rebar3 lein sbt mill bazel bazelisk buck buck2 pants dotnet swift',
    when: sub('exec|run|shell|runghc|repl|script|do|tool'),
  },
  {
    names: 'git',
    when: new RegExp(
      [
        '^(?:.* )?(?:submodule (?:.* )?foreach|bisect (?:.* )?(?:run|visualize|view)|for-each-repo|filter-branch|filter-repo)\\b',
        '^(?:.* )?(?:difftool|mergetool|instaweb|web--browse|shell|send-email|sh-i18n|hook|daemon|remote-ext|remote-fd|p4)\\b',
        '^(?:.* )?(?:config|merge-index|merge-one-file|credential|imap-send)\\b(?! (?:--get|--get-all|--get-regexp|--list|-l|get|list)\\b)',
        '(?:^| )(?:-c|--config-env|--exec-path=|--exec|-x|--upload-pack|--receive-pack|--extcmd|--template|--ext-diff)',
        '(?:^| )(?:--open-files-in-pager|--sendmail-cmd|--smtp-server|--to-cmd|--cc-cmd|--tool|--config)',
        '^(?:.* )?grep (?:.* )?-O|^(?:.* )?(?:clone|fetch|pull|ls-remote|fetch-pack) (?:.* )?-u|(?:^| )ext::',
      ].join('|'),
    ),
  },
  {
    names: 'hg svn jj sl bzr fossil',
    when: /(?:^| )(?:--config|--config-option|--editor-cmd|--diff-cmd|--tool|config|run|fix)\b/,
  },
  { names: 'gh glab', when: sub('alias|extension|ext|codespace|cs|config') },
  // Editors, pagers and interpreters: their arguments are programs
  {
    names: 'vim vi nvim view ex ed emacs emacsclient nano micro less more most man awk gawk mawk nawk sed gsed',
    isCode: true,
  },
  { names: 'tclsh wish osascript jshell ghci iex irb pry psql mysql mariadb sqlite3 redis-cli mongosh', isCode: true },
  {
    names:
      'node nodejs tsx ts-node python* pypy* perl* ruby* php* lua* luajit rscript r julia java scala kotlin groovy ghc elixir erl clj clojure bb sbcl racket guile raku swipl ocaml',
    when: /^(?:-\S+ (?:[^-]\S* )?)*?(?:-\w*[eErcpPmxXi]|--?(?:eval|print|require|import|loader|run|exec|command|expr|c|e|m)\b|-agent|-javaagent|-XX)/,
    isCode: true,
  },
  {
    names: 'make gmake ninja just task rake gradle mvn ant cmake',
    when: /(?:^| )(?:\w+[+:?]?=|-E\b|exec:|--eval|--shell)/,
  },
  {
    names: 'tar gtar bsdtar',
    when: /(?:^| )(?:-I|-F|--(?:to-command|checkpoint-action|use-compress-program|info-script|rsh-command|new-volume))/,
  },
  { names: 'zip', when: /(?:^| )(?:-TT|--unzip-command)/ },
  { names: 'split gsplit sort gsort', when: /(?:^| )--(?:filter|compress-program)/ },
  { names: 'ip', when: sub('netns exec|vrf exec') },
  { names: 'gcc g++ cc c++ clang clang++', when: /(?:^| )(?:-wrapper|-fplugin|-B|-specs)/ },
];

/** Programs that change the meaning or the folder of later commands. */
const CHANGES_LATER =
  /^(?:cd|pushd|popd|set|export|unalias|unset|declare|readonly|typeset|enable|git-shell|docker.*|podman.*|kubectl|find|gfind)$/;

/** Programs whose first options may say what to run. */
const RUNS_OPTIONS =
  /^(?:git|hg|svn|jj|node|nodejs|deno|bun|tsx|ts-node|python[\d.]*|pypy[\d.]*|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua[\d.]*|rscript|r|java|npm|pnpm|yarn|make|gmake|cargo|go|tar|gcc|cc|clang|bundle|nix|poetry|uv|gh)$/;

const READS_INPUT =
  /^(?:sh|bash|zsh|dash|ash|fish|ksh|mksh|csh|tcsh|nu|rbash|busybox|cmd|powershell|pwsh|wsl|ssh|at|batch|python.*|node|perl|ruby|php)$/;

export const ADDS_WORDS = /^(?:xargs|gxargs|parallel|rush|find|gfind|fd|fdfind|entr|watchexec|onchange)$/;

const BY_NAME = new Map<string, Runner[]>();
const BY_PREFIX: { readonly prefix: string; readonly runner: Runner }[] = [];
for (const runner of RUNNERS)
  for (const name of runner.names.split(' '))
    if (name.endsWith('*')) BY_PREFIX.push({ prefix: name.slice(0, -1), runner });
    else BY_NAME.set(name, [...(BY_NAME.get(name) ?? []), runner]);

export function programName(word: string): string {
  return posix
    .basename(word.replaceAll('\\', '/'))
    .toLowerCase()
    .replace(/\.(?:exe|com|cmd|bat|ps1)$/, '');
}

/** Returns what the arguments contain; undefined: nothing that is run. */
export function runsArguments(name: string, args: readonly string[]): 'words' | 'code' | undefined {
  const line = args.join(' ');
  const started = BY_PREFIX.filter(({ prefix }) => name.startsWith(prefix)).map(({ runner }) => runner);
  const runners = [...(BY_NAME.get(name) ?? []), ...started].filter(
    ({ when }) => when === undefined || when.test(line),
  );
  if (runners.length === 0) return undefined;
  return runners.every(({ isCode }) => isCode) ? 'code' : 'words';
}

/** Returns whether a command runs or changes more than its words say: no rule may allow it. */
export function isOpaque(name: string, args: readonly string[]): boolean {
  if (CHANGES_LATER.test(name) || runsArguments(name, args) !== undefined) return true;
  return RUNS_OPTIONS.test(name) && args[0]?.startsWith('-') === true;
}

export function runsInput(name: string, args: readonly string[]): boolean {
  return (
    READS_INPUT.test(name) && args.every((word) => word.startsWith('-') && !/^-\w*c|^--?(?:version|help)/i.test(word))
  );
}

/** Options before a subcommand that take the next word as a value. */
const VALUE_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  git: [
    '-C',
    '-c',
    '--git-dir',
    '--work-tree',
    '--namespace',
    '--exec-path',
    '--config-env',
    '--attr-source',
    '--super-prefix',
  ],
};

/** Undefined if only the program knows. */
export function valuesOf(name: string, option: string): 0 | 1 | undefined {
  if (option.includes('=')) return 0;
  const valueOptions = VALUE_OPTIONS[name];
  return valueOptions === undefined ? undefined : valueOptions.includes(option) ? 1 : 0;
}

/** Built-in commands of programs that have user-defined aliases. */
const OWN_COMMANDS: Readonly<Record<string, string>> = {
  git: 'add am annotate apply archive bisect blame branch bugreport bundle cat-file check-attr check-ignore check-mailmap check-ref-format checkout checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree config count-objects credential daemon describe diagnose diff diff-files diff-index diff-tree difftool fast-export fast-import fetch fetch-pack filter-branch fmt-merge-msg for-each-ref for-each-repo format-patch fsck gc get-tar-commit-id gitk grep gui hash-object help hook index-pack init instaweb interpret-trailers lfs log ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base merge-file merge-index merge-tree mergetool mktag mktree multi-pack-index mv name-rev notes pack-objects pack-redundant pack-refs patch-id prune prune-packed pull push quiltimport range-diff read-tree rebase receive-pack reflog refs remote repack replace replay request-pull rerere reset restore rev-list rev-parse revert rm send-email send-pack shell shortlog show show-branch show-index show-ref sparse-checkout stage stash status stripspace submodule subtree switch symbolic-ref tag unpack-file unpack-objects update-index update-ref update-server-info upload-archive upload-pack var verify-commit verify-pack verify-tag version whatchanged worktree write-tree',
  cargo:
    'add audit bench binstall build b check c clean clippy config deny doc d expand fetch fix fmt generate-lockfile help info init install llvm-cov locate-project login logout machete metadata miri new nextest outdated owner package pkgid publish read-manifest remove report run r rustc rustdoc search tarpaulin test t tree uninstall update upgrade vendor verify-project version watch yank',
  gh: 'agent-task alias api attestation auth browse cache codespace completion config copilot discussion extension gist gpg-key help issue label org pr preview project release repo ruleset run search secret ssh-key status variable version workflow',
};

export function mayBeAlias(name: string, word: string): boolean {
  const ownCommands = Object.hasOwn(OWN_COMMANDS, name) ? OWN_COMMANDS[name] : undefined;
  return ownCommands !== undefined && /^\w[\w-]*$/.test(word) && !ownCommands.split(' ').includes(word);
}

const MAX_LINE = 1000;

/** No meaning in sh, cmd and PowerShell. */
const PLAIN_WORD = /^[A-Za-z0-9_./:+=-]+$/;

/**
 * Returns undefined for anything but one plain command: quotes, variables, substitutions,
 * redirections, globs, several commands, line breaks, assignments, and programs that run their
 * arguments.
 */
export function plainWords(line: string): readonly string[] | undefined {
  // Other white space separates commands in some shells.
  const words = line.length > MAX_LINE ? [] : line.split(' ').filter((word) => word !== '');
  return arePlain(words) ? words : undefined;
}

export function arePlain(words: readonly string[]): boolean {
  const [program] = words;
  if (program === undefined || !words.every((word) => PLAIN_WORD.test(word))) return false;
  if (program.includes('=') || program.startsWith('-')) return false;
  const name = programName(program);
  return name !== '' && !isOpaque(name, words.slice(1));
}

/** A final `*` matches words that are neither options nor lead out of the folder. */
export function matchesWords(pattern: string, words: readonly string[]): boolean {
  const patternWords = pattern.split(' ').filter((word) => word !== '');
  const isOpen = patternWords.length > 1 && patternWords.at(-1) === '*';
  if (isOpen) patternWords.pop();
  if (!patternWords.every((word) => PLAIN_WORD.test(word))) return false;
  if (isOpen ? words.length < patternWords.length : words.length !== patternWords.length) return false;
  return words.every((word, index) => (index < patternWords.length ? word === patternWords[index] : isInnocent(word)));
}

function isInnocent(word: string): boolean {
  return !/^[-/]|^[a-z]:|[:=]|:\/\//i.test(word) && !word.split('/').includes('..');
}
