// Conversations with HTTP agents of the Agent Communication Protocol: our own server, and servers
// that break off, reject requests or send unexpected responses.

import { strict as assert } from 'node:assert';
import { Deferred } from '../../../../src/base/deferred';
import { localize } from '../../../../src/base/localizable';
import { phaseOf, projectSession, statusOf } from '../../../../src/client/view/projectSession';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import { textPart } from '../../../../src/distributed/model/model';
import { agentOf, serve } from '../../../support/servers/servedAgents';
import { json, stubServer } from '../../../support/servers/stubServer';
import { AGENTS, define, remoteFor, TOKEN, texts, useFarAgents } from './farAgents';

describe('an HTTP agent in the panel', function () {
  this.timeout(20_000);
  const { open, openServed } = useFarAgents();

  it('is ready after requesting only the agent from its server', async () => {
    const opened = await openServed('echo');
    const { conversation } = opened;
    const { stopReason } = await conversation.send('hello').done;
    assert.equal(stopReason, 'end_turn');
    assert.deepEqual(texts(opened), ['hello']);
    const { protocol, sessionId } = snapshotOf(conversation);
    assert.equal(protocol, 'communication');
    assert.equal(sessionId, conversation.communication.descriptor?.id);
    assert.equal(conversation.communication.descriptor?.history.length, 2);
    assert.deepEqual(
      conversation.stages.view.map(({ name, state }) => `${name} ${state}`),
      ['resolve done', 'connect done', 'initialize done', 'session done', 'ready skipped'],
    );
  });

  it('reports why it failed', async () => {
    const opened = await openServed('failing');
    assert.equal((await opened.conversation.send('go').done).stopReason, 'error');
    assert.deepEqual(texts(opened), ['partial']);
    const error = opened.conversation.model.state.entries.find((entry) => entry.kind === 'error');
    assert.equal(error?.text, 'bad input');
  });

  it('stops working after Stop, and its answer so far stays', async () => {
    const opened = await openServed('endless');
    const { conversation, until } = opened;
    const { done } = conversation.send('go');
    await until((one) => one.model.state.entries.some(({ kind }) => kind === 'agent'));
    conversation.cancel();
    assert.equal((await done).stopReason, 'cancelled');
    assert.deepEqual(texts(opened), ['a ']);
    assert.equal(phaseOf(conversation), 'ready');
  });

  it('is cancelled when its conversation is closed', async () => {
    const stopped = new Deferred<void>();
    const runs = agentOf('runs', async (_input, out, _context, signal) => {
      out.part(textPart('begun'));
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const watched = {
      ...runs,
      run: (...args: Parameters<typeof runs.run>) => runs.run(...args).finally(() => stopped.resolve()),
    };
    const server = await serve([watched]);
    const { conversation, until } = open(define(server.baseUrl, 'runs', { Authorization: TOKEN }), {
      remote: remoteFor(server),
    });
    conversation.send('go').done.catch(() => {});
    await until((one) => one.model.state.entries.some(({ kind }) => kind === 'agent'));
    await conversation.close();
    await stopped.promise;
  });

  describe('whose server', () => {
    it('ends the turn with an error when it goes down, and is used again once it is back', async () => {
      const opened = await openServed('endless');
      const { conversation, until, server } = opened;
      const { done } = conversation.send('go');
      await until((one) => one.model.state.entries.some(({ kind }) => kind === 'agent'));
      await server.server.stop();
      assert.match((await done).stopReason, /^(error|cancelled)$/);
      const { done: next } = conversation.send('again');
      assert.equal((await next).stopReason, 'error');
      const error = conversation.model.state.entries.findLast((entry) => entry.kind === 'error');
      assert.equal(error?.code, 'agent-server-unreachable');
      assert.match(localize(error?.hint ?? ''), /Check that it's running/);
      assert.equal(phaseOf(conversation), 'ready');
      await serve(AGENTS, { token: server.token }, Number(new URL(server.baseUrl).port));
      conversation.send('once more').done.catch(() => {});
      await until((one) => one.model.state.entries.filter(({ kind }) => kind === 'agent').length === 2);
    });

    for (const [what, answer, code, words] of [
      ['wants credentials', 401, 'agent-server-unauthorized', /Manage Agents/],
      ['refuses access', 403, 'agent-server-forbidden', /Check the “headers”/],
      ['is a web page', 'page', 'agent-server-answer', /Agent Communication Protocol/],
      ['is something else', 404, 'not-an-agent-server', /Check the “url”/],
      ['is another place', 301, 'agent-server-redirect', /doesn't follow redirects/],
    ] as const) {
      it(`gets a message with a remedy when it ${what}`, async () => {
        const stub = await stubServer((_request, response) => {
          if (answer === 'page') {
            response.writeHead(200, { 'content-type': 'text/html' });
            response.end('<h1>Hello</h1>');
          } else {
            response.writeHead(answer, { location: 'http://127.0.0.1:1/' });
            response.end();
          }
        });
        const { conversation } = open(define(stub.baseUrl, 'a'));
        await conversation.start();
        const { error } = projectSession(conversation);
        assert.equal(error?.code, code);
        assert.match(error?.message ?? '', /^Far: /);
        assert.match(error?.hint ?? '', words);
      });
    }

    it('lists its agents if the configured one is missing', async () => {
      const { conversation } = await openServed('nobody');
      await conversation.start();
      const { error } = projectSession(conversation);
      assert.equal(error?.code, 'agent-unknown');
      assert.match(error?.hint ?? '', /^It has echo, awaiting, failing, /);
    });

    it('gets only its own secret, and none unencrypted over the network', async () => {
      const asked: string[] = [];
      const remote = {
        secret: async (origin: string): Promise<string> => {
          asked.push(origin);
          return 'sesame-street';
        },
        allowCleartext: async () => false,
      };
      const stub = await stubServer((_request, response) =>
        json(response, 401, { code: 'invalid_input', message: 'sesame-street is no token', data: null }),
      );
      const near = open(define(stub.baseUrl, 'a', { Authorization: TOKEN }), { remote });
      await near.conversation.start();
      assert.deepEqual(asked, [stub.baseUrl]);
      assert.equal(stub.requests[0]?.headers.authorization, 'Bearer sesame-street');
      assert.equal(JSON.stringify(projectSession(near.conversation)).includes('sesame'), false);
      await near.close();
      const far = open(define('http://agents.example.com', 'a', { Authorization: TOKEN }), { remote });
      await far.conversation.start();
      assert.equal(projectSession(far.conversation).error?.code, 'remote-cleartext');
      assert.equal(asked.length, 1);
    });

    it('gets no request from an untrusted workspace', async () => {
      const stub = await stubServer((_request, response) => json(response, 200, {}));
      const { conversation } = open(define(stub.baseUrl, 'a'), { isTrusted: () => false });
      await conversation.start();
      assert.equal(statusOf(conversation), 'Restricted Mode');
      assert.equal(stub.requests.length, 0);
    });
  });

  it('is offered only the kinds of content that it accepts', async () => {
    const stub = await stubServer(({ path }, response) =>
      path === '/ping'
        ? json(response, 404, {})
        : json(response, 200, { name: 'a', input_content_types: ['text/plain', 'image/png'] }),
    );
    const { conversation, close } = open(define(stub.baseUrl, 'a'));
    await conversation.start();
    assert.deepEqual(conversation.promptCapabilities, { image: true, audio: false, embeddedContext: false });
    await close();
    const all = await openServed('echo');
    await all.conversation.start();
    assert.deepEqual(all.conversation.promptCapabilities, { image: true, audio: true, embeddedContext: true });
  });
});
