// Matches regular expressions of users and agents in a thread with a time limit, as one can run
// forever. Plain queries are matched directly.
import { Worker } from 'node:worker_threads';
import type { Disposable } from '../../base/disposable';
import type { FindQuery } from '../../panel/contract';

const MAX_MS = 1_000;
const MAX_MATCHES = 10_000;

const WORD = '[\\p{L}\\p{N}_]';

/** By text: start and length, alternating. */
type Matches = readonly (readonly number[])[];

export class SlowPattern extends Error {}

export interface FindMatches extends Disposable {
  /** @throws SlowPattern: the search has ended, and pending calls find nothing */
  find(texts: readonly string[]): Matches | Promise<Matches>;
}

/** @throws SyntaxError if the regular expression is invalid */
export function matcherOf(query: FindQuery): FindMatches {
  const pattern = patternOf(query);
  if (query.regex) return new PatternThread(pattern, SOURCE);
  return { find: (texts) => texts.map((text) => matchesIn(pattern, text, MAX_MATCHES)), dispose: () => {} };
}

function patternOf({ text, matchCase, wholeWord, regex }: FindQuery): RegExp {
  const flags = matchCase ? 'gmu' : 'gimu';
  // A group could make an invalid expression valid: `a)(b`.
  if (regex) new RegExp(text, flags);
  const source = regex ? `(?:${text})` : literal(text);
  const begins = wholeWord && (regex || isWord(text.at(0)));
  const ends = wholeWord && (regex || isWord(text.at(-1)));
  const whole = `${begins ? `(?<!${WORD})` : ''}${source}${ends ? `(?!${WORD})` : ''}`;
  return new RegExp(whole, flags);
}

/** @throws SlowPattern, SyntaxError */
export async function isMatch(pattern: string, text: string): Promise<boolean> {
  const thread = new PatternThread(patternOfAgent(pattern), TEST_SOURCE);
  try {
    const [match] = await thread.find([text]);
    return match?.length !== 0;
  } finally {
    thread.dispose();
  }
}

/** JSON Schema requires Unicode mode, but some agents' patterns are invalid in it. */
function patternOfAgent(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    return new RegExp(source);
  }
}

/** Line breaks in a paragraph are shown as spaces. */
function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replaceAll(/\s+/g, '\\s+');
}

function isWord(char: string | undefined): boolean {
  return char !== undefined && /^[\p{L}\p{N}_]$/u.test(char);
}

/** Also runs in the thread, so it must not use anything from outside. */
function matchesIn(pattern: RegExp, text: string, limit: number): readonly number[] {
  const matches: number[] = [];
  pattern.lastIndex = 0;
  while (matches.length < 2 * limit) {
    const match = pattern.exec(text);
    if (!match) break;
    if (match[0] === '') pattern.lastIndex = match.index + ((text.codePointAt(match.index) ?? 0) > 0xffff ? 2 : 1);
    else matches.push(match.index, match[0].length);
  }
  return matches;
}

const HEAD = `
const { parentPort, workerData: { source, flags, most } } = require('node:worker_threads');
const pattern = new RegExp(source, flags);
const answer = (find) => parentPort.on('message', (texts) => parentPort.postMessage(texts.map(find)));
`;
const SOURCE = `${HEAD}
const matchesIn = ${matchesIn.toString()};
answer((text) => matchesIn(pattern, text, most));
`;
const TEST_SOURCE = `${HEAD}answer((text) => pattern.test(text) ? [0, 0] : []);`;

class PatternThread implements FindMatches {
  readonly #thread: Worker;
  #previous: Promise<unknown> = Promise.resolve();
  #hasEnded = false;

  constructor({ source, flags }: RegExp, script: string) {
    this.#thread = new Worker(script, { eval: true, workerData: { source, flags, most: MAX_MATCHES } });
    this.#thread.unref();
    this.#thread.on('error', () => {});
  }

  find(texts: readonly string[]): Promise<Matches> {
    const found = this.#previous.then(() => this.#ask(texts));
    this.#previous = found.catch(() => {});
    return found;
  }

  dispose(): void {
    this.#hasEnded = true;
    void this.#thread.terminate();
  }

  #ask(texts: readonly string[]): Promise<Matches> {
    if (this.#hasEnded) return Promise.resolve(texts.map(() => []));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => end(() => reject(new SlowPattern())), MAX_MS);
      const answer = (matches: Matches): void => end(() => resolve(matches));
      const over = (): void => end(() => (this.#hasEnded ? resolve(texts.map(() => [])) : reject(new SlowPattern())));
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        this.#thread.off('message', answer);
        this.#thread.off('exit', over);
        settle();
      };
      this.#thread.on('message', answer);
      this.#thread.on('exit', over);
      this.#thread.postMessage(texts);
    });
  }
}
