// Parses a command line as shells do, for rules that must not miss a command in it. Parts that
// are unknown until it runs become placeholders for any text.

/** Any text. From the private use area, so no command contains it. */
export const ANY = '\uE001';
export const ANY_WORD = '\uE000';

/** Word separators of some shell, and look-alikes. */
const BLANK = /[\p{Zs}\p{Cc}\u115f\u1160\u2800\u3164\uffa0]/u;
const LINE_BREAK = /[\n\r\u0085\u2028\u2029]/;
const RESERVED = /^(?:if|then|elif|else|fi|do|done|while|until|for|select|case|esac|in|function|!|\{|\}|\[\[|\]\]|@)$/;
const ASSIGNMENT = /^[A-Za-z_\uE000\uE001][\w\uE000\uE001]*(?:\[[^\]]*\])?\+?=/;

export interface ReadLine {
  /** With quotes and escapes resolved. */
  readonly commands: readonly (readonly string[])[];
  /** Lines in command substitutions. */
  readonly inner: readonly string[];
  readonly inputs: readonly string[];
  /** The line redefines names, so any command may be any other. */
  readonly defines: boolean;
}

/** Never fails: errors separate commands. */
export function readLine(line: string): ReadLine {
  const reader = new Reader(line);
  reader.read();
  return reader;
}

export function withoutPrefix(words: readonly string[]): readonly string[] {
  const at = words.findIndex((word) => word !== '' && !RESERVED.test(word) && !ASSIGNMENT.test(word));
  return at < 0 ? [] : words.slice(at);
}

class Reader implements ReadLine {
  readonly commands: string[][] = [];
  readonly inner: string[] = [];
  readonly inputs: string[] = [];
  defines = false;
  readonly #line: string;
  #at = 0;
  #words: string[] = [];
  #word: string | undefined;
  /** The next word is the target of a redirection, or the end mark of an input. */
  #target: 'file' | 'end' | undefined;
  /** End marks of inputs that begin on the next line. */
  #ends: string[] = [];

  constructor(line: string) {
    this.#line = line;
  }

