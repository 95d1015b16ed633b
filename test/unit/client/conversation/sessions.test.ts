// Tests session methods with real agent processes that store sessions in a file and exit on
// requests that they don't offer.

import { strict as assert } from 'node:assert';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionInfo } from '../../../../src/acp/protocol/dialect';
import { Deferred } from '../../../../src/base/deferred';
import type { Conversation } from '../../../../src/client/conversation/conversation';
import { type McpOffer, NO_MCP_SERVERS } from '../../../../src/client/mcp/mcpOffer';
import { projectSession, statusOf } from '../../../../src/client/view/projectSession';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import { pluck } from '../../../support/pluck';
import { sameData } from '../../../support/sameData';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { spokenIn } from '../../../support/sessions/conversation';
import { SessionAgents } from '../../../support/sessions/sessionAgents';

const signal = new AbortController().signal;

describe('a session of the agent', function () {
  this.timeout(30_000);
  let folder: string;
  let agents: SessionAgents;

  beforeEach(async () => {
    folder = await scratchFolder();
    agents = new SessionAgents(folder);
  });
  afterEach(async () => {
    const violations = await agents.close();
    await removeScratch();
    assert.deepEqual(violations, []);
  });

  const past = ['user: one', 'agent: Heard one', 'user: two', 'agent: Heard two'];

  const reopened = (sessionId: string, script: Parameters<SessionAgents['open']>[0]) =>
    agents.open(script, { opening: { kind: 'reopen', sessionId, transcript: 'replay' } });

  describe('that is loaded', () => {
    for (const replay of ['before', 'after', 'both'] as const) {
      it(`shows the transcript in order if the agent replays it ${replay} its answer`, async () => {
        const script = { load: true, replay, ready: true };
        const sessionId = await agents.past(script, 'one', 'two');
        const { conversation, until } = reopened(sessionId, script);
        await conversation.start();
        await until((c) => spokenIn(c).length === past.length);
        assert.deepEqual(spokenIn(conversation), past);
        assert.equal(conversation.sessionId, sessionId);
        const { turns, entries } = snapshotOf(conversation);
        sameData(turns, [
          { id: 'r1', origin: 'user' },
          { id: 'r2', origin: 'user' },
        ]);
        assert.ok(entries.every(({ late, turnId }) => !late && turnId !== undefined));
        const tools = entries.filter(({ kind }) => kind === 'tool');
        assert.deepEqual(pluck(tools, 'turnId'), ['r1', 'r2'], 'an id that each turn uses again is another call');
      });
    }

    it('shows no activity during a replay, and continues in a separate turn', async () => {
      const script = { load: true, ready: true };
      const sessionId = await agents.past(script, 'one');
      const { conversation, until } = reopened(sessionId, script);
      const phases = new Set<string>();
      const looking = until((c) => {
        phases.add(projectSession(c).phase);
        return c.connection.kind === 'ready';
      });
      await conversation.start();
      await looking;
      assert.ok(!phases.has('running'));
      assert.equal(conversation.model.state.replaying, true);
      await conversation.send('three').done;
      assert.equal(conversation.model.state.replaying, false);
      assert.deepEqual(spokenIn(conversation).slice(-2), ['user: three', 'agent: Heard three']);
      assert.equal(snapshotOf(conversation).turns.at(-1)?.stopReason, 'end_turn');
    });

    it('shows the agent’s error if it is missing, offers a new one, and keeps messages queued', async () => {
      const { conversation } = reopened('nobody', { load: true });
      await conversation.start();
      const { error, phase } = projectSession(conversation);
      assert.equal(phase, 'failed');
      assert.equal(error?.code, 'session-not-found');
      assert.match(error?.message ?? '', /^Keeper couldn't open the session: No session nobody\.$/);
      assert.deepEqual(error?.actions[0], { id: 'newSession', label: 'New session', primary: true });
      assert.equal(conversation.sessionId, undefined);
    });

    it('can be retried if the agent reports it as missing with a custom error code', async () => {
      const { conversation } = reopened('nobody', { load: true, unknownCode: -32603 });
      await conversation.start();
      assert.equal(projectSession(conversation).error?.code, 'session-not-opened');
      await conversation.restart();
      assert.equal(agents.calls('session/load').length, 2);
      assert.equal(agents.calls('session/new').length, 0);
    });

    it('is shown once if it was shown already, and stays if the agent refuses', async () => {
      const { conversation } = agents.open({ load: true });
      await conversation.send('one').done;
      await conversation.send('two').done;
      const sessionId = String(conversation.sessionId);
      await conversation.reopen({ kind: 'reopen', sessionId, transcript: 'keep' });
      assert.deepEqual(spokenIn(conversation), past);
      await conversation.reopen({ kind: 'reopen', sessionId: 'nobody', transcript: 'replay' });
      assert.equal(projectSession(conversation).error?.code, 'session-not-found');
      assert.deepEqual(spokenIn(conversation), past);
    });

    it('names the request that the agent never answers', async () => {
      const { conversation } = agents.open(
        { load: true, mute: ['session/load'] },
        {
          opening: { kind: 'reopen', sessionId: 'any', transcript: 'replay' },
          services: { startTimeoutMs: () => 2000 },
        },
      );
      await conversation.start();
      const { error } = projectSession(conversation);
      assert.equal(error?.stage, 'session');
      assert.match(error?.message ?? '', /no response to session\/load within/);
    });
  });

  describe('that is resumed', () => {
    it('keeps the existing transcript, without a notice about a new session', async () => {
      const script = { load: true, offers: ['resume'], ready: true };
      const { conversation } = agents.open(script);
      await conversation.send('one').done;
      const { sessionId } = conversation;
      assert.ok(sessionId);
      await conversation.reopen({ kind: 'reopen', sessionId, transcript: 'keep' });
      await conversation.send('two').done;
      assert.deepEqual(spokenIn(conversation), past);
      assert.equal(conversation.sessionId, sessionId);
      assert.deepEqual(
        snapshotOf(conversation).entries.filter(({ kind }) => kind === 'notice'),
        [],
      );
      assert.equal(agents.calls('session/resume').length, 1);
      assert.equal(agents.calls('session/ready').length, 2, 'once for each success');
    });
  });

  describe('in the list', () => {
    const all = async (conversation: Conversation, query = {}): Promise<SessionInfo[]> => {
      const sessions: SessionInfo[] = [];
      for await (const page of conversation.ops.list(query, signal)) sessions.push(...page);
      return sessions;
    };

    it('is found on its page, with one request per page', async () => {
      const script = { offers: ['list'], pageSize: 2 };
      const ids = [await agents.past(script), await agents.past(script), await agents.past(script)];
      const { conversation } = agents.open(script);
      await conversation.start();
      const pages = conversation.ops.list({}, signal);
      assert.equal((await pages.next()).value?.length, 2);
      assert.equal(agents.calls('session/list').length, 1);
      await pages.return(undefined);
      const sessions = await all(conversation);
      assert.deepEqual(pluck(sessions, 'sessionId'), [...ids, conversation.sessionId]);
      assert.ok(sessions.every(({ cwd, updatedAt }) => cwd === folder && updatedAt !== undefined));
      assert.deepEqual(agents.calls('session/list')[0], { cwd: folder });
    });

    it('is found by its folder here if the agent can’t filter by folder', async () => {
      const script = { offers: ['list'], findsNoFolder: true };
      const old = await agents.past(script);
      const { conversation } = agents.open(script);
      await conversation.start();
      assert.deepEqual(pluck(await all(conversation), 'sessionId'), [old, conversation.sessionId]);
      assert.deepEqual(agents.calls('session/list'), [{ cwd: folder }, {}]);
      const { conversation: elsewhere } = agents.open(script, { cwd: tmpdir() });
      await elsewhere.start();
      assert.deepEqual(pluck(await all(elsewhere), 'sessionId'), [elsewhere.sessionId]);
    });

    it('has the title that only the list contains', async () => {
      const { conversation, until } = agents.open({ offers: ['list'], title: 'A title' });
      await conversation.start();
      await conversation.send('one').done;
      await until((c) => c.model.state.title === 'A title');
    });

    it('is removed after it was deleted', async () => {
      const script = { offers: ['list', 'delete'] };
      const old = await agents.past(script);
      const { conversation } = agents.open(script);
      await conversation.start();
      await conversation.ops.delete(old, signal);
      assert.deepEqual(pluck(await all(conversation), 'sessionId'), [conversation.sessionId]);
    });

    it('can be archived and restored', async () => {
      const script = { offers: ['list', 'archive'] };
      const old = await agents.past(script);
      const { conversation } = agents.open(script);
      await conversation.start();
      await conversation.ops.archive(old, true, signal);
      assert.deepEqual(pluck(await all(conversation, { archived: true }), 'sessionId'), [old]);
      assert.equal((await all(conversation)).length, 1);
      await conversation.ops.archive(old, false, signal);
      assert.equal((await all(conversation)).length, 2);
    });

    it('is not requested if the agent does not offer lists', async () => {
      const { conversation } = agents.open({});
      await conversation.start();
      await assert.rejects(all(conversation), { code: 'cannot-do' });
      await assert.rejects(conversation.ops.delete('any', signal), { code: 'cannot-do' });
      await assert.rejects(conversation.ops.archive('any', true, signal), { code: 'cannot-do' });
    });
  });

  describe('that gets a title', () => {
    it('has the title as stored by the agent', async () => {
      const { conversation } = agents.open({ offers: ['title'] });
      await conversation.start();
      await conversation.ops.rename('  My \n work ', signal);
      assert.equal(snapshotOf(conversation).title, 'My work!');
    });

    it('has the title in this window if the agent stores none', async () => {
      const { conversation } = agents.open({});
      await conversation.start();
      await conversation.ops.rename('Mine', signal);
      assert.equal(snapshotOf(conversation).title, 'Mine');
      await assert.rejects(conversation.ops.rename('  ', signal), { code: 'empty-title' });
    });
  });

  describe('that is closed', () => {
    it('is closed by the agent before its process ends', async () => {
      const session = agents.open({ offers: ['close'] });
      await session.conversation.start();
      const { sessionId } = session.conversation;
      await session.close();
      assert.deepEqual(agents.calls('session/close'), [{ sessionId }]);
    });

    it('is ended even if the agent does not answer', async () => {
      const session = agents.open({ offers: ['close'], mute: ['session/close'] });
      await session.conversation.start();
      await session.close();
      assert.equal(session.conversation.connection.kind, 'idle');
    });

    it('is not closed for a restart', async () => {
      const { conversation } = agents.open({ offers: ['close'] });
      await conversation.start();
      await conversation.restart();
      assert.equal(agents.calls('session/close').length, 0);
    });
  });

  describe('in a workspace of several folders', () => {
    const other = '/somewhere/else';

    it('gets all folders each time it is opened', async () => {
      const script = { load: true, offers: ['resume', 'additionalDirectories'] };
      const { conversation } = agents.open(script, { roots: [folder, other] });
      await conversation.start();
      const { sessionId } = conversation;
      assert.ok(sessionId);
      await conversation.reopen({ kind: 'reopen', sessionId, transcript: 'keep' });
      await conversation.reopen({ kind: 'reopen', sessionId, transcript: 'replay' });
      for (const method of ['session/new', 'session/resume', 'session/load']) {
        const [params] = agents.calls(method) as { cwd: string; additionalDirectories: string[] }[];
        assert.deepEqual([method, params?.cwd, params?.additionalDirectories], [method, folder, [other]]);
      }
    });

    it('gets only the first folder if the agent supports one', async () => {
      const { conversation } = agents.open({}, { roots: [folder, join(folder, 'b')] });
      await conversation.start();
      assert.equal(conversation.connection.kind, 'ready');
    });
  });

  describe('with MCP servers', () => {
    const servers = [
      { name: 'files', type: 'stdio', command: '/bin/files', args: ['-x'], env: { A: '1' } },
      { name: 'docs', type: 'http', url: 'https://docs.example', headers: { T: 'x' } },
      { name: 'old', type: 'sse', url: 'https://old.example', headers: {} },
    ] as const;

    it('passes on the servers that the agent supports, and says once which ones are missing', async () => {
      const { conversation } = agents.open(
        { mcp: { http: true } },
        { services: { mcpServers: async () => ({ servers, problems: ['broken: it has no command.'] }) } },
      );
      await conversation.start();
      await conversation.restart();
      const [params] = agents.calls('session/new') as { mcpServers: unknown[] }[];
      assert.deepEqual(params?.mcpServers, [
        { name: 'files', command: '/bin/files', args: ['-x'], env: [{ name: 'A', value: '1' }] },
        { type: 'http', name: 'docs', url: 'https://docs.example', headers: [{ name: 'T', value: 'x' }] },
      ]);
      const notices = snapshotOf(conversation).entries.filter(({ kind }) => kind === 'notice');
      assert.equal(notices.length, 1);
      assert.match(notices[0]?.text ?? '', /broken: it has no command\.\nold: Keeper doesn't support .* sse\./);
    });

    it('waits for the user’s consent, and says so', async () => {
      const asked = new Deferred<McpOffer>();
      const asking = agents.open(
        {},
        {
          services: {
            mcpServers: (_cwd, _signal, onAsking) => {
              onAsking(true);
              return asked.promise.finally(() => onAsking(false));
            },
          },
        },
      );
      void asking.conversation.start();
      await asking.until((c) => statusOf(c) === 'Waiting for you');
      asked.resolve(NO_MCP_SERVERS);
      await asking.until((c) => statusOf(c) === 'Ready');
    });

    it('is opened without servers if they can’t be read, or if the user stops the start while asked', async () => {
      const first = agents.open({}, { services: { mcpServers: () => Promise.reject(new Error('no such setting')) } });
      await first.conversation.start();
      assert.equal(first.conversation.connection.kind, 'ready');
      const second = agents.open({}, { services: { mcpServers: () => new Promise(() => {}) } });
      const start = second.conversation.start();
      await second.until((c) => c.stages.view.some(({ name, state }) => name === 'initialize' && state === 'done'));
      second.conversation.cancel();
      await start;
      assert.equal(second.conversation.connection.kind, 'idle');
    });
  });
});
