// Sessions under random events: whatever happens between servers, windows and other clients, each message is there once, and prompts are in their order.
import assert from 'node:assert/strict';
import { Deferred } from '../../../src/base/deferred';
import { silentLog } from '../../../src/base/log';
import { CommunicationChat } from '../../../src/client/communicationChat';
import { CommunicationClient } from '../../../src/distributed/communicationClient';
import type { SessionEvent } from '../../../src/session/event';
import { type OriginalServer, originalServer } from '../../support/originalServer';
import { userMessage } from '../../support/servedAgents';
import { seeded } from '../../support/store/random';
import { stopStubs } from '../../support/stubServer';
import { Kept } from '../client/farAgents';
import { plainLinks } from './chatBench';

const signal = new AbortController().signal;
const EVENTS = ['say', 'say', 'stop', 'fail', 'ask', 'withdraw', 'move', 'reopen', 'crash', 'other', 'forget'] as const;
const STEPS = 14;
const SEEDS = 50;

/** Runs one story, and gives what the agent of a server that nobody knew before is told at its end. */
async function story(
  seed: number,
): Promise<{ readonly knew: readonly string[]; readonly said: readonly string[]; readonly events: string }> {
  const below = seeded(seed);
  const servers = [await originalServer(), await originalServer(), await originalServer()];
  let kept = new Kept();
  const placeOf = ({ baseUrl }: OriginalServer) => ({ client: new CommunicationClient({ baseUrl }), agentName: 'a' });
  const said: string[] = [];
  const told: string[] = [];
  let heard = new Deferred<void>();
  const newChat = (): CommunicationChat => {
    const services = { log: silentLog, clock: { now: Date.now }, descriptors: kept, historyLinks: () => plainLinks };
    const chat = new CommunicationChat('test', services, () => []);
    chat.attach((event: SessionEvent) => event.type === 'message_chunk' && heard.resolve());
    return chat;
  };
  let server = servers[0]!;
  let chat = newChat();
  const id = chat.begin(placeOf(server));
  const send = (text: string) => {
    said.push(text);
    heard = new Deferred<void>();
    return chat.send([{ type: 'text', text }], signal);
  };
  for (let step = 0; step < STEPS; step++) {
    const event = EVENTS[below(EVENTS.length)]!;
    told.push(event);
    if (event === 'say' || event === 'fail') await send(`${event} ${step}`);
    else if (event === 'stop') {
      const sent = send(`stop ${step}`);
      await heard.promise;
      await chat.cancel();
      await sent;
    } else if (event === 'ask') {
      await send(`ask ${step}`);
      await send(`answer ${step}`);
    } else if (event === 'withdraw') {
      await send(`ask ${step}`);
      await chat.cancel();
    } else if (event === 'move') {
      server = servers[below(servers.length)]!;
      await chat.open(id, placeOf(server), signal);
    } else if (event === 'reopen' && said.length > 0) {
      chat = newChat();
      await chat.open(id, placeOf(server), signal);
    } else if (event === 'crash') {
      // The window is gone in the middle of an answer; what it would write after that is nobody's.
      send(`stop ${step}`).catch(() => undefined);
      await heard.promise;
      const texts = [...kept.texts];
      kept = new Kept();
      for (const [key, text] of texts) kept.texts.set(key, text);
      chat = newChat();
      await chat.open(id, placeOf(server), signal);
    } else if (event === 'other' || event === 'forget') {
      const theirs = server.session(id)?.history;
      const ours = chat.descriptor?.history ?? [];
      // What only a server knows is lost with it, and who goes on from something else than we do begins a branch.
      if (!theirs || JSON.stringify(theirs) !== JSON.stringify(ours)) continue;
      if (event === 'forget') server.forgetSession(id);
      else {
        said.push(`other ${step}`);
        server.record(id, theirs, [userMessage(`other ${step}`)]);
      }
    }
  }
  // What others have said at a server that is left is taken along.
  const last = await originalServer();
  await chat.open(id, placeOf(last), signal);
  await send('end');
  return { knew: last.knew.at(-1) ?? [], said, events: told.join() };
}

describe('a session under random events', function () {
  this.timeout(60_000);
  afterEach(stopStubs);

  it(`has each message once, and prompts in their order, in each of ${SEEDS} stories`, async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { knew, said, events } = await story(seed);
      const words = `seed ${seed}: ${events}\n${JSON.stringify(knew)}`;
      const prompts = knew.filter((text) => /^(say|stop|fail|ask|answer|other) \d+$|^end$/.test(text));
      assert.deepEqual([...prompts].sort(), [...said].sort(), words);
      const own = (texts: readonly string[]) => texts.filter((text) => !/^(other|answer)/.test(text));
      assert.deepEqual(own(prompts), own(said), words);
      await stopStubs();
    }
  });
});
