// Randomly mutated recordings: the client does not break, stays bounded, and loses nothing valid.
// PARLEY_FUZZ_SEEDS=50000 runs more seeds than the few of every day; PARLEY_FUZZ_FIRST chooses the
// first, to see a failure again.
import { strict as assert } from 'node:assert';
import { RpcConnection } from '../../../src/acp/jsonrpc/rpcConnection';
import { RpcError } from '../../../src/acp/jsonrpc/rpcError';
import { type Dialect, required } from '../../../src/acp/protocol/dialect';
import { messageOf } from '../../../src/base/errors';
import { silentLog } from '../../../src/base/log';
import { at } from '../../../src/base/untrusted';
import { PermissionRequestHandler } from '../../../src/client/requests/permissionRequestHandler';
import { projectItem, projectTerminal, projectTurn } from '../../../src/client/view/projectItem';
import { SessionModel } from '../../../src/session/model/model';
import { MemoryTransport } from '../../support/memoryTransport';
import { readerOf, readInto } from '../../support/protocol/onlyReads';
import { corpus, FIRST, makePlay, type Play, SEEDS } from './fuzzPlays';
import { pick, type Random, randomFrom, textOf } from './mutate';

/** One in this many seeds is sent over a connection, as bytes. */
const OVER_WIRE = 8;
/** Maximum characters of one entry in a view. */
const MAX_VIEW = 13_000_000;

class Reader {
  readonly model = new SessionModel();
  readonly desk = new PermissionRequestHandler((event) => this.model.apply(event, 0));
  readonly answers: Promise<unknown>[] = [];
  readonly #dialect: Dialect;
  readonly #random: Random;
  #turns = 0;

  constructor(version: 1 | 2, random: Random) {
    this.#dialect = readerOf(version);
    this.#random = random;
  }

  update(value: unknown): void {
    this.#dialect.readUpdates(
      [value],
      readInto((event) => this.model.apply(event, 0)),
    );
    if (this.#random() < 0.1) this.#turn();
  }

  permission(params: unknown): void {
    try {
      const ask = required(this.#dialect.controls).readPermission(params);
      this.answers.push(this.desk.ask(ask, this.#random() < 0.2, new AbortController().signal));
    } catch (error) {
      assert.ok(error instanceof RpcError, `not an answer to the agent: ${messageOf(error)}`);
    }
  }

  #turn(): void {
    const turnId = `t${++this.#turns}`;
    this.model.apply({ type: 'turn_started', turnId, origin: 'user', at: 0 }, 0);
    this.model.apply({ type: 'turn_ended', turnId, stopReason: 'end_turn', barrier: 'response', at: 0 }, 0);
  }
}

/** Sends it as bytes over a connection, among lines that are no messages. */
async function overWire({ said }: Play, reader: Reader, random: Random): Promise<void> {
  const transport = new MemoryTransport();
  let reached = (): void => {};
  const all = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const rpc = new RpcConnection({
    transport,
    log: silentLog,
    handlers: {
      onUpdates: (batch) => {
        for (const params of batch) reader.update(at(params, 'update'));
      },
      onRequest: async (_method, params) => {
        reader.permission(params);
        return {};
      },
      onNotification: (method) => {
        if (method === '_test/reached') reached();
      },
    },
  });
  const lines = said.map(({ kind, value }, id) =>
    textOf(
      kind === 'update'
        ? { jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's', update: value } }
        : { jsonrpc: '2.0', id: `q${id}`, method: 'session/request_permission', params: value },
    ),
  );
  const noise = [
    '',
    '\r',
    'npm warn',
    '{"half":',
    '[]',
    '{}',
    'null',
    '{"jsonrpc":"2.0","id":77,"result":1}',
    '\ufeff{',
  ];
  for (const line of [...lines, '{"jsonrpc":"2.0","method":"_test/reached"}']) {
    if (random() < 0.3) transport.say(`${pick(random, noise)}\n`);
    const bytes = Buffer.from(`${line}\n`);
    const cut = Math.floor(random() * bytes.length);
    transport.say(bytes.subarray(0, cut));
    transport.say(bytes.subarray(cut));
  }
  await all;
  rpc.dispose();
}

async function check({ said, canaries }: Play, reader: Reader): Promise<void> {
  const { model, desk, answers } = reader;
  const { state } = model;
  const context = { state, turn: (id: string) => model.turn(id), roots: ['/rig/run/ws'], isOpenable: () => false };
  assert.ok(state.entries.length <= said.length * 4 + 8, `${state.entries.length} entries of ${said.length} messages`);
  let text = '';
  for (const entry of state.entries) {
    if (entry.kind === 'agent') for (const block of entry.content) if (block.type === 'text') text += block.text;
    const size = JSON.stringify(projectItem(entry, context, true)).length;
    assert.ok(size < MAX_VIEW, `${size} characters for one entry`);
  }
  for (const turn of state.turns) projectTurn(turn);
  for (const [id, terminal] of state.terminals) projectTerminal(id, terminal, context);
  for (const canary of canaries) assert.ok(text.includes(canary), `${canary} is lost`);
  desk.cancelAll('turn');
  for (const answer of await Promise.all(answers)) assert.equal(at(answer, 'outcome', 'outcome'), 'cancelled');
  assert.equal(state.permissions.size, 0);
  assert.equal(at({}, 'polluted') ?? ({} as { polluted?: unknown }).polluted, undefined);
}

describe('an agent that sends anything at all', function () {
  this.timeout(SEEDS * 50 + 20_000);

  it(`is shown completely in bounded memory (${SEEDS} seeds)`, async () => {
    const lists = corpus();
    for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
      const random = randomFrom(seed);
      const play = makePlay(seed, random, lists);
      const reader = new Reader(play.version, random);
      try {
        if (seed % OVER_WIRE === 0) await overWire(play, reader, random);
        else for (const { kind, value } of play.said) reader[kind](JSON.parse(textOf(value)));
        await check(play, reader);
      } catch (error) {
        throw new Error(`seed ${seed}: ${messageOf(error)}`, { cause: error });
      }
    }
  });
});
