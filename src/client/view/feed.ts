// Sends one conversation to one webview: coalesced changes, at most one post per frame, at most
// three in flight. A slow or hidden webview costs nothing: changes are merged until it is ready, so
// no backlog builds up in its queue.
import type { Disposable } from '../../base/disposable';
import { head, textOfBlocks } from '../../base/text';
import {
  CONTRACT_VERSION,
  type ItemView,
  MAX_PROMPT_HEAD,
  type Op,
  type PromptHead,
  type SessionMessage,
  type ToWebview,
} from '../../panel/contract';
import { Changes } from '../../session/model/changes';
import type { Entry, SessionState } from '../../session/model/state';
import { isEnded } from '../../session/model/tools';
import type { Conversation } from '../conversation/conversation';
import { later, type Schedule } from '../ports/grace';
import type { FragmentLines } from '../requests/fragmentLines';
import { changesOfTurn, offersOf } from './projectChanges';
import { type ProjectionContext, projectBlock, projectItem, terminalAppend } from './projectItem';
import { patchSession, phaseOf, projectSession, statusOf } from './projectSession';
import { SessionFind } from './sessionFind';
import { timelineParts } from './timelineParts';

const TICK_MS = 5000;
/** At most 60 posts a second. */
const FRAME_MS = 17;
/** Painting and acknowledging a message can take over two frames; later ones would wait for it. */
const MAX_IN_FLIGHT = 3;
/** Sent unrequested, up to either limit: usually more than a window shows. */
const NEWEST_ITEMS = 64;
const NEWEST_LINES = 90;
/** An edit with its diff, on average, in a window full of edits. */
const LINES_OF_EDIT = 6;
/** Nested items sent first. */
const FIRST_NESTED = 50;
const MAX_PAGE = 200;
/** Items whose changes are sent together or not at all: a page of the webview (`PAGE_SIZE`). */
const STRETCH = 8;
/** With more changed entries, a snapshot is smaller than the changes. */
const MAX_OPS = 400;

export interface FeedSources {
  readonly isTerminalOpenable: (terminalId: string) => boolean;
  readonly fragmentLines: FragmentLines;
}

export class SessionFeed implements Disposable {
  readonly #conversation: Conversation;
  readonly #post: (message: ToWebview) => void;
  readonly #changes: Changes;
  readonly #observing: Disposable;
  readonly #onTick: Schedule;
  #tick: Disposable | undefined;
  readonly #projection: ProjectionContext;
  #revision = 0;
  #acknowledged = 0;
  /** Number of items that the webview knows of. */
  #sentItemCount = 0;
  readonly #sentStretches = new Set<number>();
  #search: { readonly id: number; readonly find: SessionFind } | undefined;
  #lastPost = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isLive = false;
  #isDisposed = false;
  #status = '';
  #showsWork = false;
  #hasCheckedSilence = false;
  #paintWaiters: { readonly revision: number; readonly painted: () => void }[] = [];

  constructor(
    conversation: Conversation,
    sources: FeedSources,
    post: (message: ToWebview) => void,
    schedule: Schedule = later,
  ) {
    this.#conversation = conversation;
    this.#post = post;
    this.#projection = {
      state: conversation.model.state,
      turn: (id) => conversation.model.turn(id),
      roots: conversation.roots,
      changesOf: (turnId) => changesOfTurn(conversation, turnId),
      isWrittenDifferently: ({ turnId, toolCallId }, path) =>
        turnId !== undefined && conversation.changes.isWrittenDifferently(turnId, toolCallId, path),
      offers: (entry) => offersOf(conversation, entry),
      isOpenable: sources.isTerminalOpenable,
      locate: (change, { index, status }) =>
        sources.fragmentLines.locate(change, isEnded(status), conversation.roots, () => this.#changes.entry(index)),
    };
    this.#changes = new Changes(() => this.#schedule());
    this.#observing = conversation.model.observe(this.#changes);
    this.#onTick = schedule;
  }

