// The session of a conversation with HTTP agents when its window ends during an answer.
import { strict as assert } from 'node:assert';
import { Deferred } from '../../../../src/base/deferred';
import { silentLog } from '../../../../src/base/log';
import { CommunicationChat } from '../../../../src/client/http/communicationChat';
import { CommunicationClient } from '../../../../src/distributed/client/communicationClient';
import type { Message } from '../../../../src/distributed/model/model';
import { SessionModel } from '../../../../src/session/model/model';
import { type OriginalServer, originalServer } from '../../../support/servers/originalServer';
import { textIn, userMessage } from '../../../support/servers/servedAgents';
import { stopStubs } from '../../../support/servers/stubServer';
import { plainLinks } from '../../distributed/client/chatBench';
import { Kept } from './farAgents';

const signal = new AbortController().signal;
const says = (text: string): Message => ({ ...userMessage(text), role: 'agent/a' });
const text = (words: string) => [{ type: 'text' as const, text: words }];

describe('the session of a conversation with an HTTP agent', () => {
  afterEach(stopStubs);

  const chatOver = (stored: Kept, transcript: readonly Message[] = []): CommunicationChat => {
    const services = { log: silentLog, clock: { now: Date.now }, descriptors: stored, historyLinks: () => plainLinks };
    return new CommunicationChat('test', services, new SessionModel(), () => transcript);
  };
  const at = ({ baseUrl }: OriginalServer) => ({ client: new CommunicationClient({ baseUrl }), agentName: 'a' });

  /**
   * Returns the stored state when the window fails while the agent answers.
   * @param until called with what the agent sends
   */
  async function failed(server: OriginalServer, words: string, isOver: boolean): Promise<{ stored: Kept; id: string }> {
    const running = new Kept();
    const chat = chatOver(running);
    const begun = new Deferred<void>();
    chat.attach((event) => event.type === 'message_chunk' && begun.resolve());
    const id = chat.begin(at(server));
    let before = '';
    const write = running.write.bind(running);
    running.write = async (key, value) => {
      before ||= value;
      await write(key, value);
    };
    const sent = chat.send(text(words), signal);
    await begun.promise;
    if (isOver) await sent;
    else sent.catch(() => undefined);
    const stored = new Kept();
    stored.texts.set('test', before);
    return { stored, id };
  }

  it('contains the part of the answer received before the window failed', async () => {
    const a = await originalServer();
    const { stored, id } = await failed(a, 'stop', false);
    const chat = chatOver(stored, [userMessage('stop'), says('I begin')]);
    await chat.open(id, at(a), signal);
    await chat.send(text('go on'), signal);
    assert.deepEqual(a.knew.at(-1), ['stop', 'I begin', 'go on']);
  });

  it('contains the whole answer once if the server has recorded it since', async () => {
    const a = await originalServer();
    const { stored, id } = await failed(a, 'one', true);
    const chat = chatOver(stored, [userMessage('one'), says('I kn')]);
    await chat.open(id, at(a), signal);
    await chat.send(text('go on'), signal);
    assert.deepEqual(a.knew.at(-1), ['one', 'I know 1', 'go on']);
  });

  it('does not mistake an earlier answer for an interrupted one', async () => {
    const a = await originalServer();
    const { stored, id } = await failed(a, 'stop', false);
    const chat = chatOver(stored, [userMessage('before'), says('an answer')]);
    await chat.open(id, at(a), signal);
    await chat.send(text('go on'), signal);
    assert.deepEqual(a.knew.at(-1), ['stop', 'go on']);
  });

  it('is shared with copies of held messages, even before an agent is reached', async () => {
    const a = await originalServer();
    const { stored } = await failed(a, 'stop', false);
    const copies: string[] = [];
    const recorder = {
      has: async () => true,
      record: async (message: Message) => `http://own.test/${copies.push(textIn(message))}`,
    };
    const descriptor = await chatOver(stored).handOut(recorder, signal);
    assert.deepEqual(descriptor?.history, ['http://own.test/1']);
    assert.deepEqual((await chatOver(stored).handOut(recorder, signal))?.history, ['http://own.test/1']);
    assert.deepEqual(copies, ['stop']);
    const elsewhere = { ...recorder, has: async () => false };
    assert.deepEqual((await chatOver(stored).handOut(elsewhere, signal))?.history, ['http://own.test/2']);
  });
});
