// Finds the commands that a line could run, for rules that narrow: in chains and substitutions,
// behind programs that run others, with quotes, escapes and options resolved. Anything unknown
// until the line runs matches whatever it could be.
import { matchesText } from '../requests/glob';
import { ADDS_WORDS, mayBeAlias, programName, runsArguments, runsInput, valuesOf } from './runners';
import { ANY, ANY_WORD, readLine, withoutPrefix } from './shellLine';

const MAX_DEPTH = 8;
const MAX_COMMANDS = 50_000;
const MAX_LINE = 200_000;
const MAX_WORDS = 60;
const MAX_DOUBTFUL = 6;

const BLANKS = /[\p{White_Space}\p{Cc}\u115f\u1160\u2800\u3164\uffa0]+/u;
const PROGRAM_VARIABLE = /^\w*(?:pager|editor|visual|command|cmd|shell|browser|askpass|wrapper|exec|ssh)\w*=(.*)$/is;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}+/u;

/** As lower-case texts with single spaces. */
export class CouldRun {
  readonly #texts = new Set<string>();
  #isReadable = true;

  constructor(lines: readonly (string | readonly string[])[]) {
    for (const line of lines) {
      this.#addLine(typeof line === 'string' ? line : line.join(' '), 0);
      if (typeof line !== 'string') this.#addCommand(line, 0);
    }
  }

