// Plays one wire in the three ways in which turns are made: live, as runs of a served agent, and
// from the recording of the live one.
import { strict as assert } from 'node:assert';
import { parseAgents } from '../../../src/agents/agentDefinition';
import { Deferred } from '../../../src/base/deferred';
import { silentLog } from '../../../src/base/log';
import type { SessionOpenStrategy } from '../../../src/client/connection/sessionOpenStrategy';
import { Conversation } from '../../../src/client/conversation/conversation';
import { playRecording } from '../../../src/client/replay/playRecording';
import { ServedConversations } from '../../../src/client/serving/servedConversations';
import type { StateExchange } from '../../../src/client/sharing/stateExchange';
import { type Message, textPart } from '../../../src/distributed/model/model';
import type { PastMessage, RunEmitter, ServedRunContext } from '../../../src/distributed/server/servedAgent';
import type { TimedEvent } from '../../../src/session/events/event';
import { SessionModel, type SessionView } from '../../../src/session/model/model';
import type { RecordedMessage } from '../../../src/traffic/recording';
import { testServices, testTerminals } from '../sessions/conversation';
import { VirtualTime } from './virtualTime';
import type { Act, Wire } from './wire';
import { WireAgent } from './wireAgent';

/** When a wire begins, ms since 1970. */
const BEGAN = 1_700_000_000_000;
const REST_MS = 300_000;
const STEP_MS = 5;

/**
 * How a message ended for its sender: the reason of its turn, or what the caller of a run gets;
 * `none`: not yet.
 */
export type Outcome = string;

export interface Played {
  readonly model: SessionView;
  readonly outcomes: readonly Outcome[];
}

export interface Lived extends Played {
  readonly recording: readonly RecordedMessage[];
  readonly overlaps: boolean;
  /** The messages that still wait, with their states. */
  readonly queue: readonly string[];
  readonly isOpen: boolean;
}

class WireConversation {
  readonly conversation: Conversation;
  readonly recording: RecordedMessage[] = [];
  readonly #time: VirtualTime;
  #agent: WireAgent | undefined;
  #starts = 0;
  #repeats: Extract<Act, { user: 'restart' }>['repeats'];

  constructor(wire: Wire, time: VirtualTime) {
    this.#time = time;
    this.#repeats = wire.repeats;
    const definition = { command: process.execPath, protocol: wire.protocol };
    const [agent] = parseAgents({ wire: definition }).agents;
    assert.ok(agent);
    const terminals = testTerminals(silentLog);
    const opening: SessionOpenStrategy = { kind: 'reopen', sessionId: 'wire-session', transcript: 'replay' };
    this.conversation = new Conversation({
      key: 'wire',
      agent,
      cwd: '/',
      roots: ['/'],
      ...(wire.opens && { opening }),
      services: {
        ...testServices(terminals, silentLog),
        clock: { now: () => time.now },
        environment: async () => ({}),
        startProcess: async () => {
          this.#starts += 1;
          this.#agent = new WireAgent(wire, this.#repeats, this.#agent?.prompts);
          return this.#agent;
        },
        onTraffic: (_key, dir, line) => {
          if (dir !== 'in' && dir !== 'out') return;
          const message = JSON.parse(line) as Readonly<Record<string, unknown>>;
          this.recording.push({ fromAgent: dir === 'in', at: time.now - BEGAN, message });
        },
      },
    });
  }

  async start(): Promise<void> {
    void this.conversation.start();
    await this.untilStarted();
  }

  async untilStarted(starts = 1): Promise<void> {
    const isStarting = (): boolean => ['idle', 'starting', 'recovering'].includes(this.conversation.connection.kind);
    await this.#time.until(() => this.#starts >= starts && !isStarting(), STEP_MS);
    await this.#time.settle();
  }

  async rest(): Promise<void> {
    this.#agent?.flush();
    await this.#time.pass(REST_MS);
  }

  async act(act: Act): Promise<void> {
    if ('says' in act) this.#agent?.says(act.says, act.withNext);
    else if ('answers' in act) this.#agent?.answers(act);
    else if ('echoes' in act) this.#agent?.echoes();
    else if ('asks' in act) this.#agent?.asks(act.asks);
    else if ('exits' in act) this.#agent?.exits();
    else if (act.user === 'allow') {
      const [id] = this.conversation.model.state.permissions.keys();
      if (id !== undefined) this.conversation.answerPermission(id, act.optionId);
    } else if (act.user === 'restart') {
      this.#repeats = act.repeats;
      const starts = this.#starts + 1;
      void this.conversation.restart();
      await this.untilStarted(starts);
    }
    await this.#time.settle();
  }
}

