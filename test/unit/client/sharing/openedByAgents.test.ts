// A session that moves from machine to machine, with an agent on each.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { silentLog } from '../../../../src/base/log';
import { FileStore } from '../../../../src/client/sharing/fileStore';
import { originsOf } from '../../../../src/client/sharing/historyEvents';
import { openHistory } from '../../../../src/client/sharing/openedHistory';
import { openedFrom } from '../../../../src/client/sharing/provenanceNotices';
import { SessionLog } from '../../../../src/client/sharing/sessionLog';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import type { SessionDescriptor } from '../../../../src/distributed/model/model';
import { LocalStore } from '../../../../src/distributed/stores/localStore';
import { readAgentLog, scriptedAgent } from '../../../support/agents/definition';
import { pluck } from '../../../support/pluck';
import { scratchFolder } from '../../../support/scratch';
import { parseAgent, type TestConversation, testConversation } from '../../../support/sessions/conversation';
import { closeResolvers, resolver } from '../../distributed/fetch/resolvers';
import { type Loopback, serve } from '../../distributed/loopback';

const never = new AbortController().signal;

describe('a session from elsewhere', function () {
  this.timeout(30_000);
  const open: TestConversation[] = [];
  const logs: SessionLog[] = [];

  afterEach(async () => {
    for (const one of open.splice(0)) await one.close();
    for (const log of logs.splice(0)) {
      await log.settled();
      log.dispose();
    }
    await closeResolvers();
  });

  describe('with agents', () => {
    interface Machine {
      readonly session: TestConversation;
      readonly log: SessionLog;
      readonly store: LocalStore;
      readonly server: Loopback;
      readonly agentLog: string;
    }

    async function machine(number: number): Promise<Machine> {
      const folder = await scratchFolder();
      let store: LocalStore | undefined;
      const server = await serve((request, response) => {
        const url = new URL(request.url ?? '', 'http://x');
        const id = url.pathname.slice('/resources/'.length);
        store?.serve(id, url.searchParams.get('exp'), url.searchParams.get('sig'), never).then(
          ({ bytes }) => response.end(bytes),
          () => response.writeHead(404).end(),
        );
      });
      store = new LocalStore({
        folder: join(folder, 'resources'),
        secret: Buffer.alloc(32, number),
        baseUrl: () => server.origin,
      });
      const agentLog = join(folder, 'agent.ndjson');
      const agent = parseAgent(scriptedAgent('plain', agentLog), 'scripted');
      const session = testConversation({ agent, cwd: folder, key: `m${number}` });
      open.push(session);
      const own = store;
      const log = new SessionLog({
        key: session.conversation.key,
        model: session.conversation.model,
        agentName: () => `agent${number}`,
        stores: async () => [own],
        fileStore: new FileStore(join(folder, 'fileStore')),
        isWanted: () => true,
        log: silentLog,
        onTrouble: (error) => assert.fail(String(error)),
      });
      logs.push(log);
      return { session, log, store, server, agentLog };
    }

    async function arrive(descriptor: SessionDescriptor, { session, log, store }: Machine) {
      const { conversation } = session;
      const options = {
        place: conversation,
        resolver: resolver({ stores: [store] }),
        now: Date.now,
        head: [openedFrom(descriptor)],
        onDidShow: () => {
          log.begin(descriptor);
          return undefined;
        },
      };
      return openHistory(descriptor, options, never);
    }

    const prompts = (agentLog: string): string[] =>
      readAgentLog(agentLog).flatMap((line) => {
        const text = JSON.stringify(line);
        return text.includes('session/prompt') ? [text] : [];
      });

    it('keeps its messages across three machines and back to the first', async () => {
      const [a, b, c, back] = await Promise.all([machine(1), machine(2), machine(3), machine(1)]);
      assert.ok(a && b && c && back);
      let descriptor: SessionDescriptor | undefined;
      for (const [index, at] of [a, b, c].entries()) {
        if (descriptor) assert.equal((await arrive(descriptor, at)).gaps.length, 0);
        assert.equal((await at.session.conversation.send(`say answer ${index}`).done).stopReason, 'end_turn');
        descriptor = await at.log.descriptor();
        assert.equal(descriptor.history.length, 2 * (index + 1));
      }
      assert.ok(descriptor);
      assert.deepEqual(
        pluck(originsOf(descriptor.history), 'count'),
        [2, 2, 2],
        'each machine keeps what was said on it, and nothing else',
      );
      await arrive(descriptor, back);
      const { entries } = snapshotOf(back.session.conversation);
      assert.deepEqual(
        entries.filter(({ kind }) => kind !== 'notice').map(({ kind, text }) => `${kind}: ${text}`),
        [0, 1, 2].flatMap((index) => [`user: say answer ${index}`, `agent: answer ${index}`]),
      );
      assert.equal((await a.log.descriptor()).history.length, 2, 'who handed it over keeps its own version');
      assert.equal((await back.log.descriptor()).id, descriptor.id);
    });

    it('is passed to an agent that did not take part', async () => {
      const [a, b] = await Promise.all([machine(1), machine(2)]);
      assert.ok(a && b);
      await a.session.conversation.send('say the word is blue').done;
      const given = await a.log.descriptor();
      const descriptor = { ...given, history: [...given.history, `${a.server.origin}/resources/nothing`] };
      await arrive(descriptor, b);
      await b.session.conversation.send('say hello').done;
      const [sent] = prompts(b.agentLog);
      assert.match(sent ?? '', /Transcript of the conversation so far/);
      assert.match(sent ?? '', /the word is blue/);
      assert.match(sent ?? '', /unavailable: message-missing 3 not-found/);
      const notices = b.session.conversation.model.state.entries.flatMap((entry) =>
        entry.kind === 'notice' ? [`${entry.said?.code}`] : [],
      );
      assert.ok(notices.includes('new-session'), notices.join());
      assert.doesNotMatch(notices.join('\n'), /resumed/i);
    });

    it('is passed to the next agent with the texts of remote parts', async () => {
      const far = await serve((request, response) => {
        if (request.url === '/very-large-text') response.end('the word is green');
        else {
          const parts = [{ content_type: 'text/plain', content_url: `${far.origin}/very-large-text` }];
          response.end(JSON.stringify({ role: 'agent/assistant', parts }));
        }
      });
      const at = await machine(1);
      await arrive({ id: 'session-123', history: [`${far.origin}/message-1`] }, at);
      await at.session.conversation.send('say hello').done;
      assert.match(prompts(at.agentLog)[0] ?? '', /Assistant: the word is green/);
    });
  });
});
