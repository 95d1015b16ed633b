// What the user searches for, as a pattern, and its matches in texts. A regular expression of the
// user can take forever on a text: it runs with a time limit.
import { createContext, Script } from 'node:vm';
import type { FindQuery } from '../../panel/contract';

/** Time for one expression of the user and the texts of one call, ms. */
const MAX_MS = 250;
/** Matches counted in one text. */
const MAX_MATCHES = 10_000;

const WORD = '[\\p{L}\\p{N}_]';

/** Returns the matches in each text: start and length, in turns. */
export type FindMatches = (texts: readonly string[]) => readonly (readonly number[])[];

/** An expression took too long. */
export class SlowPattern extends Error {}

/**
 * Returns what finds the matches of a query.
 * @throws SyntaxError if the regular expression is invalid
 */
export function matcherOf(query: FindQuery): FindMatches {
  const pattern = patternOf(query);
  if (!query.regex) return (texts) => texts.map((text) => matchesIn(pattern, text));
  return (texts) => withTimeLimit(() => texts.map((text) => matchesIn(pattern, text)));
}

function patternOf({ text, matchCase, wholeWord, regex }: FindQuery): RegExp {
  const flags = matchCase ? 'gmu' : 'gimu';
  // A group around it could make an invalid expression valid: `a)(b`.
  if (regex) new RegExp(text, flags);
  const source = regex ? `(?:${text})` : literal(text);
  const begins = wholeWord && (regex || isWord(text.at(0)));
  const ends = wholeWord && (regex || isWord(text.at(-1)));
  const whole = `${begins ? `(?<!${WORD})` : ''}${source}${ends ? `(?!${WORD})` : ''}`;
  return new RegExp(whole, flags);
}

/** Line breaks of a paragraph are spaces on the screen. */
function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replaceAll(/\s+/g, '\\s+');
}

function isWord(char: string | undefined): boolean {
  return char !== undefined && /^[\p{L}\p{N}_]$/u.test(char);
}

function matchesIn(pattern: RegExp, text: string): readonly number[] {
  const matches: number[] = [];
  pattern.lastIndex = 0;
  while (matches.length < 2 * MAX_MATCHES) {
    const match = pattern.exec(text);
    if (!match) break;
    // An empty match has nothing to show.
    if (match[0] === '') pattern.lastIndex = match.index + ((text.codePointAt(match.index) ?? 0) > 0xffff ? 2 : 1);
    else matches.push(match.index, match[0].length);
  }
  return matches;
}

const context = createContext({ run: () => {} });
const script = new Script('run()');

/**
 * Tried twice, as a busy machine can let the process wait for as long.
 * @throws SlowPattern
 */
function withTimeLimit<T>(run: () => T): T {
  const result = tryInTime(run) ?? tryInTime(run);
  if (!result) throw new SlowPattern();
  return result.value;
}

/**
 * Only a script of `node:vm` can be ended while a regular expression runs.
 * @returns undefined if it was ended
 */
function tryInTime<T>(run: () => T): { readonly value: T } | undefined {
  let result: { readonly value: T } | undefined;
  context.run = () => {
    result = { value: run() };
  };
  try {
    script.runInContext(context, { timeout: MAX_MS });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
  }
  return result;
}
