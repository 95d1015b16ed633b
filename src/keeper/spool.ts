// A bounded queue of output that no window has stored: the newest in memory, the rest in files.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Progress, SpoolIndex, SpoolSegment } from './wire';

const NEWLINE = 0x0a;
export const SEGMENT_BYTES = 256 * 1024;
const SPILL_ABOVE_SEGMENTS = 8;
const MAX_MEMORY_SEGMENTS = 16;
const RETRY_MS = 5_000;

interface Segment extends SpoolSegment {
  length: number;
  lines: number;
  endsLine: boolean;
  bytes: Buffer | undefined;
  file: string | undefined;
}

export interface SpoolPart {
  readonly bytes: Buffer;
  readonly next: number;
}

export interface SpoolOptions {
  readonly folder: string;
  readonly maxBytes: number;
  readonly onRoom: () => void;
}

export class Spool {
  readonly #options: SpoolOptions;
  #segments: Segment[] = [];
  /** Total bytes of output so far. */
  end = 0;
  lines = 0;
  /** Retained bytes. */
  bytes = 0;
  stored: Progress = { line: 0, open: [] };
  #isSpilling = false;
  #isSaved = false;
  #wasFull = false;

  constructor(options: SpoolOptions, index?: SpoolIndex) {
    this.#options = options;
    if (!index) return;
    this.stored = index.stored;
    this.end = index.end;
    this.#segments = index.segments.map((segment) => ({ ...segment, bytes: undefined, file: this.#fileOf(segment) }));
    const last = this.#segments.at(-1);
    this.lines = last ? last.linesBefore + last.lines : index.stored.line;
  }

  get isEmpty(): boolean {
    return this.stored.line >= this.lines && this.endsLine;
  }

  /** Whether the output is empty or ends with a line break. */
  get endsLine(): boolean {
    return this.#segments.at(-1)?.endsLine ?? true;
  }

  get isFull(): boolean {
    this.#wasFull = this.bytes >= this.#options.maxBytes || this.#fullSegmentsInMemory.length > MAX_MEMORY_SEGMENTS;
    return this.#wasFull;
  }

  append(chunk: Buffer): void {
    for (let from = 0; from < chunk.length; ) {
      const segment = this.#appendableSegment();
      const part = chunk.subarray(from, from + SEGMENT_BYTES - segment.length);
      segment.bytes?.set(part, segment.length);
      segment.length += part.length;
      const lines = countLineBreaks(part);
      segment.lines += lines;
      segment.endsLine = part.at(-1) === NEWLINE;
      this.lines += lines;
      this.end += part.length;
      this.bytes += part.length;
      from += part.length;
    }
    this.#spill();
  }

  /** Returns at most one segment; undefined at the end. Rejects if a file can't be read. */
  read(offset: number): SpoolPart | Promise<SpoolPart | undefined> | undefined {
    const segment = this.#segments.find((segment) => segment.start + segment.length > offset);
    if (!segment) return undefined;
    const from = Math.max(0, offset - segment.start);
    const next = segment.start + segment.length;
    if (segment.bytes) return { bytes: segment.bytes.subarray(from, segment.length), next };
    return this.#readFile(segment, from);
  }

  async startOf(line: number): Promise<number> {
    const found = await this.#find(line);
    return found ? found.offset + found.from : this.end;
  }

  async line(line: number): Promise<Buffer | undefined> {
    const found = await this.#find(line);
    if (!found) return undefined;
    const to = found.bytes.indexOf(NEWLINE, found.from);
    return to === -1 ? undefined : found.bytes.subarray(found.from, to + 1);
  }

