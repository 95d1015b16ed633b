// Tests windows that attach to one agent in turn, each killed at a random moment.
import assert from 'node:assert/strict';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { knownSecrets } from '../../../../src/base/redact';
import { textOfBlocks } from '../../../../src/base/text';
import type { Conversation } from '../../../../src/client/conversation/conversation';
import { AttachWindow } from '../../../support/keeper/attachWindow';
import { MemoryKeeper } from '../../../support/keeper/memoryKeeper';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { seeded } from '../../../support/store/random';
import { seeds } from '../../../support/tier';

const PROMPTS = ['one', 'two', 'three'];
/** Put into the running turn, unless none runs. */
const ASIDES = ['aside', 'another'];

const _meta = { steering: { supported: true } };

/** Answers each prompt in chunks, with a question in the middle. */
class PiecewiseAgent {
  readonly prompts: string[] = [];
  readonly steered: string[] = [];
  readonly answers = new Map<string, number>();
  readonly #script: (() => boolean)[] = [];
  readonly #keeper: MemoryKeeper;
  #lastId: number | undefined;

  constructor(keeper: MemoryKeeper) {
    this.#keeper = keeper;
    keeper.onMessage = (message) => this.#take(message);
    keeper.onStart = () => {
      this.#script.splice(0);
      this.#lastId = undefined;
    };
  }

  get isDone(): boolean {
    return this.#script.length === 0;
  }

  step(): void {
    if (this.#script[0]?.()) this.#script.shift();
  }

  #say(message: Record<string, unknown>): () => boolean {
    return () => {
      this.#keeper.say({ jsonrpc: '2.0', ...message });
      return true;
    };
  }

  #take({ id, method, params, result }: Record<string, unknown>): void {
    if (method === undefined) {
      this.answers.set(String(id), (this.answers.get(String(id)) ?? 0) + 1);
      assert.deepEqual(result, { outcome: { outcome: 'selected', optionId: 'yes' } });
      return;
    }
    // Each window continues the numbering of the previous one.
    if (id !== undefined) assert.equal(id, this.#lastId === undefined ? id : this.#lastId + 1);
    if (typeof id === 'number') this.#lastId = id;
    if (method === 'initialize') this.#keeper.say({ jsonrpc: '2.0', id, result: { protocolVersion: 1, _meta } });
    if (method === 'session/new') this.#keeper.say({ jsonrpc: '2.0', id, result: { sessionId: 's' } });
    if (method !== 'session/prompt' && method !== '_session/steering') return;
    const { prompt } = params as { prompt: { text: string }[] };
    const tag = prompt[0]?.text ?? '';
    if (method === '_session/steering') {
      if (!this.isDone) this.steered.push(tag);
      this.#script.unshift(this.#say({ id, result: { outcome: this.isDone ? 'promptRequired' : 'injected' } }));
      return;
    }
    this.prompts.push(tag);
    const update = (text: string) =>
      this.#say({
        method: 'session/update',
        params: {
          sessionId: 's',
          update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
        },
      });
    for (let piece = 0; piece < 6; piece++) this.#script.push(update(`<${tag}.${piece}>`));
    const asked = `ask-${this.prompts.length}`;
    const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }];
    const toolCall = { toolCallId: `tool-${tag}`, title: `Use ${tag}` };
    this.#script.push(
      this.#say({ id: asked, method: 'session/request_permission', params: { sessionId: 's', toolCall, options } }),
      () => this.answers.has(asked),
    );
    for (let piece = 6; piece < 12; piece++) this.#script.push(update(`<${tag}.${piece}>`));
    this.#script.push(this.#say({ id, result: { stopReason: 'end_turn' } }));
  }
}

function expected(tag: string): string {
  return Array.from({ length: 12 }, (_, piece) => `<${tag}.${piece}>`).join('');
}

function saidIn({ model }: Conversation): string {
  return model.state.entries
    .flatMap((entry) => (entry.kind === 'agent' ? entry.content : []))
    .map((block) => (block.type === 'text' ? block.text : ''))
    .join('');
}

interface Walk {
  readonly seed: number;
  /** Deadline, as `performance.now()`. */
  readonly until: number;
  /** How many steps a window survives. */
  readonly lives: (deaths: number, random: (below: number) => number) => number;
}

const FOR_EVER = 100_000;
let steered = 0;