  /** Sends everything, and changes from then on. */
  snapshot(): void {
    this.#isLive = true;
    this.#changes.reset();
    const { unsent, model } = this.#conversation;
    const { entries } = model.state;
    const from = firstOfNewest(model.state);
    const revision = ++this.#revision;
    this.#acknowledged = revision - 1;
    this.#sentItemCount = entries.length;
    this.#sentStretches.clear();
    this.#lastPost = performance.now();
    this.#post({
      type: 'snapshot',
      version: CONTRACT_VERSION,
      revision,
      session: projectSession(this.#conversation),
      total: entries.length,
      from,
      items: this.#items(from, entries.length),
      prompt: promptBefore(from, entries),
      nested: !model.state.nests.isEmpty ? runsOfNested(model.state) : undefined,
      draft: unsent.draft,
      anchor: unsent.anchor,
    });
    this.#notePosted();
  }

  /** The webview has painted a revision. */
  acknowledge(revision: number): void {
    if (revision > this.#revision || revision <= this.#acknowledged) return;
    this.#acknowledged = revision;
    this.#paintWaiters = this.#paintWaiters.filter((waiter) => {
      if (waiter.revision <= revision) waiter.painted();
      return waiter.revision > revision;
    });
    if (!this.#changes.isEmpty) this.#schedule();
  }

  /** Also resolves when the feed ends. A hidden webview paints when it is shown again. */
  async painted(): Promise<void> {
    if (this.#isDisposed) return;
    if (this.#isLive && this.#changes.isEmpty && this.#acknowledged === this.#revision) return;
    const revision = this.#changes.isEmpty && this.#isLive ? this.#revision : this.#revision + 1;
    await new Promise<void>((painted) => this.#paintWaiters.push({ revision, painted }));
  }

  /** `to` is exclusive. */
  page(from: number, to: number): void {
    if (this.#afterLoading(() => this.page(from, to))) return;
    const total = this.#conversation.model.state.entries.length;
    const start = Math.max(0, Math.min(from, total));
    const end = Math.max(start, Math.min(to, total, start + MAX_PAGE));
    // The page includes pending changes, so they go first.
    this.#flush();
    this.#post({ type: 'page', revision: this.#revision, from: start, items: this.#items(start, end) });
  }

  nested(request: Extract<SessionMessage, { type: 'nested' }>): void {
    if (this.#afterLoading(() => this.nested(request))) return;
    const { model } = this.#conversation;
    const { index, from, to, around } = request;
    const entry = model.state.entries[index];
    if (!entry) return;
    this.#flush();
    const children = model.state.nests.childrenOf(entry);
    const { length: total } = children;
    const place = around === undefined ? -1 : children.findIndex((child) => child.index === around);
    const start = Math.max(0, place >= 0 ? place - FIRST_NESTED / 2 : from >= total ? total - FIRST_NESTED : from);
    const end = place >= 0 || from >= total ? start + FIRST_NESTED : Math.min(to, start + MAX_PAGE);
    const page = children.slice(start, Math.max(start, end));
    for (const child of page) this.#noteSent(child.index, child.index + 1);
    const items = page.map((child) => ({ index: child.index, item: projectItem(child, this.#projection) }));
    this.#post({ type: 'nested', revision: this.#revision, index, from: start, total, items });
  }

  find(message: Extract<SessionMessage, { type: 'find' | 'findIn' | 'endFind' }>): void {
    if (message.type === 'findIn') {
      if (message.id === this.#search?.id) void this.#search.find.findIn(message);
      return;
    }
    this.#search?.find.dispose();
    this.#search = undefined;
    if (message.type === 'endFind' || !this.#isLive) return;
    const find = new SessionFind(this.#conversation, message, this.#post);
    this.#search = { id: message.id, find };
  }

  timeline(message: Extract<SessionMessage, { type: 'timeline' }>): void {
    if (this.#afterLoading(() => this.timeline(message)) || !this.#isLive) return;
    for (const part of timelineParts(this.#conversation.model.state, message.from, Date.now()))
      this.#post({ type: 'timeline', id: message.id, ...part });
  }

  details(index: number): void {
    const entry = this.#conversation.model.state.entries[index];
    if (!entry) return;
    this.#noteSent(index, index + 1);
    const ops: Op[] = [{ op: 'put', index, item: projectItem(entry, this.#projection, true) }];
    this.#lastPost = performance.now();
    this.#post({ type: 'update', revision: ++this.#revision, ops });
  }

  /** Sends nothing until the next snapshot. */
  suspend(): void {
    this.#isLive = false;
    this.find({ type: 'endFind' });
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#stopTick();
    this.#hasCheckedSilence = false;
    this.#changes.reset();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.suspend();
    this.#observing.dispose();
    for (const { painted } of this.#paintWaiters.splice(0)) painted();
  }

  /** @returns whether `again` waits for the rest of the transcript */
  #afterLoading(again: () => void): boolean {
    const { whole } = this.#conversation;
    void whole?.then(() => this.#isLive && again());
    return whole !== undefined;
  }

  #schedule(): void {
    if (!this.#isLive) {
      this.#changes.reset();
      return;
    }
    if (this.#revision - this.#acknowledged >= MAX_IN_FLIGHT) return;
    // The end of a turn isn't delayed to the next frame: nothing follows that could join it.
    const isEnd = this.#showsWork && this.#changes.parts.has('turn') && !this.#conversation.isWorking;
    if (isEnd) {
      this.#showsWork = false;
      clearTimeout(this.#timer);
    } else if (this.#timer !== undefined) return;
    const wait = isEnd ? 0 : Math.max(0, this.#lastPost + FRAME_MS - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
    }, wait);
  }

  #flush(): void {
    if (!this.#isLive || this.#changes.isEmpty) return;
    const { state } = this.#conversation.model;
    const { entries } = state;
    const newest = firstOfNewest(state);
    // The webview requests missing items when the reader comes near. Changes to items that it
    // doesn't have aren't sent, nor new items pushed away from the end unseen. The pages that it
    // draws have no gaps.
    const changed = [...this.#changes.entries].filter(
      ([index]) => this.#sentStretches.has(stretchOf(index)) || (index >= this.#sentItemCount && index >= newest),
    );
    if (this.#changes.cleared || changed.length > MAX_OPS) {
      this.snapshot();
      return;
    }
    const ops: Op[] = [];
    // Before the items: a `put` contains the whole output of its terminals, including this.
    for (const [terminalId, text] of this.#changes.terminals)
      ops.push({ op: 'terminal', terminalId, ...terminalAppend(text) });
    for (const [index, change] of changed.sort(([a], [b]) => a - b)) {
      const entry = entries[index];
      if (!entry) continue;
      const from = this.#changes.blocks.get(index);
      // A user message is shown with more than its content.
      if (change === true || !('until' in entry) || (from !== undefined && entry.kind === 'user')) {
        ops.push({ op: 'put', index, item: projectItem(entry, this.#projection) });
        continue;
      }
      const { content, until } = entry;
      if (change !== '') ops.push({ op: 'append', index, text: change, until });
      if (from !== undefined)
        ops.push({ op: 'blocks', index, from, blocks: content.slice(from).map(projectBlock), until });
    }
    if (this.#changes.parts.size > 0) {
      ops.push({ op: 'session', patch: patchSession(this.#conversation, this.#changes.parts) });
      this.#notePosted();
    }
    this.#changes.reset();
    this.#noteSent(Math.max(this.#sentItemCount, newest), entries.length);
    this.#sentItemCount = entries.length;
    if (ops.length === 0 && this.#paintWaiters.length === 0) return;
    this.#lastPost = performance.now();
    this.#post({ type: 'update', revision: ++this.#revision, ops });
  }

  #notePosted(): void {
    this.#showsWork = this.#conversation.isWorking;
    this.#status = statusOf(this.#conversation);
    this.#updateTick();
  }

  /** Without traffic, nothing else updates the elapsed time. */
  #updateTick(): void {
    if (!this.#conversation.isWorking) this.#stopTick();
    else
      this.#tick ??= this.#onTick(() => {
        this.#tick = undefined;
        if (this.#conversation.isWorking) this.#checkStatus();
        this.#updateTick();
      }, TICK_MS);
  }

  #stopTick(): void {
    this.#tick?.dispose();
    this.#tick = undefined;
  }

  /** Sends the turn's status if the elapsed time has changed it. */
  #checkStatus(): void {
    const waitsForUser = phaseOf(this.#conversation) === 'requiresAction';
    this.#conversation.checkSilence({ waitsForUser, isFirst: !this.#hasCheckedSilence });
    this.#hasCheckedSilence = true;
    if (statusOf(this.#conversation) !== this.#status) this.#changes.part('turn');
  }

  #noteSent(from: number, to: number): void {
    for (let stretch = stretchOf(from); stretch <= stretchOf(to - 1); stretch++) this.#sentStretches.add(stretch);
  }

  #items(from: number, to: number): ItemView[] {
    this.#noteSent(from, to);
    return this.#conversation.model.state.entries.slice(from, to).map((entry) => projectItem(entry, this.#projection));
  }
}

function runsOfNested({ entries, nests }: Readonly<SessionState>): (readonly [number, number])[] {
  const runs: [number, number][] = [];
  for (const [index, entry] of entries.entries()) {
    if (!nests.parentOf(entry)) continue;
    const last = runs.at(-1);
    if (last?.[1] === index - 1) last[1] = index;
    else runs.push([index, index]);
  }
  return runs;
}

/** Returns the index of the first entry sent unrequested. */
function firstOfNewest({ entries, nests }: Readonly<SessionState>): number {
  const last = Math.max(0, entries.length - NEWEST_ITEMS);
  let from = entries.length;
  for (let lines = 0; from > last && lines < NEWEST_LINES; ) {
    from--;
    const entry = entries[from]!;
    if (!nests.parentOf(entry)) lines += linesOf(entry);
  }
  return from;
}

function linesOf(entry: Entry): number {
  return entry.kind === 'tool' && entry.content.some(({ type }) => type === 'diff') ? LINES_OF_EDIT : 1;
}

function promptBefore(from: number, entries: readonly Entry[]): PromptHead | undefined {
  const turnId = entries[from]?.turnId;
  if (turnId === undefined) return undefined;
  for (let index = from - 1; index >= 0 && entries[index]!.turnId === turnId; index--) {
    const entry = entries[index]!;
    if (entry.kind === 'user')
      return { turnId, index, text: head(textOfBlocks(entry.content, '\n').trim(), MAX_PROMPT_HEAD) };
  }
  return undefined;
}

function stretchOf(index: number): number {
  return Math.floor(index / STRETCH);
}
