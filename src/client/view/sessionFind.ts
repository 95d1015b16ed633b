// Searches a whole session for a text, a few milliseconds at a time, and updates the result as the
// session continues. The panel receives the number of matches of each entry.
import { plainOutput } from '../../base/ansi';
import type { Disposable } from '../../base/disposable';
import { localize } from '../../base/localizable';
import type { FindQuery, SessionMessage, ToWebview } from '../../panel/contract';
import type { ContentBlock, ToolContent } from '../../session/events/content';
import { changedLines } from '../../session/model/changedLines';
import { Changes } from '../../session/model/changes';
import type { Entry, SessionState, ToolEntry } from '../../session/model/state';
import type { Conversation } from '../conversation/conversation';
import { type FindMatches, matcherOf, SlowPattern } from '../requests/findPattern';
import { noticeTexts } from './ownTexts';
import { labelOf } from './projectItem';
import { printedIn, shownContent, titleOf } from './toolCall';

const SLICE_MS = 8;
const SLICE_CHARS = 64 * 1024;
const CHANGES_MS = 150;

export type FindSource = Pick<Conversation, 'model' | 'whole' | 'roots'>;

type FindRequest = Extract<SessionMessage, { type: 'find' }>;
type FindProblem = NonNullable<Extract<ToWebview, { type: 'found' }>['problem']>;

export class SessionFind implements Disposable {
  readonly #source: FindSource;
  readonly #id: number;
  readonly #from: number;
  readonly #post: (message: ToWebview) => void;
  readonly #changes = new Changes(() => this.#wake());
  readonly #counts = new Map<number, number>();
  readonly #showing = new Map<string, Set<number>>();
  readonly #pending = new Set<number>();
  #matches: FindMatches | undefined;
  #observing: Disposable | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isWorking = false;
  #isDisposed = false;