  read(): void {
    while (this.#at < this.#line.length) this.#step();
    this.#endCommand();
  }

  #step(): void {
    const rest = this.#line;
    const char = rest[this.#at] ?? '';
    const next = rest[this.#at + 1] ?? '';
    if (char === '\\') {
      this.#at += 2;
      if (!LINE_BREAK.test(next)) this.#add(next);
    } else if (LINE_BREAK.test(char)) {
      this.#at++;
      this.#endLine();
    } else if (/[;|()]/.test(char) || (char === '&' && next !== '>')) {
      if (char === '(' && /^\(\s*\)/.test(rest.slice(this.#at, this.#at + 20))) this.defines = true;
      this.#at++;
      this.#endCommand();
    } else if (BLANK.test(char)) {
      this.#at++;
      this.#endWord();
    } else if (char === "'") this.#single();
    else if (char === '"') this.#double();
    else if (char === '`') this.#backquoted(ANY);
    else if (char === '$') this.#dollar(false);
    else if (char === '<' || char === '>' || char === '&') this.#redirection();
    else if (char === '{') this.#brace();
    else if (char === '*') this.#add('', ANY, 1);
    else if (char === '?' || (char === '[' && rest.indexOf(']', this.#at) > 0)) {
      const end = char === '?' ? this.#at : rest.indexOf(']', this.#at);
      const isOne = !/[\s;&|]/.test(rest.slice(this.#at, end));
      this.#add(isOne ? '' : char, isOne ? ANY_WORD : '', isOne ? end + 1 - this.#at : 1);
    } else if (char === '%') {
      const name = /^%\w+(?::[^%]*)?%/.exec(rest.slice(this.#at, this.#at + 200))?.[0];
      this.#add(name ? '' : char, name ? ANY : '', name?.length ?? 1);
    } else this.#add(char, '', 1);
  }

  #add(text: string, sign = '', length = 0): void {
    this.#word = (this.#word ?? '') + text + sign;
    this.#at += length;
  }

  #endWord(): void {
    const word = this.#word;
    this.#word = undefined;
    if (word === undefined) return;
    if (this.#target === undefined) this.#words.push(word);
    else if (this.#target === 'end') this.#ends.push(word);
    this.#target = undefined;
  }

  #endCommand(): void {
    this.#endWord();
    this.#target = undefined;
    if (this.#words.length > 0) this.commands.push(this.#words);
    this.#words = [];
  }

  #endLine(): void {
    this.#endCommand();
    for (const end of this.#ends.splice(0)) {
      const lines = this.#line.slice(this.#at).split('\n');
      const last = lines.findIndex((line) => line.trim() === end);
      const text = lines.slice(0, last < 0 ? undefined : last).join('\n');
      this.inputs.push(text);
      this.#at += text.length + (last < 0 ? 0 : 1 + (lines[last]?.length ?? 0) + 1);
    }
  }

  #single(): void {
    const end = this.#line.indexOf("'", this.#at + 1);
    this.#add(this.#line.slice(this.#at + 1, end < 0 ? undefined : end));
    this.#at = end < 0 ? this.#line.length : end + 1;
  }

  #double(): void {
    this.#at++;
    this.#add('');
    while (this.#at < this.#line.length) {
      const char = this.#line[this.#at] ?? '';
      const next = this.#line[this.#at + 1] ?? '';
      if (char === '"') {
        this.#at++;
        return;
      }
      if (char === '\\' && /["\\$`\n]/.test(next)) this.#add(next === '\n' ? '' : next, '', 2);
      else if (char === '`') this.#backquoted(ANY_WORD);
      else if (char === '$') this.#dollar(true);
      else this.#add(char, '', 1);
    }
  }

  #backquoted(sign: string): void {
    const begin = ++this.#at;
    while (this.#at < this.#line.length && this.#line[this.#at] !== '`')
      this.#at += this.#line[this.#at] === '\\' ? 2 : 1;
    this.inner.push(this.#line.slice(begin, this.#at).replace(/\\([\\`$])/g, '$1'));
    this.#add('', sign, 1);
  }

  #dollar(isQuoted: boolean): void {
    const rest = this.#line.slice(this.#at, this.#at + 200);
    const sign = isQuoted && !/^\$(?:@|\{[^}]*[@*])/.test(rest) ? ANY_WORD : ANY;
    if (!isQuoted && rest.startsWith("$'")) this.#ansi();
    else if (!isQuoted && rest.startsWith('$"')) this.#at++;
    else if (rest.startsWith('$(')) this.#enclosed('(', ')', sign);
    else if (rest.startsWith('${')) this.#enclosed('{', '}', sign);
    else {
      const name = /^\$(?:\w+|[@*#?!$-])/.exec(rest)?.[0];
      this.#add(name ? '' : '$', name ? sign : '', name?.length ?? 1);
    }
  }

  #enclosed(open: string, close: string, sign: string): void {
    this.#at += 2;
    const begin = this.#at;
    let depth = 1;
    let quote = '';
    for (; this.#at < this.#line.length; this.#at++) {
      const char = this.#line[this.#at] ?? '';
      if (char === '\\' && quote !== "'") this.#at++;
      else if (quote !== '') quote = char === quote ? '' : quote;
      else if (char === "'" || char === '"') quote = char;
      else if (char === open) depth++;
      else if (char === close && --depth === 0) break;
    }
    const text = this.#line.slice(begin, this.#at);
    // `${X:-text}`: the text applies if X is unset.
    this.inner.push(open === '(' ? text : text.replace(/^[^-+=?]*[-+=?]?/, ''));
    this.#add('', sign, 1);
  }

  /** `$'…'`, with the escapes of C. */
  #ansi(): void {
    this.#at += 2;
    const begin = this.#at;
    while (this.#at < this.#line.length && this.#line[this.#at] !== "'")
      this.#at += this.#line[this.#at] === '\\' ? 2 : 1;
    this.#add(decoded(this.#line.slice(begin, this.#at)));
    this.#at++;
  }

  #redirection(): void {
    const whole = /^(?:&>>?|<<<|<<-?|<&|<>|>>|>&|>\||<|>)/.exec(this.#line.slice(this.#at, this.#at + 3))?.[0] ?? '&';
    this.#at += whole.length;
    if (this.#word !== undefined && /^\d+$/.test(this.#word)) this.#word = undefined;
    if (this.#line[this.#at] === '(' && whole.length === 1) {
      this.#at--;
      this.#enclosed('(', ')', ANY_WORD);
    } else {
      this.#endWord();
      // The text after `<<<` counts as a word: the command may run it.
      if (whole !== '<<<') this.#target = whole.startsWith('<<') ? 'end' : 'file';
    }
  }

  /** `{a,b}` becomes several words; a lone brace groups commands. */
  #brace(): void {
    const whole = /^\{[^{}\s]*(?:\{[^{}\s]*\}[^{}\s]*)*\}/.exec(this.#line.slice(this.#at, this.#at + 1000))?.[0];
    if (whole !== undefined && /,|\.\./.test(whole)) this.#add('', ANY, whole.length);
    else this.#add('{', '', 1);
  }
}

function decoded(text: string): string {
  const codes: Readonly<Record<string, string>> = {
    n: '\n',
    t: ' ',
    r: '\n',
    e: '',
    E: '',
    a: '',
    b: '',
    f: ' ',
    v: ' ',
  };
  return text.replace(
    /\\(?:x([0-9a-f]{1,2})|u([0-9a-f]{1,4})|U([0-9a-f]{1,8})|([0-7]{1,3})|c.|(.))/gis,
    (_, hex?: string, short?: string, long?: string, octal?: string, other?: string) => {
      const code = hex ?? short ?? long;
      if (code !== undefined) return charOf(Number.parseInt(code, 16));
      if (octal !== undefined) return charOf(Number.parseInt(octal, 8) & 0xff);
      return other === undefined ? '' : (codes[other] ?? other);
    },
  );
}

function charOf(code: number): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
}