  matches(pattern: string): boolean {
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
    for (const spelling of spellingsOf(line)) {
      // Again, ignoring quotes: it may be for another shell, or its input.
      for (const part of [spelling, ...spelling.split(/[;&|\n\r`(){}]+/)])
        this.#addCommand(part.split(BLANKS).filter(Boolean), depth, 'text');
      const { commands, inner, inputs, defines } = readLine(spelling);
      if (defines) this.#add(ANY);
      for (const part of inner) this.#addLine(part, depth + 1);
      for (const words of commands) this.#addCommand(words, depth, 'line', inputs);
      for (const input of inputs) for (const part of readLine(input).inner) this.#addLine(part, depth + 1);
    }
  }

  /**
   * @param place `text`: may not be a command, or was not read exactly; `tail`: another command may
   * run it
   */
  #addCommand(
    given: readonly string[],
    depth: number,
    place: 'line' | 'tail' | 'text' = 'line',
    inputs: readonly string[] = [],
  ): void {
    const words = withoutPrefix(given);
    const [first, ...args] = words;
    if (words.length < given.length) this.#add(given.join(' '));
    for (const word of given.slice(0, given.length - words.length)) {
      const value = PROGRAM_VARIABLE.exec(word)?.[1];
      if (value !== undefined && place !== 'text') this.#addLine(value, depth + 1);
    }
    if (first === undefined) return;
    const name = programName(first.replace(/^@/, ''));
    this.#add(words.join(' '));
    for (const rest of withoutOptions(name, args)) {
      this.#add([name, ...rest].join(' '));
      if (rest[0] !== undefined && mayBeAlias(name, rest[0])) this.#add(`${name} ${ANY}`);
    }
    if (place === 'text') return;
    const runs = isUnknown(name) ? 'words' : runsArguments(name, args);
    const isFed = runsInput(name, args);
    const isHidden =
      name === 'alias' || (/^(?:powershell|pwsh)$/.test(name) && args.some((arg) => /^[-/]e/i.test(arg)));
    if (isHidden || (isFed && inputs.length === 0)) this.#add(ANY);
    if (place === 'tail') {
      // Only a shell runs `.` as a builtin; elsewhere, it is a folder.
      if (runs === 'words' && name !== '.' && args.some(isUnknown)) this.#add(ANY);
      return;
    }
    this.#addAliases(first, args, depth);
    if (runs === 'words') this.#addTails(name, args, depth);
    if (runs !== undefined || isFed) this.#addArguments(args, inputs, runs === 'words' || !runs, depth);
  }

  /** Any tail of the arguments may be a command that the program runs. */
  #addTails(name: string, given: readonly string[], depth: number): void {
    // `parallel git ::: push`
    const args = given.filter((arg) => !/^:{3,4}\+?$/.test(arg));
    const adds = ADDS_WORDS.test(name);
    const option = name.endsWith('xargs') ? args.findIndex((arg) => /^(?:-I|-i.|--replace)/.test(arg)) : -1;
    const placeholder = /^(?:-I|-i|--replace=)(.+)/.exec(args[option] ?? '')?.[1] ?? args[option + 1];
    const names = option < 0 || placeholder === undefined ? ['{}'] : ['{}', placeholder];
    const filled = adds
      ? args.map((arg) => names.reduce((text, placeholder) => text.replaceAll(placeholder, ANY), arg))
      : args;
    let before = 0;
    for (const [at, arg] of filled.entries()) {
      const begins = at === 0 || /^-(?:exec|ok)/.test(args[at - 1] ?? '');
      if (begins) before = 0;
      const words = filled.slice(at);
      // After a second word that isn't an option, a program is unlikely; so is a filled-in file
      // after the first one.
      const place = before === 0 || (before === 1 && arg === args[at]) ? 'tail' : 'text';
      if (place === 'tail' || !isUnknown(arg)) this.#addCommand(adds ? [...words, ANY] : words, depth, place);
      const isValue = !begins && filled[at - 1]?.startsWith('-') === true;
      if (!isValue && !/^-|=|^[\d.]+[smhd]?$/.test(arg)) before++;
    }
  }

  #addArguments(args: readonly string[], inputs: readonly string[], areLines: boolean, depth: number): void {
    for (const [at, text] of [...args, ...inputs].entries()) {
      if (/^[\w./:=+@,~*?{}-]*$/.test(text)) continue;
      const line = text.replaceAll(ANY_WORD, ANY);
      if (areLines) {
        this.#addLine(line, depth + 1);
        const value = /^(?:-\w|--?[\w-]+=|[\w.-]+=)(.*)$/s.exec(line)?.[1];
        if (value !== undefined) this.#addLine(value, depth + 1);
      } else if (line === ANY && /^-\w*[ceEpr]$|^--(?:eval|print|command|execute)$/.test(args[at - 1] ?? ''))
        this.#add(ANY);
      // In another language, only the order of words is read.
      const code = line.split(/[^\w./:=+@~-]+/).filter(Boolean);
      for (let from = 0; from < code.length; from++) {
        const part = code.slice(from, from + MAX_WORDS);
        this.#addCommand(from + MAX_WORDS < code.length ? [...part, ANY] : part, depth, 'text');
      }
    }
  }

  /** `git -c alias.p=push`, `git config alias.p push`. */
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

function isUnknown(word: string): boolean {
  return word.includes(ANY) || word.includes(ANY_WORD);
}

function plainText(text: string): string {
  return text.toLowerCase().split(BLANKS).filter(Boolean).join(' ').replaceAll(ANY.toLowerCase(), ANY);
}

function spellingsOf(line: string): readonly string[] {
  const found = [line];
  if (INVISIBLE.test(line)) found.push(line.split(INVISIBLE).join(''), line.split(INVISIBLE).join(' '));
  if (line.includes('^')) found.push(line.replaceAll('^', ''));
  if (line.includes('`')) found.push(line.replaceAll('`', ''));
  return found;
}

/** Without the options before the subcommand, and without any. */
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

function globsOf(pattern: string): readonly string[] {
  const plain = plainText(pattern);
  const unquoted = plainText(pattern.replace(/["'\\]/g, ''));
  const [first = '', ...others] = unquoted.split(' ');
  const named = first.includes('*') ? unquoted : [programName(first), ...others].join(' ');
  const all = [pattern.toLowerCase(), plain, unquoted, named];
  // As in allowing rules, a final star may match no word.
  return [...new Set(all.flatMap((glob) => (glob.endsWith(' *') ? [glob, glob.slice(0, -2)] : [glob])))];
}

function couldMatch(glob: string, text: string): boolean {
  if (!text.includes(ANY) && !text.includes(ANY_WORD)) return matchesText(glob, text);
  // Lengths of glob prefixes that the text so far could match.
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