  store({ line, open }: Progress): void {
    if (line < this.stored.line) return;
    this.stored = { line: Math.min(line, this.lines), open: open.filter((number) => number <= line) };
    const last = this.#segments.at(-1);
    this.#segments = this.#segments.filter((segment) => {
      // A segment with free space is still appended to.
      if ((segment === last && segment.length < SEGMENT_BYTES) || this.#isNeeded(segment)) return true;
      this.bytes -= segment.length;
      if (segment.file !== undefined) void rm(segment.file, { force: true }).catch(() => {});
      return false;
    });
    this.#notifyRoom();
  }

  /** @throws Error if the file is missing but still needed */
  async #readFile(segment: Segment, from: number): Promise<SpoolPart | undefined> {
    const next = segment.start + segment.length;
    try {
      return { bytes: (await readSegment(segment)).subarray(from), next };
    } catch (error) {
      if (this.#segments.includes(segment)) throw error;
      return this.read(next);
    }
  }

  async save(): Promise<SpoolIndex> {
    this.#isSaved = true;
    const needed = this.#segments.filter((segment) => segment.length > 0 && this.#isNeeded(segment));
    for (const segment of needed) {
      if (!segment.bytes) continue;
      await writeFile(this.#fileOf(segment), segment.bytes.subarray(0, segment.length), { mode: 0o600 });
    }
    const segments = needed.map(({ bytes: _, file: __, ...index }) => index);
    return { stored: this.stored, end: this.end, segments };
  }

  #fileOf({ start }: SpoolSegment): string {
    return join(this.#options.folder, `output-${start}`);
  }

  get #fullSegmentsInMemory(): readonly Segment[] {
    return this.#segments.filter((segment) => segment.bytes !== undefined && segment.length === SEGMENT_BYTES);
  }

  #appendableSegment(): Segment {
    const last = this.#segments.at(-1);
    if (last?.bytes && last.length < SEGMENT_BYTES) return last;
    const segment: Segment = {
      start: this.end,
      linesBefore: this.lines,
      length: 0,
      lines: 0,
      endsLine: this.endsLine,
      bytes: Buffer.allocUnsafeSlow(SEGMENT_BYTES),
      file: undefined,
    };
    this.#segments.push(segment);
    return segment;
  }

  #isNeeded(segment: Segment): boolean {
    const { line, open } = this.stored;
    const last = segment.linesBefore + segment.lines;
    return last > line || (last === line && !segment.endsLine) || open.some((number) => overlaps(segment, number));
  }

  async #find(line: number): Promise<{ bytes: Buffer; offset: number; from: number } | undefined> {
    if (line > this.lines + 1) return undefined;
    const segments = this.#segments.filter((segment) => overlaps(segment, line));
    const [first] = segments;
    if (!first) return undefined;
    const bytes = Buffer.concat(await Promise.all(segments.map(readSegment)));
    let from = 0;
    for (let left = line - 1 - first.linesBefore; left > 0; left--) from = bytes.indexOf(NEWLINE, from) + 1;
    return { bytes, offset: first.start, from };
  }

  #spill(): void {
    const full = this.#fullSegmentsInMemory;
    const [oldest] = full;
    if (this.#isSaved || this.#isSpilling || !oldest?.bytes || full.length <= SPILL_ABOVE_SEGMENTS) return;
    this.#isSpilling = true;
    const file = this.#fileOf(oldest);
    writeFile(file, oldest.bytes, { mode: 0o600 }).then(
      () => {
        this.#isSpilling = false;
        if (this.#segments.includes(oldest)) {
          oldest.file = file;
          oldest.bytes = undefined;
        } else void rm(file, { force: true }).catch(() => {});
        this.#spill();
        this.#notifyRoom();
      },
      () => {
        // The disk is full: the agent waits, and nothing is lost.
        if (!this.#isSaved) void rm(file, { force: true }).catch(() => {});
        setTimeout(() => {
          this.#isSpilling = false;
          this.#spill();
          this.#notifyRoom();
        }, RETRY_MS);
      },
    );
  }

  #notifyRoom(): void {
    if (this.#wasFull && !this.isFull) this.#options.onRoom();
  }
}

function overlaps({ linesBefore, lines }: Segment, line: number): boolean {
  return linesBefore < line && line <= linesBefore + lines + 1;
}

async function readSegment(segment: Segment): Promise<Buffer> {
  if (segment.bytes) return segment.bytes.subarray(0, segment.length);
  return readFile(segment.file ?? '');
}

function countLineBreaks(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}
