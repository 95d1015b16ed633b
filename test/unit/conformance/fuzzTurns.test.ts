// Turns of agents that send anything at all, with the real turns, queue, recorder and journal: each
// turn ends, everything valid is shown, and the stored session matches. Seeds: fuzzPlays.ts.
import { strict as assert } from 'node:assert';
import { RpcError } from '../../../src/acp/jsonrpc/rpcError';
import { V1Agent } from '../../../src/acp/v1/v1Agent';
import { V2Agent } from '../../../src/acp/v2/v2Agent';
import { Deferred } from '../../../src/base/deferred';
import { messageOf } from '../../../src/base/errors';
import type { Log } from '../../../src/base/log';
import { LivenessProbe } from '../../../src/client/connection/livenessProbe';
import { Inbound } from '../../../src/client/conversation/inbound';
import { Recorder } from '../../../src/client/conversation/recorder';
import { TurnControl } from '../../../src/client/prompts/turnControl';
import { projectItem, projectTerminal, projectTurn } from '../../../src/client/view/projectItem';
import { SessionModel, type SessionView } from '../../../src/session/model/model';
import { PromptQueue } from '../../../src/session/queue/queue';
import type { Journal } from '../../../src/store/journal';
import { JournalPersistence, readKept } from '../../../src/workbench/sessions/journalPersistence';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { promptSession } from '../../support/sessions/promptSession';
import { openJournal } from '../../support/store/journals';
import { corpus, FIRST, makePlay, type Play, SEEDS } from './fuzzPlays';
import { type Random, randomFrom, textOf } from './mutate';

const PROMPT = 'Do it, please';

class FuzzedTurn {
  readonly model = new SessionModel();
  readonly errors: string[] = [];
  readonly #version: 1 | 2;
  readonly #key: string;
  readonly #journal: Journal;
  readonly #queue = new PromptQueue(() => {});
  readonly #turns: TurnControl;
  readonly #inbound: Inbound;
  readonly #prompted = new Deferred<void>();
  readonly #answer = new Deferred<unknown>();

  constructor(version: 1 | 2, key: string, journal: Journal) {
    this.#version = version;
    this.#key = key;
    this.#journal = journal;
    const session = { key, agentId: 'a', cwd: '/', roots: ['/'] };
    const log: Log = {
      trace() {},
      debug() {},
      info() {},
      warn() {},
      error: (message) => void this.errors.push(message),
    };
    const persistence = new JournalPersistence({ journal, log, windowId: 'w', session }, false);
    const recorder = new Recorder(this.model, persistence, () => 1);
    const caller = {
      request: (_method: string, _params: unknown, options?: { onSent?(id: string | number): void }) => {
        options?.onSent?.(1);
        this.#prompted.resolve();
        return this.#answer.promise;
      },
      notify: async () => {},
    };
    const dialect = version === 2 ? new V2Agent(caller) : new V1Agent(caller);
    const features = { prompt: {}, ...(version === 2 && { states: {}, queue: {} }) };
    const link = { dialect, description: { features }, isAlive: true };
    const services = { clock: { now: () => 1 }, log };
    this.#turns = new TurnControl({
      queue: this.#queue,
      services: services as never,
      model: this.model,
      recorder: { apply: recorder.apply, together: (run) => run(), commit() {}, afterwards: (run) => run() },
      session: promptSession(() => ({ link, sessionId: 's' })),
    });
    this.#inbound = new Inbound({
      key,
      roots: ['/'],
      services: services as never,
      recorder,
      turns: this.#turns,
      subagents: { announce() {} } as never,
      probe: new LivenessProbe({ now: () => 1, onChange() {}, onState() {} }),
      connector: { agentSide: { dialect }, progressed() {} } as never,
      changes: { beforeWrite: async () => undefined },
      events: { repeated() {} },
      model: this.model,
    });
  }

  async play({ said }: Play, random: Random): Promise<void> {
    const item = this.#queue.add(PROMPT, []);
    const done = this.#turns.dispatcher.expect(item);
    this.#turns.dispatcher.pump();
    await this.#prompted.promise;
    const updates = said.map(({ value }) => JSON.parse(textOf(value)) as unknown);
    while (updates.length > 0) this.#inbound.updates(updates.splice(0, 1 + Math.floor(random() * 6)));
    if (this.#version === 2) this.#properEnd();
    else this.#answer.resolve({ stopReason: 'end_turn' });
    const ended = await Promise.race([done, new Promise((resolve) => setImmediate(() => setImmediate(resolve)))]);
    assert.ok(ended, 'the turn never ends');
    assert.equal(this.#turns.isBusy, false, 'it works for ever');
  }

  #properEnd(): void {
    this.#answer.resolve({ messageId: 'the-prompt' });
    this.#inbound.updates([
      { sessionUpdate: 'state_update', state: 'running' },
      { sessionUpdate: 'user_message', messageId: 'the-prompt', content: [{ type: 'text', text: PROMPT }] },
      { sessionUpdate: 'state_update', state: 'idle', stopReason: 'end_turn' },
    ]);
  }

  /** The stored session as a window would show it. */
  async readBack(): Promise<SessionView> {
    this.#journal.flush();
    const { model, whole } = readKept(this.#journal, this.#key);
    return whole ? whole() : model;
  }

  end(): void {
    this.#turns.dispose();
    this.#journal.deleteSession(this.#key);
  }
}

function shown(model: SessionView): string {
  const { state } = model;
  const context = { state, turn: (id: string) => model.turn(id), roots: ['/'], isOpenable: () => false };
  const parts = {
    items: state.entries.map((entry) => projectItem(entry, context, true)),
    turns: state.turns.map((turn) => projectTurn(turn)),
    terminals: [...state.terminals].map(([id, terminal]) => projectTerminal(id, terminal, context)),
    title: state.title,
    commands: state.commands,
    config: state.config,
    modes: [state.modes, state.mode],
    usage: state.usage,
  };
  return JSON.stringify(parts, undefined, 1);
}

describe('a turn of an agent that sends anything at all', function () {
  this.timeout(SEEDS * 100 + 20_000);
  let journal: Journal;

  beforeEach(async () => {
    journal = openJournal(await scratchFolder());
  });
  afterEach(async () => {
    journal.dispose();
    await removeScratch();
  });

  it(`ends, shows everything valid, and is stored as shown (${SEEDS} seeds)`, async () => {
    const lists = corpus();
    const failures: string[] = [];
    for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
      const random = randomFrom(seed);
      const play = makePlay(seed, random, lists);
      const turn = new FuzzedTurn(play.version, `s${seed}`, journal);
      try {
        await turn.play(play, random);
        assert.deepEqual(turn.errors, []);
        const text = shown(turn.model);
        for (const canary of play.canaries) assert.ok(text.includes(canary), `${canary} is not shown`);
        const kept = shown(await turn.readBack());
        if (kept !== text) failures.push(`seed ${seed} differs after it was kept\n${differenceOf(text, kept)}`);
      } catch (error) {
        failures.push(`seed ${seed}: ${error instanceof RpcError ? error.code : messageOf(error)}`);
      }
      turn.end();
    }
    assert.equal(failures.slice(0, 8).join('\n'), '', `${failures.length} of ${SEEDS} seeds`);
  });
});

function differenceOf(one: string, other: string): string {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  const part = (text: string): string => text.slice(Math.max(0, at - 200), at + 200);
  return `shown:\n${part(one)}\nkept:\n${part(other)}`;
}