async function run({ seed, until, lives }: Walk): Promise<number> {
  const random = seeded(seed);
  const folder = await scratchFolder();
  const keeper = new MemoryKeeper();
  const agent = new PiecewiseAgent(keeper);
  let deaths = 0;
  const open = (): AttachWindow => {
    const window = new AttachWindow(folder, keeper, lives(deaths, random));
    void window.session.conversation.start();
    return window;
  };
  let window = open();
  const known = (tag: string): boolean => {
    const { model, queue } = window.session.conversation;
    const isSaid = model.state.entries.some(
      (entry) => entry.kind === 'user' && JSON.stringify(entry.content).includes(`"${tag}"`),
    );
    return isSaid || queue.items.some(({ text }) => text === tag);
  };
  for (;;) {
    // Starts read files, and event-loop turns take no time while a disk is slow.
    if (performance.now() > until) throw new Error(`seed ${seed} does not come to an end`);
    for (let pause = random(3); pause >= 0; pause--) await turnOfLoop();
    if (!window.isAlive) {
      deaths++;
      window = open();
      continue;
    }
    const { conversation } = window.session;
    // The user types a message again that was not stored.
    for (const tag of PROMPTS) if (window.isAlive && !known(tag)) conversation.send(tag).done.catch(() => {});
    const aside = ASIDES.find((tag) => window.isAlive && !known(tag));
    const isLast = agent.prompts.length >= PROMPTS.length && agent.isDone;
    if (aside !== undefined && (isLast || (conversation.model.state.turn && random(8) === 0))) {
      const { id, done } = conversation.send(aside);
      done.catch(() => {});
      conversation.queueActions.steer(id);
    }
    // An agent without a session starts over, and messages wait for the user.
    const doubtful = conversation.queue.items.find((item) => item.doubtful);
    if (doubtful && !conversation.isBusy) conversation.queueActions.sendNow(doubtful.id);
    if (agent.prompts.length === 0 && conversation.queue.paused !== undefined) conversation.queueActions.resume();
    const [question] = conversation.model.state.permissions.keys();
    const act = random(4);
    if (act === 0) window.wait();
    else if (act === 1 && question !== undefined) conversation.answerPermission(question, 'yes');
    else agent.step();
    const { queue, connection, isBusy, model } = conversation;
    if (!window.isAlive || !agent.isDone || !ASIDES.every(known) || agent.prompts.length < PROMPTS.length) continue;
    if (connection.kind !== 'ready' || isBusy || queue.items.length > 0 || model.state.turn) continue;
    break;
  }
  const { conversation } = window.session;
  const why = `seed ${seed}, ${deaths} windows died`;
  const all = [...PROMPTS, ...ASIDES].sort();
  assert.deepEqual([...agent.prompts, ...agent.steered].sort(), all, `${why}: each message arrived once`);
  const users = conversation.model.state.entries.flatMap((entry) => (entry.kind === 'user' ? entry.content : []));
  assert.deepEqual(users.map((block) => textOfBlocks([block])).sort(), all, `${why}: each message stands once`);
  assert.ok(
    [...agent.answers.values()].every((times) => times === 1),
    `${why}: each question was answered once`,
  );
  assert.equal(saidIn(conversation), agent.prompts.map(expected).join(''), `${why}: nothing is lost or twice`);
  const { turns, permissions } = conversation.model.state;
  assert.deepEqual(
    turns.map(({ stopReason, barrier }) => `${stopReason} ${barrier}`),
    agent.prompts.map(() => 'end_turn response'),
    `${why}: turns end as the agent says`,
  );
  assert.equal(permissions.size, 0);
  window.kill();
  steered += agent.steered.length;
  return deaths;
}

/** Chunks end with its beginning, so the end of each is held back from the disk. */
const SECRET = '>2f8b1c9e-secret';

describe('a window that attaches to an agent', () => {
  before(() => knownSecrets.add(SECRET));
  afterEach(removeScratch);

  const walks = seeds(8, 200);
  for (let first = 1; first <= walks; first += 20) {
    const last = Math.min(first + 19, walks);
    it(`loses and repeats nothing, whenever the previous window died (${first}…${last})`, async function () {
      this.timeout(120_000);
      const until = performance.now() + 110_000;
      const lives: Walk['lives'] = (died, random) => (died < 12 ? 5 + random(60) : FOR_EVER);
      let deaths = 0;
      for (let seed = first; seed <= last; seed++) deaths += await run({ seed, until, lives });
      assert.ok(deaths > last - first);
      assert.ok(steered > 0, 'some messages were steered');
    });
  }

  it('loses and repeats nothing after each step of a window', async function () {
    this.timeout(120_000);
    const until = performance.now() + 110_000;
    for (let steps = 1; ; steps += seeds(9, 1)) {
      const lives: Walk['lives'] = (died) => (died === 0 ? steps : FOR_EVER);
      if ((await run({ seed: 1, until, lives })) === 0) return;
    }
  });
});