  constructor(source: FindSource, { id, query, from }: FindRequest, post: (message: ToWebview) => void) {
    this.#source = source;
    this.#id = id;
    this.#from = from;
    this.#post = post;
    this.#matches = this.#matcherOf(query);
    if (this.#matches) void this.#begin();
  }

  async findIn({ request, texts }: Extract<SessionMessage, { type: 'findIn' }>): Promise<void> {
    const ranges = await this.#matchesIn(texts);
    if (ranges && !this.#isDisposed) this.#post({ type: 'foundIn', id: this.#id, request, ranges });
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#matches?.dispose();
    this.#matches = undefined;
    this.#observing?.dispose();
    clearTimeout(this.#timer);
  }

  async #begin(): Promise<void> {
    await this.#source.whole;
    if (this.#isDisposed) return;
    this.#observing = this.#source.model.observe(this.#changes);
    this.#restart();
  }

  /** Searches from where the reader is to the end, then backwards from there. */
  #restart(): void {
    this.#changes.reset();
    this.#counts.clear();
    this.#pending.clear();
    const { length } = this.#source.model.state.entries;
    const from = Math.min(this.#from, Math.max(0, length - 1));
    for (let index = from; index < length; index++) this.#pending.add(index);
    for (let index = from - 1; index >= 0; index--) this.#pending.add(index);
    void this.#work(true);
  }

  #wake(): void {
    if (this.#isWorking || this.#isDisposed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#takeChanges();
    }, CHANGES_MS);
  }

  #takeChanges(): void {
    if (this.#changes.cleared) {
      this.#restart();
      return;
    }
    for (const index of this.#changes.entries.keys()) this.#pending.add(index);
    for (const id of this.#changes.terminals.keys())
      for (const index of this.#showing.get(id) ?? []) this.#pending.add(index);
    this.#changes.reset();
    if (this.#pending.size > 0) void this.#work(false);
  }

  async #work(isNew: boolean): Promise<void> {
    this.#isWorking = true;
    let isFirst = isNew;
    do {
      const counts = await this.#slice(performance.now() + SLICE_MS);
      if (!counts || this.#isDisposed) return;
      const isDone = this.#pending.size === 0;
      if (counts.length > 0 || isDone || isFirst)
        this.#post({ type: 'found', id: this.#id, counts, isDone, isNew: isFirst ? (true as const) : undefined });
      isFirst = false;
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.#pending.size > 0 && !this.#isDisposed);
    this.#isWorking = false;
    if (!this.#changes.isEmpty) this.#wake();
  }

  /** @returns changed counts; undefined if the search has ended */
  async #slice(deadline: number): Promise<(readonly [number, number])[] | undefined> {
    const changed: (readonly [number, number])[] = [];
    do {
      const indexes = [];
      const texts = [];
      let chars = 0;
      for (const index of this.#pending) {
        this.#pending.delete(index);
        const text = this.#textOf(index);
        indexes.push(index);
        texts.push(text);
        chars += text.length;
        if (chars >= SLICE_CHARS) break;
      }
      const found = await this.#matchesIn(texts);
      if (!found) return undefined;
      for (const [at, index] of indexes.entries()) {
        const count = (found[at]?.length ?? 0) / 2;
        if (count === (this.#counts.get(index) ?? 0)) continue;
        this.#counts.set(index, count);
        changed.push([index, count]);
      }
    } while (this.#pending.size > 0 && performance.now() < deadline);
    return changed;
  }

  #textOf(index: number): string {
    const { model, roots } = this.#source;
    const entry = model.state.entries[index];
    if (!entry) return '';
    for (const part of entry.kind === 'tool' ? entry.content : []) {
      if (part.type !== 'terminal') continue;
      const showing = this.#showing.get(part.terminalId) ?? new Set();
      this.#showing.set(part.terminalId, showing.add(index));
    }
    return findTextOf(entry, { terminals: model.state.terminals, roots });
  }

  #matcherOf(query: FindQuery): FindMatches | undefined {
    try {
      return matcherOf(query);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      this.#fail('invalid');
      return undefined;
    }
  }

  /** @returns undefined if the search has ended */
  async #matchesIn(texts: readonly string[]): Promise<readonly (readonly number[])[] | undefined> {
    try {
      return await this.#matches?.find(texts);
    } catch (error) {
      if (!(error instanceof SlowPattern)) throw error;
      this.dispose();
      this.#fail('slow');
      return undefined;
    }
  }

  #fail(problem: FindProblem): void {
    this.#post({ type: 'found', id: this.#id, counts: [], isDone: true, isNew: true, problem });
  }
}

interface FindTextContext {
  readonly terminals: SessionState['terminals'];
  readonly roots: readonly string[];
}

/** As the panel shows the entry fully expanded. */
function findTextOf(entry: Entry, context: FindTextContext): string {
  switch (entry.kind) {
    case 'user':
      return joined(entry.content.map((block) => blockText(block, false)));
    case 'agent':
    case 'thought':
      return joined(entry.content.map((block) => blockText(block, true)));
    case 'tool':
      return toolText(entry, context);
    case 'plan':
      if (entry.removed) return '';
      return joined([...entry.entries.map(({ content }) => content), shownText(entry.markdown ?? '')]);
    case 'notice': {
      const { title, text } = noticeTexts(entry);
      return joined([title, text, entry.detail ?? '']);
    }
    case 'error':
      return joined([localize(entry.text), entry.hint ? localize(entry.hint) : '', entry.stderr ?? '']);
    default:
      return '';
  }
}

function toolText(entry: ToolEntry, context: FindTextContext): string {
  const { locations, rawInput, rawOutput } = entry;
  const content = shownContent(entry);
  const head = titleOf(entry);
  const places = locations.map(({ path }) => labelOf(path, context.roots)).filter((place) => !head.includes(place));
  const parts = content.map((part) => contentText(part, entry, context, head));
  // Without content, the panel shows the raw values.
  if (content.length === 0) parts.push(jsonText(rawInput), jsonText(rawOutput));
  return joined([head, ...new Set(content.some(({ type }) => type === 'diff') ? [] : places), ...parts]);
}

function contentText(content: ToolContent, { rawOutput }: ToolEntry, context: FindTextContext, head: string): string {
  switch (content.type) {
    case 'content':
      return blockText(content.block, false);
    case 'diff': {
      const { path, oldText = '', newText, hunks } = content;
      const lines = hunks?.flatMap((hunk) => hunk.lines) ?? changedLines(oldText, newText);
      const label = labelOf(path, context.roots);
      return joined([head.includes(label) ? '' : label, lines.map((line) => line.slice(1)).join('\n')]);
    }
    case 'terminal': {
      const { command = '', output = '' } = context.terminals.get(content.terminalId) ?? {};
      return joined([
        head.includes(command) ? '' : command,
        plainOutput(output === '' ? printedIn(rawOutput) : output),
      ]);
    }
    case 'unknown':
      return jsonText(content.raw);
  }
}

function blockText(block: ContentBlock, isMarkdown: boolean): string {
  switch (block.type) {
    case 'text':
      return isMarkdown ? shownText(block.text) : plainOutput(block.text);
    case 'resource_link':
      return block.name;
    case 'resource':
      return joined([block.uri, block.text ?? '']);
    default:
      return '';
  }
}

function jsonText(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n');
}

/** Returns Markdown approximately as rendered. */
function shownText(markdown: string): string {
  let fence = '';
  return markdown
    .split('\n')
    .flatMap((line) => {
      const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
      if (fence === '' && mark === '') return [withoutMarks(line)];
      if (fence === '') fence = mark;
      else if (mark.startsWith(fence) && line.trim() === mark) fence = '';
      else return [line];
      return [];
    })
    .join('\n');
}

/** Tags that the panel renders as elements. */
const TAG =
  /<\/?(?:b|i|ins|kbd|mark|s|small|strong|sub|sup|u|summary|details)>|<details open(?:="")?>|<br\s{0,9}\/?>/gi;

/** No part of the pattern can restart within what it has passed, so the time is linear. */
function withoutMarks(line: string): string {
  if (!/[#>*~`[<]/.test(line)) return line;
  return line
    .replaceAll(TAG, '')
    .replace(/^[ >]{0,20}\[!(?:note|tip|important|warning|caution)\]\s{0,20}$/i, '')
    .replace(/^[ >]{0,20}(?:#{1,6} )?/, '')
    .replaceAll(/!?\[([^[\]]{1,1000})\]\([^()[\]\s]{0,2000}\)/g, '$1')
    .replaceAll(/\*\*|~~|`/g, '')
    .replaceAll(/(?<![\w*])\*([^\s*][^*]{0,500})\*(?!\w)/g, '$1');
}
