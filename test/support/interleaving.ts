// One conversation under random events, without processes: the real turns, queue, recorder and
// journal, an agent that is a list of what it got, and the rules that must hold after each step.
import { strict as assert } from 'node:assert';
import { RpcError } from '../../src/acp/jsonrpc/rpcError';
import { Deferred } from '../../src/base/deferred';
import { silentLog } from '../../src/base/log';
import { QueueMirror } from '../../src/client/conversation/persistence';
import { Recorder } from '../../src/client/conversation/recorder';
import { restore, unansweredPrompt } from '../../src/client/conversation/restore';
import { Unsent } from '../../src/client/conversation/unsent';
import type { OpenedSession } from '../../src/client/ports/agentLink';
import { feedEvent } from '../../src/client/prompts/heardEvent';
import { TurnControl } from '../../src/client/prompts/turnControl';
import type { SessionEvent, StopReason } from '../../src/session/events/event';
import { SessionModel } from '../../src/session/model/model';
import { isEnded } from '../../src/session/model/tools';
import { isAway, PromptQueue, type QueueItem } from '../../src/session/queue/queue';
import { reconcile } from '../../src/session/reconcile/reconcile';
import type { Journal } from '../../src/store/journal';
import { JournalPersistence, readKept } from '../../src/workbench/sessions/journalPersistence';
import { sameData } from './sameData';
import { promptSession } from './sessions/promptSession';
import { stateOf } from './store/journals';

const STOP_REASONS: readonly StopReason[] = ['end_turn', 'end_turn', 'max_tokens', 'refusal', 'cancelled'];

/** No time passes in a run, so that a seed always tells the same story. */
const NEVER_MS = 1_000_000_000;

interface Got {
  readonly text: string;
  readonly requestId: string;
  readonly answer: Deferred<{ readonly ends: boolean; readonly stopReason?: StopReason }>;
  isAnswered: boolean;
}

interface Manners {
  readonly queue: boolean;
  readonly turnComplete: boolean;
  readonly replays: boolean;
}

export class Interleaving {
  readonly #journal: Journal;
  readonly #key: string;
  readonly #random: (below: number) => number;
  readonly #manners: Manners;
  #model = new SessionModel();
  #recorder!: Recorder;
  #queue!: PromptQueue;
  #turns!: TurnControl;
  #session: OpenedSession | undefined;
  #windows = 0;
  #now = 1000;
  #count = 0;
  #got: Got[] = [];
  readonly #history: SessionEvent[] = [];
  readonly #sent = new Map<string, number>();
  readonly #givenBack = new Map<string, number>();
  readonly #allowed = new Map<string, number>();
  readonly #failedTurns = new Set<string>();
  #known: readonly string[] = [];

  constructor(journal: Journal, key: string, random: (below: number) => number) {
    this.#journal = journal;
    this.#key = key;
    this.#random = random;
    const [queue, turnComplete, replays] = [random(3) === 0, random(2) === 0, random(3) > 0];
    // A message that the agent holds and never echoes stands where it was answered, not where it
    // was sent.
    this.#manners = { queue, turnComplete, replays: replays && !queue };
    this.#openWindow();
  }

  async step(): Promise<void> {
    this.#now += this.#random(50);
    const choice = this.#random(100);
    if (choice < 20) this.#say();
    else if (choice < 30) this.#tool();
    else if (choice < 42) this.#type();
    else if (choice < 55) this.#answer();
    else if (choice < 60) this.#barrier();
    else if (choice < 66) this.#ask();
    else if (choice < 72) this.#cancel();
    else if (choice < 84) this.#useQueue();
    else if (choice < 88) this.#exit();
    else if (choice < 96) this.#start();
    else if (choice < 98) this.#loseWindow();
    else this.#emit({ type: 'usage', usage: { used: this.#next(), size: 1000 } });
    await new Promise((resolve) => setImmediate(resolve));
    this.check();
  }

