// Matches an untrusted regular expression in time linear in the length of the text: all
// alternatives are followed in parallel, without backtracking. Single characters are matched by the
// platform's engine, so that classes and escapes have their standard meaning.

/** Limits of a pattern: characters of its source, steps after expanding its counts, and nesting. */
const MAX_SOURCE = 1000;
const MAX_STEPS = 4000;
const MAX_DEPTH = 100;

/** Tests a position, given the characters before and after it. */
type Assertion = (before: string | undefined, after: string | undefined) => boolean;

type Step =
  | { readonly op: 'char'; readonly fits: (char: string) => boolean }
  | { readonly op: 'assert'; readonly holds: Assertion }
  | { readonly op: 'split'; a: number; b: number }
  | { readonly op: 'jump'; to: number }
  | { readonly op: 'match' };

type Node =
  | { readonly type: 'char'; readonly fits: (char: string) => boolean }
  | { readonly type: 'assert'; readonly holds: Assertion }
  | { readonly type: 'all'; readonly parts: readonly Node[] }
  | { readonly type: 'any'; readonly parts: readonly Node[] }
  | { readonly type: 'repeat'; readonly part: Node; readonly min: number; readonly max: number };

class Unsupported extends Error {}

/**
 * Compiles an ECMA-262 pattern, as used in JSON Schema.
 * @returns a function that tells whether part of a text matches; undefined for an invalid or too
 * large pattern, and for one with lookaround or backreferences
 */
export function linearPattern(source: string): ((text: string) => boolean) | undefined {
  if (source.length > MAX_SOURCE) return undefined;
  const flags = ['u', ''].find((candidate) => isPattern(source, candidate));
  if (flags === undefined) return undefined;
  try {
    const program: Step[] = [];
    emit(new Parser(source, flags).parse(), program);
    program.push({ op: 'match' });
    return (text) => run(program, flags === 'u' ? [...text] : text.split(''));
  } catch (error) {
    if (error instanceof Unsupported) return undefined;
    throw error;
  }
}

function isPattern(source: string, flags: string): boolean {
  try {
    new RegExp(source, flags);
    return true;
  } catch {
    return false;
  }
}

const isWord = (char: string | undefined): boolean => char !== undefined && /^\w$/.test(char);

/**
 * Parses a source that the platform accepts as a pattern, so that syntax need not be validated
 * again.
 */
