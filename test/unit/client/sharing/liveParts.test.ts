// Parts of an HTTP agent's answer with their own addresses, loaded during the answer.

import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Deferred } from '../../../../src/base/deferred';
import { ContextHandoff } from '../../../../src/client/connection/contextHandoff';
import { readLivePart, retryGap } from '../../../../src/client/sharing/historyRetries';
import { transcriptOf } from '../../../../src/client/sharing/messageCollector';
import { Guard } from '../../../../src/distributed/fetch/guard';
import type { Resolver } from '../../../../src/distributed/fetch/resolver';
import { type MessagePart, textPart } from '../../../../src/distributed/model/model';
import { textOfTurn } from '../../../../src/session/model/entryText';
import type { Entry, GapEntry } from '../../../../src/session/model/state';
import { pluck } from '../../../support/pluck';
import { sameData } from '../../../support/sameData';
import { agentOf, part, serve as serveAgents } from '../../../support/servers/servedAgents';
import type { TestConversation } from '../../../support/sessions/conversation';
import { closeResolvers, kept, resolver } from '../../distributed/fetch/resolvers';
import { type Loopback, serve } from '../../distributed/loopback';
import { define, remoteFor, TOKEN, useFarAgents } from '../http/farAgents';

const never = new AbortController().signal;

