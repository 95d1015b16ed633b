// Splits a command line into words if it is so plain that every shell runs just this one program
// with just these words.
import { isOpaque, programName } from './runners';

const MAX_LINE = 1000;

/** Letters, digits and signs without a meaning in sh, cmd and PowerShell. */
const PLAIN_WORD = /^[A-Za-z0-9_./:+=-]+$/;

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
  const [program] = words;
  if (program === undefined || !words.every((word) => PLAIN_WORD.test(word))) return false;
  if (program.includes('=') || program.startsWith('-')) return false;
  const name = programName(program);
  return name !== '' && !isOpaque(name, words.slice(1));
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