class Parser {
  readonly #source: string;
  readonly #flags: string;
  #at = 0;
  #depth = 0;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags;
  }

  parse(): Node {
    if (++this.#depth > MAX_DEPTH) throw new Unsupported();
    const ways: Node[] = [];
    let parts: Node[] = [];
    while (this.#at < this.#source.length && this.#source[this.#at] !== ')') {
      if (this.#source[this.#at] === '|') {
        this.#at++;
        ways.push({ type: 'all', parts });
        parts = [];
      } else parts.push(this.#counted(this.#atom()));
    }
    this.#depth--;
    ways.push({ type: 'all', parts });
    return ways.length === 1 ? (ways[0] as Node) : { type: 'any', parts: ways };
  }

  #atom(): Node {
    const char = this.#source[this.#at];
    switch (char) {
      case '(':
        return this.#group();
      case '^':
        this.#at++;
        return { type: 'assert', holds: (before) => before === undefined };
      case '$':
        this.#at++;
        return { type: 'assert', holds: (_, after) => after === undefined };
      case '[': {
        let end = this.#at + 1;
        while (this.#source[end] !== ']') end += this.#source[end] === '\\' ? 2 : 1;
        return this.#single(end + 1);
      }
      case '\\':
        return this.#escape();
      default: {
        const code = this.#source.codePointAt(this.#at) ?? 0;
        return this.#single(this.#at + (this.#flags === 'u' && code > 0xffff ? 2 : 1));
      }
    }
  }

  #group(): Node {
    const opening = /^\((?:\?:|\?<(?![=!])[^>]*>|(?!\?))/.exec(this.#source.slice(this.#at));
    if (!opening) throw new Unsupported();
    this.#at += opening[0].length;
    const inner = this.parse();
    this.#at++;
    return inner;
  }

  #escape(): Node {
    const rest = this.#source.slice(this.#at);
    if (/^\\[bB]/.test(rest)) {
      const wanted = rest[1] === 'b';
      this.#at += 2;
      return { type: 'assert', holds: (before, after) => (isWord(before) !== isWord(after)) === wanted };
    }
    if (/^\\([1-9]|k<)/.test(rest)) throw new Unsupported();
    const known =
      /^\\(?:u\{[\da-f]+\}|u[d][89ab][\da-f]{2}\\u[d][c-f][\da-f]{2}|u[\da-f]{4}|x[\da-f]{2}|[pP]\{[^}]*\}|c[a-z]|0[0-7]{0,2})/i.exec(
        rest,
      );
    const code = rest.codePointAt(1) ?? 0;
    return this.#single(this.#at + (known ? known[0].length : code > 0xffff && this.#flags === 'u' ? 3 : 2));
  }

  /** Returns a node for the source up to `end`, which stands for one character. */
  #single(end: number): Node {
    const source = this.#source.slice(this.#at, end);
    this.#at = end;
    if (!isPattern(source, this.#flags)) throw new Unsupported();
    const expression = new RegExp(`^(?:${source})$`, this.#flags);
    return { type: 'char', fits: (char) => expression.test(char) };
  }

  #counted(part: Node): Node {
    const count = /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/.exec(this.#source.slice(this.#at));
    if (!count) return part;
    this.#at += count[0].length;
    const [, sign, least, comma, most] = count;
    const min = sign ? (sign === '+' ? 1 : 0) : Number(least);
    const max = sign
      ? sign === '?'
        ? 1
        : Number.POSITIVE_INFINITY
      : comma
        ? most
          ? Number(most)
          : Number.POSITIVE_INFINITY
        : min;
    return { type: 'repeat', part, min, max };
  }
}

function emit(node: Node, program: Step[]): void {
  if (program.length > MAX_STEPS) throw new Unsupported();
  switch (node.type) {
    case 'char':
      program.push({ op: 'char', fits: node.fits });
      return;
    case 'assert':
      program.push({ op: 'assert', holds: node.holds });
      return;
    case 'all':
      for (const part of node.parts) emit(part, program);
      return;
    case 'any': {
      const ends: { op: 'jump'; to: number }[] = [];
      node.parts.forEach((part, index) => {
        const split = { op: 'split' as const, a: program.length + 1, b: 0 };
        if (index < node.parts.length - 1) program.push(split);
        emit(part, program);
        const end = { op: 'jump' as const, to: 0 };
        program.push(end);
        ends.push(end);
        split.b = program.length;
      });
      for (const end of ends) end.to = program.length;
      return;
    }
    case 'repeat':
      emitRepeat(node, program);
  }
}

function emitRepeat({ part, min, max }: Extract<Node, { type: 'repeat' }>, program: Step[]): void {
  for (let count = 0; count < min; count++) emit(part, program);
  if (max === Number.POSITIVE_INFINITY) {
    const split = { op: 'split' as const, a: program.length + 1, b: 0 };
    const start = program.length;
    program.push(split);
    emit(part, program);
    program.push({ op: 'jump', to: start });
    split.b = program.length;
    return;
  }
  const splits: { op: 'split'; a: number; b: number }[] = [];
  for (let count = min; count < max; count++) {
    const split = { op: 'split' as const, a: program.length + 1, b: 0 };
    program.push(split);
    splits.push(split);
    emit(part, program);
  }
  for (const split of splits) split.b = program.length;
}

/**
 * Follows all alternatives in parallel from every position. Takes at most the length of the text
 * times the number of steps.
 */
function run(program: readonly Step[], chars: readonly string[]): boolean {
  let reached = new Set<number>();
  for (let place = 0; place <= chars.length; place++) {
    const before = chars[place - 1];
    const after = chars[place];
    const waiting = [...reached, 0];
    const seen = new Set<number>();
    const next = new Set<number>();
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      const step = program[at];
      switch (step?.op) {
        case 'match':
          return true;
        case 'jump':
          waiting.push(step.to);
          break;
        case 'split':
          waiting.push(step.a, step.b);
          break;
        case 'assert':
          if (step.holds(before, after)) waiting.push(at + 1);
          break;
        case 'char':
          if (after !== undefined && step.fits(after)) next.add(at + 1);
          break;
      }
    }
    reached = next;
  }
  return false;
}
