// Splits a command line into words if it is so plain that every shell runs just this one program
// with just these words.
import { posix } from 'node:path';

const MAX_LINE = 1000;

/** Letters, digits and signs without a meaning in sh, cmd and PowerShell. */
const PLAIN_WORD = /^[A-Za-z0-9_./:+=-]+$/;

/** Programs and builtins that run a command in their arguments, or change what later ones mean. */
const RUNS_OTHERS = [
  /^(?:sh|bash|zsh|dash|ash|fish|ksh|csh|tcsh|busybox|cmd|powershell|pwsh|wsl|env|sudo|doas|su|runuser)$/,
  /^(?:pkexec|xargs|nohup|nice|ionice|timeout|time|watch|setsid|stdbuf|script|expect|strace|ltrace|gdb)$/,
  /^(?:unshare|nsenter|chroot|exec|eval|command|builtin|source|\.|trap|npx|bunx|pnpx|uvx|pipx|uv|dlx)$/,
  /^(?:ssh|scp|rsync|docker|podman|kubectl|find|fd|parallel|entr|start|call|forfeiles|iex)$/,
  /^(?:invoke-expression|start-process|osascript|open|xdg-open|tclsh|at|batch|crontab|systemd-run|flock)$/,
  /^(?:cd|pushd|popd|set|export|alias|unalias|unset|hash|declare|readonly|typeset|enable|rundll32)$/,
  /^(?:regsvr32|mshta|cscript|wscript|tmux|screen|vim|vi|nvim|ed|emacs|less|more|man|awk|gawk|mawk|nawk)$/,
  /^(?:sed|git-shell)$/,
];

/** Programs whose options may hold a program, or say where to look for one. */
const RUNS_OPTIONS =
  /^(?:git|hg|svn|node|nodejs|deno|bun|tsx|ts-node|python[\d.]*|pypy[\d.]*|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua[\d.]*|rscript|r|java|npm|pnpm|yarn|make|gmake|cargo|go|tar|gcc|cc|clang)$/;

/** Subcommands that run what their arguments name. */
const RUNS_ARGUMENTS = /^(?:exec|x|dlx|explore|eval|repl|init|create)$/;

/**
 * Returns the words of a command line, undefined if it is anything but one plain command: quotes,
 * variables, substitutions, redirections, globs, several commands, line breaks, environment
 * assignments, and programs that run what is in their arguments.
 */
export function plainWords(line: string): readonly string[] | undefined {
  // Only spaces: other white space separates words in some shells, and commands in others.
  const words = line.length > MAX_LINE ? [] : line.split(' ').filter((word) => word !== '');
  return arePlain(words) ? words : undefined;
}

/** Returns whether words are one plain command, as {@link plainWords} says. */
export function arePlain(words: readonly string[]): boolean {
  const [program, first] = words;
  if (program === undefined || !words.every((word) => PLAIN_WORD.test(word))) return false;
  if (program.includes('=') || program.startsWith('-')) return false;
  const name = posix
    .basename(program)
    .toLowerCase()
    .replace(/\.(?:exe|com|cmd|bat|ps1)$/, '');
  if (name === '' || RUNS_OTHERS.some((names) => names.test(name))) return false;
  if (!RUNS_OPTIONS.test(name)) return true;
  return !first?.startsWith('-') && !RUNS_ARGUMENTS.test(first ?? '');
}

/**
 * Returns whether words are those of a rule's pattern. A `*` as its last word stands for further
 * words that are neither options nor lead out of the folder.
 */
export function matchesWords(pattern: string, words: readonly string[]): boolean {
  const wanted = pattern.split(' ').filter((word) => word !== '');
  const isOpen = wanted.length > 1 && wanted.at(-1) === '*';
  if (isOpen) wanted.pop();
  if (!wanted.every((word) => PLAIN_WORD.test(word))) return false;
  if (isOpen ? words.length < wanted.length : words.length !== wanted.length) return false;
  return words.every((word, index) => (index < wanted.length ? word === wanted[index] : isInnocent(word)));
}

function isInnocent(word: string): boolean {
  return !/^[-/]|^[a-z]:|[:=]|:\/\//i.test(word) && !word.split('/').includes('..');
}