  finish(): void {
    this.#exit();
    this.check();
    if (this.#isKept) {
      const { events } = this.#journal.events(this.#key);
      assert.deepEqual(stateOf(events), structuredClone(this.#model.state), 'what was kept makes the same state');
    }
    this.#turns.dispose();
  }

  check(): void {
    const { entries, turns, turn: running } = this.#model.state;
    // What stands keeps its order: entries are appended, or restored between.
    const ids = entries.map(({ id, kind }) => `${id} ${kind}`);
    const before = new Set(this.#known);
    assert.deepEqual(
      ids.filter((id) => before.has(id)),
      this.#known,
    );
    this.#known = ids;
    const endOf = new Map<string, number>();
    for (const entry of entries) {
      if (entry.kind !== 'turn_end') continue;
      assert.ok(!endOf.has(entry.turnId), `turn ${entry.turnId} ends once`);
      endOf.set(entry.turnId, entry.index);
    }
    for (const turn of turns) {
      if (turn.replayed) continue; // nothing is known of its end
      const isOver = turn.endedAt !== undefined;
      assert.equal(endOf.has(turn.id), isOver);
      assert.ok(isOver || turn === running, 'one turn runs at a time');
      if (isOver && turn.cancelRequested)
        assert.ok(['cancelled', 'refusal'].includes(turn.stopReason ?? ''), turn.stopReason);
      if (isOver && this.#failedTurns.has(turn.id)) assert.notEqual(turn.stopReason, 'end_turn');
    }
    for (const entry of entries) {
      const end = entry.turnId === undefined ? undefined : endOf.get(entry.turnId);
      if (entry.late) assert.ok(end !== undefined && entry.index > end, 'what is marked late is late');
      if (end !== undefined && entry.index > end && entry.kind !== 'turn_end')
        assert.ok(entry.late, 'what is late is marked');
      if (entry.kind === 'tool' && !isEnded(entry.status))
        assert.ok(end === undefined || entry.late, 'no call outlives its turn');
    }
    this.#checkQueue();
  }

  #checkQueue(): void {
    const { items } = this.#queue;
    assert.equal(new Set(items.map(({ id }) => id)).size, items.length);
    const kept = this.#journal.queue.items(this.#key);
    const plain = ({ attachments: _, ...facts }: QueueItem) => facts;
    sameData(kept.map(plain), items.map(plain), 'what waits is kept as it is');
    for (const [text, sent] of this.#sent) {
      const allowed = 1 + (this.#givenBack.get(text) ?? 0) + (this.#allowed.get(text) ?? 0);
      assert.ok(sent <= allowed, `${text} went ${sent} times, and may ${allowed}`);
      const here = items.filter((item) => item.text === text && item.state === 'queued').length;
      assert.ok(sent + here <= allowed, `${text} went ${sent} times and waits to go again`);
    }
  }

  // ---- The agent
  // -----------------------------------------------------------------------------------------------

  #emit(event: SessionEvent): void {
    if (!this.#session) return;
    this.#history.push(event);
    this.#recorder.together(() => {
      if (!feedEvent(event, this.#turns.driver.feed)) this.#recorder.applyAt(event, this.#now);
    });
  }

  #say(): void {
    const block = { type: 'text', text: `words-number-${this.#next()} ` } as const;
    const role = this.#random(3) === 0 ? 'thought' : 'agent';
    const messageId = this.#random(3) === 0 ? `m${this.#random(4)}` : undefined;
    this.#emit({ type: 'message_chunk', role, block, ...(messageId !== undefined && { messageId }) });
  }

  #tool(): void {
    const status = (['pending', 'in_progress', 'completed', 'failed'] as const)[this.#random(4)] ?? 'pending';
    const toolCallId = `tool-${this.#random(6)}`;
    this.#emit({ type: 'tool_call', toolCallId, patch: { title: 'Work', status }, announced: this.#random(3) === 0 });
  }

  #answer(): void {
    const got = this.#pick(this.#got.filter(({ isAnswered }) => !isAnswered));
    if (!got || !this.#session) return;
    got.isAnswered = true;
    const running = this.#model.state.turn?.id;
    if (this.#random(6) === 0) {
      const isTurn = running !== undefined && this.#got.filter(({ isAnswered }) => !isAnswered).length === 0;
      if (isTurn) this.#failedTurns.add(running);
      this.#note(this.#givenBack, got.text);
      got.answer.reject(new RpcError(-32603, 'it broke'));
    } else got.answer.resolve({ ends: true, stopReason: this.#pick(STOP_REASONS) ?? 'end_turn' });
  }

  #barrier(): void {
    if (!this.#session || !this.#manners.turnComplete) return;
    const named = this.#random(2) === 0 ? this.#pick(this.#got)?.requestId : undefined;
    this.#turns.driver.feed({
      type: 'complete',
      barrier: { promptRequestId: named, stopReason: this.#pick(STOP_REASONS) },
    });
  }

  #ask(): void {
    const open = [...this.#model.state.permissions.keys()];
    if (open.length > 0 && this.#random(2) === 0)
      this.#turns.requests.permissions.answer(this.#pick(open) ?? '', 'yes');
    else if (this.#session) {
      const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }] as const;
      const asked = { title: 'May I?', options };
      void this.#turns.requests.permissions.ask(asked, this.#turns.isCancelled, new AbortController().signal);
    }
  }

  #exit(): void {
    if (!this.#session) return;
    // It said something that no client received.
    const text = `unheard-number-${this.#next()} `;
    if (this.#random(2) === 0)
      this.#history.push({ type: 'message_chunk', role: 'agent', block: { type: 'text', text } });
    this.#session = undefined;
    const inDoubt = unansweredPrompt(this.#model.state);
    if (inDoubt) this.#queue.putFirst(inDoubt);
    if (this.#queue.items.length > 0) this.#queue.pause('agent-ended');
    this.#turns.exited('it ended');
    this.#got = [];
  }

  #start(): void {
    if (this.#session) return;
    if (this.#manners.replays) {
      const repeated = new SessionModel();
      repeated.apply({ type: 'cleared', replay: true }, 0);
      for (const event of this.#history) repeated.apply(event, 0);
      for (const event of reconcile(this.#model.state, repeated.state)) this.#recorder.applyAt(event, this.#now);
      this.#checkWords();
    }
    this.#session = this.#newSession();
    this.#turns.dispatcher.pump();
  }

  #checkWords(): void {
    const words = (list: readonly string[]): string[] =>
      list.flatMap((text) => text.match(/\w+-number-\d+/g) ?? []).sort();
    const shown = this.#model.state.entries.flatMap((entry) =>
      entry.kind === 'agent' || entry.kind === 'thought'
        ? entry.content.map((block) => (block.type === 'text' ? block.text : ''))
        : [],
    );
    const said = this.#history.map((event) =>
      event.type === 'message_chunk' && event.role !== 'user' && event.block.type === 'text' ? event.block.text : '',
    );
    assert.deepEqual(words(shown), words(said), 'a replay adds what is missing, and nothing twice');
  }

  #newSession(): OpenedSession {
    const features = {
      prompt: { image: false, audio: false, embeddedContext: false },
      ...(this.#manners.queue && { queue: {} }),
      ...(this.#manners.turnComplete && { turnComplete: {} }),
    };
    const dialect = {
      prompt: (_id: string, content: readonly { readonly text: string }[], onSent: (id: string) => void) => {
        const requestId = String(this.#next());
        const text = content[0]?.text ?? '';
        this.#note(this.#sent, text);
        const got: Got = { text, requestId, answer: new Deferred(), isAnswered: false };
        this.#got.push(got);
        this.#history.push({ type: 'message_chunk', role: 'user', block: { type: 'text', text } });
        onSent(requestId);
        return got.answer.promise;
      },
      cancel: async () => {},
    };
    const link = { dialect, description: { features }, isAlive: true };
    return { link, sessionId: `s${this.#next()}` } as unknown as OpenedSession;
  }

  // ---- The user
  // -----------------------------------------------------------------------------------------------

  #type(): void {
    const item = this.#queue.add(`message-number-${this.#next()}`, []);
    this.#turns.dispatcher.expect(item).catch(() => {});
    this.#turns.dispatcher.pump();
  }

  #cancel(): void {
    if (this.#random(2) === 0) this.#queue.pause('stopped');
    this.#turns.cancel();
  }

  #useQueue(): void {
    const item = this.#pick(this.#queue.items);
    switch (this.#random(7)) {
      case 0:
        this.#queue.pause('by-user');
        break;
      case 1:
      case 2:
        this.#letGo(this.#queue.items);
        this.#queue.resume();
        break;
      case 3:
        if (item) this.#queue.move(item.id, this.#random(4));
        break;
      case 4:
        if (item) this.#queue.hold(item.id, this.#random(2) === 0);
        break;
      case 5:
        if (item && !isAway(item)) this.#turns.dispatcher.forget(this.#queue.remove(item.id) ?? item);
        break;
      default:
        if (item && !isAway(item)) {
          // As the user edits: other words are another message.
          this.#queue.edit(item.id, `message-number-${this.#next()}`);
        }
    }
    this.#turns.dispatcher.pump();
  }

  #letGo(items: readonly QueueItem[]): void {
    for (const { state, text } of items) if (state === 'failed') this.#note(this.#allowed, text);
  }

  #loseWindow(): void {
    this.#journal.flush();
    const lost = this.#turns;
    this.#session = undefined;
    this.#got = [];
    if (!this.#isKept) {
      // Without a message, a chat that was only opened is no session.
      this.#known = [];
      this.#history.length = 0;
    }
    this.#openWindow();
    lost.dispose(); // only to stop its timers: it reaches nothing any more
  }

  get #isKept(): boolean {
    return this.#journal.session(this.#key) !== undefined;
  }

  #openWindow(): void {
    const known = this.#isKept;
    const session = { key: this.#key, agentId: 'a', cwd: '/', roots: ['/'] };
    const number = ++this.#windows;
    // A closed window writes and sends nothing.
    const isThere = (): boolean => number === this.#windows;
    const persistence = new JournalPersistence(
      { journal: this.#journal, log: silentLog, windowId: 'w', session },
      known,
    );
    const kept = known ? readKept(this.#journal, this.#key) : undefined;
    const model = kept?.model ?? new SessionModel();
    this.#model = model;
    const recorder = new Recorder(model, persistence, () => this.#now);
    this.#recorder = recorder;
    const mirror = new QueueMirror(persistence, kept?.queue, kept?.paused);
    const queue: PromptQueue = new PromptQueue(() => {
      if (isThere()) recorder.queueChanged(() => mirror.sync(queue));
    });
    this.#queue = queue;
    if (kept) restore({ model, queue, unsent: new Unsent(persistence, () => {}) }, kept, recorder.apply, this.#now);
    this.#turns = new TurnControl({
      model,
      queue,
      services: { clock: { now: () => this.#now }, log: silentLog, barrierGraceMs: NEVER_MS } as never,
      recorder: {
        apply: (event) => {
          if (isThere()) recorder.apply(event);
        },
        together: recorder.together,
        commit: recorder.commit,
        afterwards: recorder.afterwards,
      },
      session: promptSession(() => (isThere() ? this.#session : undefined)),
    });
  }

  #note(counts: Map<string, number>, text: string): void {
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }

  #pick<T>(list: readonly T[]): T | undefined {
    return list[this.#random(Math.max(1, list.length))];
  }

  #next(): number {
    return ++this.#count;
  }
}
