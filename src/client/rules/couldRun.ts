// The commands that a line could run, for rules that narrow: in chains and substitutions, behind
// programs that run others, with quotes, escapes and options resolved. What is not known before the
// line runs fits whatever it could be.
import { matchesText } from './glob';
import { ADDS_WORDS, mayBeAlias, programName, runsArguments, runsInput, valuesOf } from './runners';
import { ANY, ANY_WORD, readLine, withoutPrefix } from './shellLine';

/** Lines within lines; deeper ones are not read. */
const MAX_DEPTH = 8;
/** Commands that one request could run; of more, none is read. */
const MAX_COMMANDS = 50_000;
const MAX_LINE = 200_000;
/** Words of code in another language that are looked at as one command. */
const MAX_WORDS = 60;
/** Options of a command that may take the next word along, or not. */
const MAX_DOUBTFUL = 6;

const BLANKS = /[\p{White_Space}\p{Cc}\u115f\u1160\u2800\u3164\uffa0]+/u;
const UNDRAWN = /\p{Default_Ignorable_Code_Point}+/u;

/** The commands of a request, as texts in small letters with single spaces. */
export class CouldRun {
  readonly #texts = new Set<string>();
  #isReadable = true;

  /** @param given lines, or commands as their words */
  constructor(given: readonly (string | readonly string[])[]) {
    for (const one of given) {
      this.#addLine(typeof one === 'string' ? one : one.join(' '), 0);
      if (typeof one !== 'string') this.#addCommand(one, 0);
    }
  }