describe('parts of an answer that are stored elsewhere', function () {
  this.timeout(20_000);
  const { open } = useFarAgents();
  let server: Loopback;
  let answers: Map<string, (request: IncomingMessage, response: ServerResponse) => void>;

  beforeEach(async () => {
    answers = new Map();
    server = await serve((request, response) => {
      const answer = answers.get(request.url ?? '');
      if (answer) answer(request, response);
      else response.writeHead(404).end();
    });
  });
  afterEach(closeResolvers);

  const says = (path: string, body: string | Buffer): void => {
    answers.set(path, (_request, response) => response.end(body));
  };
  const remote = (path: string, more: object = {}): MessagePart =>
    part({ content_url: `${server.origin}${path}`, ...more });

  /** A conversation with an agent that answers with these parts, and what is loaded of them. */
  async function asked(parts: readonly MessagePart[], of: Resolver = resolver()) {
    const agent = agentOf('writer', async (_input, out) => {
      for (const one of parts) out.part(one);
    });
    const running = await serveAgents([agent]);
    const reading: Promise<void>[] = [];
    const opened: TestConversation = open(define(running.baseUrl, 'writer', { Authorization: TOKEN }), {
      remote: remoteFor(running),
      readPart: (_key, gapId) => {
        const place = opened.conversation;
        reading.push(readLivePart(gapId, { place, resolver: of, now: Date.now }, never));
      },
    });
    const { conversation } = opened;
    const result = await conversation.send('write').done;
    const retry = (gapId: string, more: Partial<Parameters<typeof retryGap>[2]> = {}) =>
      retryGap(gapId, '', { place: conversation, resolver: of, now: Date.now, ...more }, never);
    return { conversation, result, retry, read: () => Promise.all(reading) };
  }

  const entriesOf = ({ conversation }: { conversation: TestConversation['conversation'] }): readonly Entry[] =>
    conversation.model.state.entries;
  const gapsOf = (of: { conversation: TestConversation['conversation'] }): readonly GapEntry[] =>
    entriesOf(of).filter((entry) => entry.kind === 'gap');
  const shownIn = (of: { conversation: TestConversation['conversation'] }): readonly string[] =>
    entriesOf(of).flatMap((entry) => {
      if (entry.kind === 'gap') return [`gap ${entry.state}`];
      if (entry.kind !== 'agent') return [];
      return [entry.content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('')];
    });

  it('are loaded in place if they are short texts', async () => {
    says('/plan', 'shelves **first**');
    says('/stamp.png', Buffer.from([1, 2]));
    const picture = remote('/stamp.png', { content_type: 'image/png' });
    const one = await asked([textPart('Look: '), remote('/plan'), textPart('Done.'), picture]);
    await one.read();
    assert.equal(one.result.stopReason, 'end_turn');
    assert.deepEqual(shownIn(one), ['Look: ', 'shelves **first**', 'Done.', 'gap unloaded']);
    const { state } = one.conversation.model;
    const turnId = entriesOf(one).find(({ kind }) => kind === 'user')?.turnId ?? '';
    assert.equal(textOfTurn(state, turnId), 'Look: \n\nshelves **first**\n\nDone.', 'it is part of what is copied');
    assert.deepEqual(pluck(server.seen, 'path'), ['/plan'], 'nothing but text is fetched unasked');
    assert.equal(await one.retry(gapsOf(one)[0]?.gapId ?? ''), true);
    const last = entriesOf(one).findLast(({ kind }) => kind === 'agent');
    sameData(last?.kind === 'agent' && last.content, [{ type: 'image', mimeType: 'image/png', data: 'AQI=' }]);
  });

  it('do not delay the run', async () => {
    const gate = new Deferred<void>();
    answers.set('/slow', (_request, response) => void gate.promise.then(() => response.end('late words')));
    const one = await asked([remote('/slow'), textPart('Done.')]);
    assert.equal(one.result.stopReason, 'end_turn');
    assert.deepEqual(shownIn(one), ['gap loading', 'Done.']);
    gate.resolve();
    await one.read();
    assert.deepEqual(shownIn(one), ['late words', 'Done.']);
  });

  it('reach the next agent with the transcript: as text if loaded, else as addresses', async () => {
    says('/plan', 'the word is blue');
    const zip = remote('/a.zip', { content_type: 'application/zip', name: 'a.zip' });
    const one = await asked([remote('/plan'), zip]);
    await one.read();
    const seed = new ContextHandoff();
    seed.starting(entriesOf(one));
    assert.ok(seed.ready('s', true, entriesOf(one)));
    const [block] = seed.take({ embeddedContext: false } as never, entriesOf(one));
    assert.match(
      block?.type === 'text' ? block.text : '',
      /Assistant: the word is blue\n\n\[not loaded: part-unloaded a\.zip /,
    );
    const said = transcriptOf(one.conversation.model, 'writer').findLast(({ role }) => role === 'agent/writer');
    assert.deepEqual(
      said?.parts.map(({ content, content_url: url, name }) => [content, url, name]),
      [
        ['the word is blue', undefined, undefined],
        [undefined, `${server.origin}/a.zip`, 'a.zip'],
      ],
    );
  });

  it('are loaded with the token of their server only, which is requested at the gap', async () => {
    answers.set('/locked', ({ headers }, response) => {
      if (headers.authorization === 'Bearer open') response.end('secret words');
      else response.writeHead(401).end();
    });
    let token: string | undefined;
    const credentials = async (origin: string) =>
      token !== undefined && origin === server.origin ? { authorization: `Bearer ${token}` } : undefined;
    const of = resolver({ guard: kept(new Guard({ isAllowed: () => true, credentials })) });
    const one = await asked([remote('/locked')], of);
    await one.read();
    assert.equal(gapsOf(one)[0]?.said?.args[1], 'unauthorized');
    const asking: string[] = [];
    const unlock = async (url: string): Promise<boolean> => {
      asking.push(url);
      token = 'open';
      return true;
    };
    assert.equal(await one.retry(gapsOf(one)[0]?.gapId ?? '', { unlock }), true);
    assert.deepEqual([asking, shownIn(one)], [[`${server.origin}/locked`], ['secret words']]);
    assert.equal(server.seen[0]?.headers.authorization, undefined, 'the token of the agent goes to the agent alone');
  });

  it('are not loaded from a server that the user has not allowed', async () => {
    says('/plan', 'words');
    const one = await asked([remote('/plan')], resolver({ guard: kept(new Guard({ isAllowed: () => false })) }));
    await one.read();
    assert.deepEqual([server.connections, shownIn(one)], [0, ['gap retryable']]);
    assert.equal(gapsOf(one)[0]?.said?.args[1], 'blocked');
  });

  it('are limited to 100 per run; the rest are links', async () => {
    for (let at = 0; at < 110; at++) says(`/t${at}`, `${at}`);
    const one = await asked(Array.from({ length: 110 }, (_, at) => remote(`/t${at}`)));
    await one.read();
    assert.equal(server.seen.length, 100);
    assert.equal(shownIn(one).at(-1), '[resource_link]'.repeat(10));
  });
});
