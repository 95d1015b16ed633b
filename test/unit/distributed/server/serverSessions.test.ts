// The sessions of our server are shared by all windows of an installation, and never replaced by an
// empty one.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { ParleyError } from '../../../../src/base/errors';
import { mintId, type RunEvent } from '../../../../src/distributed/model/model';
import type { ResourceStore } from '../../../../src/distributed/model/resources';
import { SessionFiles } from '../../../../src/distributed/server/serverSessionFiles';
import { LocalStore } from '../../../../src/distributed/stores/localStore';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import {
  agentOf,
  echo,
  fetchPast,
  historyEcho,
  type RunningServer,
  serve,
  stopServers,
  textIn,
  userMessage,
} from '../../../support/servers/servedAgents';
import { raw, textAt } from '../model/serverUnderTest';

const signal = new AbortController().signal;

describe('the sessions of the agent server', () => {
  afterEach(async () => {
    await stopServers();
    await removeScratch();
  });

  async function installation() {
    const [folder, messages, secret] = [await scratchFolder(), await scratchFolder(), randomBytes(32)];
    const token = randomBytes(32).toString('base64url');
    return async (agents = [echo, historyEcho], more: { stores?: () => Promise<readonly ResourceStore[]> } = {}) => {
      let baseUrl: string | undefined;
      const store = new LocalStore({ folder: messages, secret, baseUrl: () => baseUrl });
      const running = await serve(agents, {
        token,
        stores: async () => [store],
        sessions: new SessionFiles({ folder }),
        serveResource: (id, exp, sig, gone) => store.serve(id, exp, sig, gone),
        ...more,
      });
      baseUrl = running.baseUrl;
      return { ...running, store };
    };
  }

  const say = async ({ client }: RunningServer, text: string, fields: object = {}) =>
    client.runSync({ agentName: 'echo', input: [userMessage(text)], ...fields }, signal);

  async function texts({ client }: RunningServer, id: string): Promise<readonly string[]> {
    return Promise.all((await client.session(id, signal)).history.map(textAt));
  }

  async function toldIn({ client }: RunningServer, runId: string): Promise<readonly unknown[]> {
    const events: readonly RunEvent[] = await client.events(runId, signal);
    const codes = events.flatMap((event) =>
      event.type === 'generic' ? [(event.generic as Record<string, unknown>)['parley/notice']] : [],
    );
    const { output } = await client.run(runId, signal);
    const steps = output.flatMap(({ parts }) => parts).filter(({ metadata }) => metadata?.kind === 'trajectory');
    assert.equal(steps.length, codes.length);
    return codes;
  }

  it('outlive their window, with links to the next one', async () => {
    const open = await installation();
    const first = await open();
    const { session_id: sessionId = '' } = await say(first, 'one');
    const before = await first.client.session(sessionId, signal);
    await first.server.stop();
    const second = await open();
    assert.notEqual(second.baseUrl, first.baseUrl);
    const run = await say(second, 'two', { session: before });
    assert.deepEqual(await toldIn(second, run.run_id), []);
    await say(second, 'three', { sessionId });
    assert.deepEqual(await texts(second, sessionId), ['one', 'one', 'two', 'two', 'three', 'three']);
  });

  it('are handed out once their messages are on the linked server', async () => {
    const open = await installation();
    const bucket = new LocalStore({
      folder: await scratchFolder(),
      secret: randomBytes(32),
      baseUrl: () => 'http://b.test',
    });
    let answer: 'down' | 'refuses' | 'takes' = 'down';
    const flaky: ResourceStore = {
      id: 'bucket',
      isLocal: false,
      put: async (...args) => {
        if (answer === 'takes') return bucket.put(...args);
        throw new ParleyError(answer === 'down' ? 'store-down' : 'store-denied', 'Not now.');
      },
      get: (key, gone) => bucket.get(key, gone),
      urlFor: (key, options) => bucket.urlFor(key, options),
      keyOf: (url) => bucket.keyOf(url),
      remove: (key, gone) => bucket.remove(key, gone),
    };
    const { store: local } = await open();
    const running = await open([echo], { stores: async () => [flaky, local] });
    const first = await say(running, 'one');
    const { session_id: sessionId = '' } = first;
    assert.deepEqual(await toldIn(running, first.run_id), ['messages-waiting']);
    assert.match(String(first.output.at(-1)?.parts.at(-1)?.metadata?.message), /^2 messages of this run are waiting/);
    const hosts = async (): Promise<string[]> =>
      (await running.client.session(sessionId, signal)).history.map((url) => new URL(url).hostname);
    assert.deepEqual(await hosts(), ['127.0.0.1', '127.0.0.1'], 'they can be read here');
    answer = 'takes';
    const uploaded = await running.client.session(sessionId, signal);
    assert.deepEqual([await hosts(), (await bucket.list('', signal)).length], [['b.test', 'b.test'], 2]);
    // A client with the local links continues the same version.
    answer = 'refuses';
    await say(running, 'two', { session: uploaded });
    assert.equal((await hosts()).length, 4);
  });

  for (const id of [mintId(), 'session-123'])
    it(`are created by a descriptor or an unknown id: ${id.length === 36 ? 'a UUID' : id}`, async () => {
      const running = await serve([echo]);
      const unknown = await raw(running, 'GET', `/sessions/${id}`);
      assert.equal(unknown.status, 404);
      assert.deepEqual([JSON.parse(unknown.text).code, JSON.parse(unknown.text).data], ['not_found', null]);
      const { session_id: begun } = await say(running, 'one', { sessionId: id });
      assert.equal(begun, id);
      await say(running, 'two', { sessionId: id });
      assert.deepEqual(await texts(running, id), ['one', 'one', 'two', 'two']);
      const other = mintId();
      await say(running, 'three', { session: { id: other, history: [] } });
      assert.deepEqual(await texts(running, other), ['three', 'three']);
    });

  it('keep the messages of two windows that use one session concurrently', async () => {
    const open = await installation();
    const windows = [await open(), await open()] as const;
    const { session_id: sessionId = '' } = await say(windows[0], 'one');
    const all = ['a', 'b', 'c', 'd', 'e', 'f'];
    await Promise.all(all.map((text, at) => say(windows[at % 2 ? 0 : 1], text, { sessionId })));
    const said = await texts(windows[1], sessionId);
    assert.deepEqual([...said].sort(), ['one', 'one', ...all, ...all].sort());
    // The messages of a turn stay together.
    for (let at = 0; at < said.length; at += 2) assert.equal(said[at], said[at + 1]);
    assert.deepEqual(await texts(windows[0], sessionId), said);
  });

  it('notify a run that another client added messages', async () => {
    const open = await installation();
    const other = await open();
    const { session_id: sessionId = '' } = await say(other, 'one');
    const slow = agentOf('slow', async (input, out) => {
      await say(other, 'meanwhile', { sessionId });
      out.message(input[0]?.parts ?? []);
    });
    const window = await open([slow]);
    const run = await window.client.runSync({ agentName: 'slow', input: [userMessage('two')], sessionId }, signal);
    assert.deepEqual(await toldIn(window, run.run_id), ['session-grew']);
    assert.deepEqual(await texts(window, sessionId), ['one', 'one', 'meanwhile', 'meanwhile', 'two', 'two']);
  });

  it('keep all diverging versions, and notify runs on them', async () => {
    const [running, elsewhere] = [await serve([echo]), await serve([echo])];
    const { session_id: id = '' } = await say(running, 'one');
    const start = await running.client.session(id, signal);
    await say(running, 'here', { sessionId: id });
    await say(elsewhere, 'there', { session: start });
    const theirs = await elsewhere.client.session(id, signal);
    const forked = await say(running, 'on', { session: theirs });
    assert.deepEqual(await toldIn(running, forked.run_id), ['session-forked']);
    const byId = [await say(running, 'by id', { sessionId: id }), await say(running, 'again', { sessionId: id })];
    assert.deepEqual(await Promise.all(byId.map((run) => toldIn(running, run.run_id))), [['session-contested'], []]);
    const { versions } = JSON.parse((await raw(running, 'GET', `/sessions/${id}/versions`)).text);
    const lines = await Promise.all(
      versions.map(async ({ history }: { history: string[] }) => (await Promise.all(history.map(textAt))).join(' ')),
    );
    assert.deepEqual(lines, ['one one there there on on by id by id again again', 'one one here here']);
    const behind = await say(running, 'behind', { session: start });
    assert.deepEqual(await toldIn(running, behind.run_id), ['session-forked']);
    assert.deepEqual(await texts(running, id), ['one', 'one', 'behind', 'behind']);
  });

  it('report unreadable messages besides the answer', async () => {
    const running = await serve([historyEcho]);
    const { session_id: id = '' } = await running.client.runSync(
      { agentName: 'history_echo', input: [userMessage('one')] },
      signal,
    );
    const { history } = await running.client.session(id, signal);
    const session = { id: mintId(), history: ['http://127.0.0.1:1/gone', ...history] };
    const run = await running.client.runSync({ agentName: 'history_echo', input: [], session }, signal);
    assert.deepEqual(await toldIn(running, run.run_id), ['history-gaps']);
    assert.match(
      String(run.output.at(-1)?.parts.at(-1)?.metadata?.message),
      /^1 of 3 messages of this session could not be read\. Message 1: unreachable/,
    );
    assert.deepEqual(run.output.slice(0, 3).map(textIn), ['[unreachable]', 'one', 'one']);
  });

  it('fall back to the next store, and report a run that no store accepts', async () => {
    const open = await installation();
    const { store } = await open();
    const refuse = () => Promise.reject(new ParleyError('store-denied', 'The bucket refuses.'));
    const refusing: ResourceStore = {
      id: 'refusing',
      isLocal: false,
      put: refuse,
      get: refuse,
      urlFor: refuse,
      keyOf: async () => undefined,
      remove: refuse,
    };
    const running = await open([echo], { stores: async () => [refusing, store] });
    const { session_id: id = '' } = await say(running, 'one');
    assert.equal((await running.client.session(id, signal)).history.length, 2);
    const broken = await open([echo], { stores: async () => [refusing] });
    const run = await say(broken, 'two', { sessionId: id });
    assert.deepEqual(await toldIn(broken, run.run_id), ['not-recorded']);
    assert.equal(run.output[0] && textIn(run.output[0]), 'two');
  });

  it('hold 10,000 messages without loss', async () => {
    const running = await serve([echo], { history: (session, gone) => fetchPast(session.history.slice(0, 1), gone) });
    const history = Array.from(
      { length: 9_998 },
      (_, at) => `https://bucket.example.org/sessions/${mintId()}/${at}?${'x'.repeat(400)}`,
    );
    const id = mintId();
    const run = await say(running, 'one', { session: { id, history } });
    assert.deepEqual([run.status, await toldIn(running, run.run_id)], ['completed', []]);
    const found = await running.client.session(id, signal);
    assert.deepEqual([found.history.length, found.history.slice(0, 9_998)], [10_000, history]);
  });

  it('stay short enough for clients, and the run reports unrecorded messages', async () => {
    const running = await serve([echo]);
    const session = { id: mintId(), history: Array.from({ length: 19_999 }, (_, at) => `https://example.org/${at}`) };
    const run = await say(running, 'one', { session });
    assert.deepEqual(await toldIn(running, run.run_id), ['not-recorded']);
    assert.match(String(run.output.at(-1)?.parts.at(-1)?.metadata?.message), /has 19999 messages and cannot hold more/);
    assert.equal((await running.client.session(session.id, signal)).history.length, 19_999);
  });

  describe('on the disk', () => {
    it('are written by one of two concurrent writers', async () => {
      const folder = await scratchFolder();
      const [a, b] = [new SessionFiles({ folder }), new SessionFiles({ folder })];
      const won = await Promise.all([a.write('s', 'a', 0), b.write('s', 'b', 0)]);
      assert.deepEqual([...won].sort(), [false, true]);
      assert.deepEqual(await a.read('s'), { text: won[0] ? 'a' : 'b', revision: 1 });
      assert.equal(await b.write('s', 'c', 1), true);
      assert.deepEqual(await a.read('s'), { text: 'c', revision: 2 });
      assert.equal(await a.read('t'), undefined);
    });

    it('fall back to the previous version if the last one is damaged', async () => {
      const folder = await scratchFolder();
      const files = new SessionFiles({ folder });
      for (let revision = 0; revision < 5; revision++) await files.write('s', `text ${revision}`, revision);
      const [name = ''] = await readdir(folder);
      const versions = (await readdir(join(folder, name))).sort();
      assert.deepEqual(versions, ['0000000004.json', '0000000005.json']);
      await truncate(join(folder, name, versions[1] ?? ''), 20);
      assert.deepEqual(await files.read('s'), { text: 'text 3', revision: 5 });
      assert.equal(await files.write('s', 'text 5', 5), true);
      assert.deepEqual(await files.read('s'), { text: 'text 5', revision: 6 });
    });

    it('stay within their limits by removing the least recently written', async () => {
      const folder = await scratchFolder();
      const files = new SessionFiles({ folder, maxSessions: 10, maxBytes: 1000, maxTotalBytes: 5000 });
      for (let at = 0; at < 12; at++) await files.write(`s${at}`, 'x', 0);
      assert.ok((await readdir(folder)).length <= 10);
      assert.equal((await files.read('s11'))?.text, 'x');
      await assert.rejects(files.write('s11', 'x'.repeat(1001), 1), { code: 'session-too-large' });
      for (let at = 0; at < 9; at++) await files.write('s11', 'x'.repeat(900), at + 1);
      assert.equal((await files.read('s11'))?.revision, 10);
      assert.ok((await readdir(folder)).length > 1);
    });
  });
});