export function playLive(wire: Wire): Promise<Lived> {
  const time = new VirtualTime(BEGAN);
  return time.run(async () => {
    const played = new WireConversation(wire, time);
    const { conversation } = played;
    const outcomes: Outcome[] = [];
    let overlaps = false;
    await played.start();
    for (const act of wire.acts) {
      await time.pass(act.after ?? 0);
      if ('user' in act && (act.user === 'prompt' || act.user === 'steer')) {
        overlaps ||= conversation.isBusy || conversation.queue.items.length > 0;
        const at = outcomes.push('none') - 1;
        const { id, done } = conversation.send(act.text);
        if (act.user === 'steer') conversation.queueActions.steer(id);
        done.then(
          ({ stopReason }) => {
            outcomes[at] = stopReason;
          },
          () => {},
        );
        await time.settle();
      } else if ('user' in act && act.user === 'cancel') conversation.cancel();
      else await played.act(act);
    }
    await played.rest();
    const soFar = [...outcomes];
    const queue = conversation.queue.items.map(({ text, state, doubtful, repeats }) =>
      [text, state, ...(doubtful ? ['doubtful'] : []), ...(repeats !== undefined ? ['again'] : [])].join(' '),
    );
    const isOpen = conversation.model.state.turn !== undefined;
    await conversation.close();
    const { recording } = played;
    return { model: conversation.model, outcomes: soFar, recording, overlaps, queue, isOpen };
  });
}

/**
 * Returns whether runs can do what the user of a wire does: one message after the other, to an
 * agent that starts with the first.
 */
export function isServable({ opens, acts }: Wire, { overlaps }: Lived): boolean {
  const [first] = acts;
  const isFirst = first !== undefined && 'user' in first && first.user === 'prompt';
  const isRuns = !acts.some((act) => 'user' in act && (act.user === 'restart' || act.user === 'steer'));
  return isFirst && !overlaps && !opens && isRuns;
}

/** Plays a wire as runs of a served agent. */
export function playServed(wire: Wire): Promise<Played | undefined> {
  const time = new VirtualTime(BEGAN);
  return time.run(async () => {
    const made: WireConversation[] = [];
    const create = (_key: string, _state: StateExchange): Conversation => {
      const one = new WireConversation(wire, time);
      made.push(one);
      return one.conversation;
    };
    const served = new ServedConversations({ name: 'wire', description: 'The agent of a wire.', create });
    const caller = new Caller(served);
    const outcomes: Outcome[] = [];
    let stop: AbortController | undefined;
    let isBeside = false;
    for (const act of wire.acts) {
      await time.pass(act.after ?? 0);
      const one = made.at(-1);
      const isOfRun = 'asks' in act || ('user' in act && act.user !== 'prompt');
      isBeside ||= isOfRun && outcomes.at(-1) !== 'none';
      if ('user' in act && act.user === 'prompt') {
        stop = new AbortController();
        const at = outcomes.push('none') - 1;
        void caller.run(act.text, stop.signal).then((outcome) => {
          outcomes[at] = outcome;
        });
        await time.until(() => made.length > 0);
        await made.at(-1)?.untilStarted();
      } else if ('user' in act && act.user === 'cancel') {
        stop?.abort(new Error('stopped'));
        await time.settle();
      } else if ('user' in act && act.user === 'allow') caller.answer(act.optionId ?? '');
      else await one?.act(act);
    }
    await made[0]?.rest();
    const soFar = [...outcomes];
    const wasGivenUp = made[0]?.conversation.connection.kind === 'idle';
    await served.closeAll();
    if (isBeside || wasGivenUp || made.length > 1) return undefined;
    return { model: made[0]?.conversation.model ?? new SessionModel(), outcomes: soFar };
  });
}

export async function playBack(messages: readonly RecordedMessage[]): Promise<Played> {
  const model = new SessionModel();
  const note = (events: readonly TimedEvent[]): void => {
    for (const { event, at } of events) model.apply(event, at);
  };
  const options = { isPaced: false, note, log: silentLog, now: BEGAN };
  await playRecording({ messages, skipped: 0, began: BEGAN }, options, new AbortController().signal);
  return { model, outcomes: [] };
}

class Caller {
  readonly #served: ServedConversations;
  readonly #past: PastMessage[] = [];
  #asked: Deferred<Message> | undefined;

  constructor(served: ServedConversations) {
    this.#served = served;
  }

  answer(words: string): void {
    this.#asked?.resolve({ role: 'user', parts: [textPart(words)] } as Message);
  }

  async run(words: string, signal: AbortSignal): Promise<Outcome> {
    const input = [{ role: 'user', parts: [textPart(words)] } as Message];
    const history = this.#past.map((_, index) => `http://wire/${index}`);
    const context: ServedRunContext = {
      runId: 'run',
      session: { id: 'session', history } as never,
      history: async () => this.#past,
      withTexts: async (messages) => messages,
      state: { read: async () => undefined, store: async () => undefined },
    };
    let isOpen = false;
    const said: PastMessage[] = [];
    const out: RunEmitter = {
      part: () => {
        if (!isOpen) said.push({ kind: 'message', message: { role: 'agent/wire', parts: [] } as never });
        isOpen = true;
      },
      message: () => {},
      generic: () => {},
      ask: async (_question, withdrawn) => {
        isOpen = false;
        const asked = new Deferred<Message>();
        this.#asked = asked;
        for (const one of [withdrawn, signal])
          one?.addEventListener('abort', () => asked.reject(one.reason), { once: true });
        return asked.promise;
      },
    };
    try {
      await this.#served.run(input, context, out, signal);
      return 'completed';
    } catch (error) {
      return signal.aborted ? 'stopped' : ((error as { code?: string }).code ?? String(error));
    } finally {
      this.#past.push(...input.map((message) => ({ kind: 'message', message }) as const), ...said);
    }
  }
}
