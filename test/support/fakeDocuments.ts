// Text documents of an editor in plain Node, as VS Code keeps them: one kind of line end, an
// encoding, savers of the user, and the disk that is followed when a test says so.
import { strict as assert } from 'node:assert';
import { readFileSync, writeFileSync } from 'node:fs';

interface FakeUri {
  readonly scheme: 'file';
  readonly fsPath: string;
}

interface FakePosition {
  readonly offset: number;
}

export const fileUri = (fsPath: string): FakeUri => ({ scheme: 'file', fsPath });

export class FakeRange {
  readonly start: FakePosition;
  readonly end: FakePosition;

  constructor(start: FakePosition, end: FakePosition) {
    this.start = start;
    this.end = end;
  }
}

export class FakeWorkspaceEdit {
  made: { readonly path: string; readonly range: FakeRange; readonly text: string } | undefined;

  replace({ fsPath: path }: FakeUri, range: FakeRange, text: string): void {
    this.made = { path, range, text };
  }
}

export const EndOfLine = { LF: 1, CRLF: 2 } as const;

const MARKS: Readonly<Record<string, readonly number[]>> = {
  utf8bom: [0xef, 0xbb, 0xbf],
  utf16le: [0xff, 0xfe],
};

function encode(text: string, encoding: string): Buffer {
  const mark = Buffer.from(MARKS[encoding] ?? []);
  if (encoding === 'utf16le') return Buffer.concat([mark, Buffer.from(text, 'utf16le')]);
  if (encoding !== 'windows1252' && encoding !== 'iso88591') return Buffer.concat([mark, Buffer.from(text)]);
  return Buffer.from([...text].map((one) => (one.charCodeAt(0) > 0xff ? '?' : one)).join(''), 'latin1');
}

function decode(bytes: Uint8Array, encoding: string): string {
  const all = Buffer.from(bytes);
  if (encoding === 'utf16le') return all.toString('utf16le').replace(/^\ufeff/, '');
  if (encoding === 'windows1252' || encoding === 'iso88591') return all.toString('latin1');
  return all.toString('utf8').replace(/^\ufeff/, '');
}

function markedAs(bytes: Uint8Array): string | undefined {
  return Object.keys(MARKS).find((name) => MARKS[name]!.every((byte, at) => bytes[at] === byte));
}

export class FakeDocument {
  readonly uri: FakeUri;
  readonly encoding: string;
  readonly eol: number;
  readonly isClosed = false;
  isDirty = false;
  version = 1;
  #text = '';
  #bytes: Buffer;
  readonly #savers: readonly ((text: string) => string)[];

  constructor(path: string, encoding: string, savers: readonly ((text: string) => string)[]) {
    this.uri = fileUri(path);
    this.#savers = savers;
    this.#bytes = readFileSync(path);
    this.encoding = markedAs(this.#bytes) ?? encoding;
    const text = decode(this.#bytes, this.encoding);
    this.eol = text.split('\r\n').length * 2 > text.split('\n').length + 1 ? EndOfLine.CRLF : EndOfLine.LF;
    this.#text = this.#normal(text);
  }

  getText(): string {
    return this.#text;
  }

  positionAt(offset: number): FakePosition {
    return { offset };
  }

  type(text: string): void {
    this.#text = this.#normal(text);
    this.isDirty = true;
    this.version++;
  }

  async save(): Promise<boolean> {
    await Promise.resolve();
    for (const saver of this.#savers) this.#text = this.#normal(saver(this.#text));
    const bytes = encode(this.#text, this.encoding);
    const onDisk = readFileSync(this.uri.fsPath);
    if (!onDisk.equals(this.#bytes) && !onDisk.equals(bytes)) return false;
    writeFileSync(this.uri.fsPath, bytes);
    this.#bytes = bytes;
    this.isDirty = false;
    return true;
  }

  follow(): void {
    if (this.isDirty) return;
    this.#bytes = readFileSync(this.uri.fsPath);
    this.#text = this.#normal(decode(this.#bytes, this.encoding));
    this.version++;
  }

  #normal(text: string): string {
    const plain = text.replace(/\r\n?/g, '\n');
    return this.eol === EndOfLine.CRLF ? plain.replaceAll('\n', '\r\n') : plain;
  }
}

export class FakeDocuments {
  textDocuments: FakeDocument[] = [];
  /** `files.encoding`. */
  configured = 'utf8';
  savers: readonly ((text: string) => string)[] = [
    (text) => text.replace(/[ \t]+(?=\r?\n|$)/g, ''),
    (text) => (text === '' || text.endsWith('\n') ? text : `${text}\n`),
  ];
  beforeEdit: (() => void) | undefined;

  open(path: string): FakeDocument {
    const document = new FakeDocument(path, this.configured, this.savers);
    this.textDocuments.push(document);
    return document;
  }

  openTextDocument(): never {
    assert.fail('a look opens no document');
  }

  async encode(text: string, how: { readonly encoding?: string }): Promise<Uint8Array> {
    return encode(text, how.encoding ?? this.configured);
  }

  async decode(bytes: Uint8Array, how: { readonly encoding?: string }): Promise<string> {
    const encoding = how.encoding ?? markedAs(bytes) ?? this.configured;
    if (encoding !== 'utf16le' && bytes.includes(0)) throw new Error('binary');
    return decode(bytes, encoding);
  }

  async applyEdit({ made }: FakeWorkspaceEdit): Promise<boolean> {
    const document = this.textDocuments.find(({ uri }) => uri.fsPath === made?.path);
    const version = document?.version;
    this.beforeEdit?.();
    if (!document || !made || document.version !== version) return false;
    const { start, end } = made.range;
    const text = document.getText();
    document.type(text.slice(0, start.offset) + made.text + text.slice(end.offset));
    return true;
  }
}