  /** Returns whether a pattern of a rule could be one of the commands. */
  fits(pattern: string): boolean {
    if (this.#texts.size === 0) return false;
    if (!this.#isReadable) return true;
    const globs = globsOf(pattern);
    for (const text of this.#texts) if (globs.some((glob) => couldMatch(glob, text))) return true;
    return false;
  }

  #addLine(line: string, depth: number): void {
    if (line.length > MAX_LINE || depth > MAX_DEPTH) {
      this.#add(ANY);
      this.#isReadable = false;
      return;
    }
    for (const one of spellingsOf(line)) {
      // Once more without a look at quotes: it may be another shell, or the input of one.
      for (const part of [one, ...one.split(/[;&|\n\r`(){}]+/)])
        this.#addCommand(part.split(BLANKS).filter(Boolean), depth, true);
      const { commands, inner, inputs, defines } = readLine(one);
      if (defines) this.#add(ANY);
      for (const part of inner) this.#addLine(part, depth + 1);
      for (const words of commands) this.#addCommand(words, depth, false, inputs);
      for (const input of inputs) for (const part of readLine(input).inner) this.#addLine(part, depth + 1);
    }
  }

  /**
   * @param isPart it may be no command: the words are a part of another one, or were not read exactly
   * @param inputs what it may read
   */
  #addCommand(given: readonly string[], depth: number, isPart = false, inputs: readonly string[] = []): void {
    const words = withoutPrefix(given);
    const [first, ...args] = words;
    if (words.length < given.length) this.#add(given.join(' '));
    if (first === undefined) return;
    const name = programName(first.replace(/^@/, ''));
    this.#add(words.join(' '));
    for (const rest of withoutOptions(name, args)) {
      this.#add([name, ...rest].join(' '));
      if (rest[0] !== undefined && mayBeAlias(name, rest[0])) this.#add(`${name} ${ANY}`);
    }
    if (isPart) return;
    this.#addAliases(first, args, depth);
    const isUnknown = name.includes(ANY) || name.includes(ANY_WORD);
    if (name === 'alias' || (/^(?:powershell|pwsh)$/.test(name) && args.some((arg) => /^[-/]e/i.test(arg))))
      this.#add(ANY);
    const isRun = runsInput(name, args);
    if (isRun && inputs.length === 0) this.#add(ANY);
    if (isUnknown || isRun || runsArguments(name, args)) this.#addArguments(name, args, depth, inputs);
  }

  /** Adds what a program runs of its arguments: any of their ends, and each line in them. */
  #addArguments(name: string, args: readonly string[], depth: number, inputs: readonly string[]): void {
    const more = ADDS_WORDS.test(name);
    const placeholder = /^(?:-I|-i|--replace=)(.+)/.exec(
      args.find((arg) => /^(?:-I|-i|--replace=)./.test(arg)) ?? '',
    )?.[1];
    const named = placeholder ?? args[args.indexOf('-I') + 1] ?? '{}';
    const filled = more ? args.map((arg) => arg.replaceAll('{}', ANY).replaceAll(named || '{}', ANY)) : args;
    for (let at = 0; at < filled.length; at++) {
      const words = filled.slice(at);
      this.#addCommand(more ? [...words, ANY] : words, depth, true);
    }
    for (const text of [...args, ...inputs]) {
      if (/^[\w./:=+@,~-]*$/.test(text)) continue;
      const line = text.replaceAll(ANY_WORD, ANY);
      this.#addLine(line, depth + 1);
      const value = /^(?:-\w|--?[\w-]+=|[\w.-]+=)(.*)$/s.exec(line)?.[1];
      if (value !== undefined) this.#addLine(value, depth + 1);
      // Of another language only the words are read, in their order.
      const code = line.split(/[^\w./:=+@~\-\uE000\uE001]+/).filter(Boolean);
      for (let at = 0; at < code.length; at++) {
        const part = code.slice(at, at + MAX_WORDS);
        this.#addCommand(at + MAX_WORDS < code.length ? [...part, ANY] : part, depth, true);
      }
    }
  }

  /** Adds what a program is told to call otherwise: `git -c alias.p=push`, `git config alias.p push`. */
  #addAliases(program: string, args: readonly string[], depth: number): void {
    for (const [at, arg] of args.entries()) {
      const value =
        /^(?:--config=|-c)?alias\.[^=]*=(.*)$/s.exec(arg)?.[1] ?? (/^alias\./.test(arg) ? args[at + 1] : undefined);
      const set = arg === 'alias' && args[at + 1] === 'set' ? args.at(-1) : undefined;
      for (const text of [value, set]) {
        if (text === undefined) continue;
        if (text.startsWith('!')) this.#addLine(text.slice(1), depth + 1);
        else for (const words of readLine(text).commands) this.#addCommand([program, ...words, ANY], depth);
      }
    }
  }

  #add(text: string): void {
    if (this.#texts.size < MAX_COMMANDS) this.#texts.add(plainText(text));
    else this.#isReadable = false;
  }
}

function plainText(text: string): string {
  return text.toLowerCase().split(BLANKS).filter(Boolean).join(' ').replaceAll(ANY.toLowerCase(), ANY);
}

/** The spellings of a line that some shell takes for the same. */
function spellingsOf(line: string): readonly string[] {
  const found = [line];
  if (UNDRAWN.test(line)) found.push(line.split(UNDRAWN).join(''), line.split(UNDRAWN).join(' '));
  // The escapes of cmd and of PowerShell.
  if (line.includes('^')) found.push(line.replaceAll('^', ''));
  if (line.includes('`')) found.push(line.replaceAll('`', ''));
  return found;
}

/** The arguments of a command as they would be without the options before its subcommand, and without any. */
function withoutOptions(name: string, args: readonly string[]): readonly (readonly string[])[] {
  const found: (readonly string[])[] = [args];
  const begin = (at: number, doubtful: number): void => {
    let next = at;
    for (; args[next]?.startsWith('-'); next++) {
      const option = args[next] ?? '';
      const values = valuesOf(name, option);
      if (values === 1) next++;
      const value = args[next + 1];
      if (values !== undefined || value === undefined || value.startsWith('-') || doubtful >= MAX_DOUBTFUL) continue;
      begin(next + 2, doubtful + 1);
    }
    const rest = args.slice(next);
    if (next > 0) found.push(rest);
    if (rest.some((word) => word.startsWith('-'))) found.push(rest.filter((word) => !word.startsWith('-')));
  };
  begin(0, 0);
  return found;
}

/** A pattern as it is written, and as the commands are. */
function globsOf(pattern: string): readonly string[] {
  const plain = plainText(pattern);
  const unquoted = plainText(pattern.replace(/["'\\]/g, ''));
  const [first = '', ...others] = unquoted.split(' ');
  const named = first.includes('*') ? unquoted : [programName(first), ...others].join(' ');
  const all = [pattern.toLowerCase(), plain, unquoted, named];
  // As in a rule that allows, a star as the last word stands for no word too.
  return [...new Set(all.flatMap((one) => (one.endsWith(' *') ? [one, one.slice(0, -2)] : [one])))];
}

/** Returns whether a text could fit a glob whose `*` stands for any text. */
function couldMatch(glob: string, text: string): boolean {
  if (!text.includes(ANY) && !text.includes(ANY_WORD)) return matchesText(glob, text);
  // The lengths of the glob's beginnings that the text so far could fit.
  let ends = new Set([0]);
  const passStars = (): void => {
    for (const end of ends) if (glob[end] === '*') ends.add(end + 1);
  };
  passStars();
  for (const char of text) {
    const next = new Set<number>();
    for (const end of ends) {
      if (glob[end] === '*') next.add(end);
      if (glob[end] === char) next.add(end + 1);
      if (char !== ANY && char !== ANY_WORD) continue;
      for (let to = end; to <= glob.length; to++) {
        next.add(to);
        if (char === ANY_WORD && glob[to] === ' ') break;
      }
    }
    ends = next;
    passStars();
    if (ends.size === 0) return false;
  }
  return ends.has(glob.length);
}
