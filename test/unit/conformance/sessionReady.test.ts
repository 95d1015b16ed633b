// The proposal session/ready with a conforming agent: which capability counts, when the signal is
// sent, and what may precede it.
import { strict as assert } from 'node:assert';
import { at } from '../../../src/base/untrusted';
import type { ReferenceScript } from '../../support/agents/reference/referenceScript';
import { RACING } from '../../support/agents/reference/referenceScript';
import { proof } from '../../support/protocol/proof';
import { Rig } from './rig';

const places = [
  ['capabilities', 'session', 'ready'],
  ['capabilities', '_meta', 'session/ready'],
  ['agentCapabilities', 'session', 'ready'],
  ['agentCapabilities', 'sessionCapabilities', 'ready'],
  ['agentCapabilities', '_meta', 'session/ready'],
  ['agentCapabilities', '_meta', 'session', 'ready'],
  ['_meta', 'session/ready'],
  ['_meta', 'session', 'ready'],
] as const;
const ready = { path: ['agentCapabilities', 'session', 'ready'] } as const;
const early = Array.from({ length: RACING }, (_, index) => `early-${index + 1} `).join('');

for (const version of [1, 2] as const)
  describe(`session/ready in version ${version}`, function () {
    this.timeout(30_000);
    const rig = Rig.each(version);

    const readies = (): number => rig.sessionMethods.filter((method) => method === 'session/ready').length;
    const untilCommands = (): Promise<void> => rig.session.until(({ model }) => model.state.commands.length > 0);

    for (const path of places) {
      it(`is sent to an agent that asks for it in ${path.join('.')}`, async () => {
        rig.open({ ready: { path } });
        await rig.send('say x');
        await untilCommands();
        assert.deepEqual(rig.sessionMethods, ['initialize', 'session/new', 'session/ready', 'session/prompt']);
      });
    }

    for (const value of [true, {}, { since: 1 }]) {
      it(`is sent to an agent that asks for it with ${JSON.stringify(value)}`, async () => {
        rig.open({ ready: { ...ready, value } });
        await rig.send('say x');
        assert.equal(readies(), 1);
      });
    }

    for (const value of [false, null, 'true', 'yes', 1, 0, [], [true]]) {
      it(`is not sent to an agent that did not ask for it: ${JSON.stringify(value)}`, async () => {
        rig.open({ ready: { ...ready, value, counts: false } });
        await rig.send('say x');
        assert.equal(readies(), 0);
      });
    }

    for (const race of ['before', 'same-write', 'bytes', 'after'] as const) {
      it(`is sent when the session is ready: updates race against the answer (${race})`, async () => {
        let shownBefore = '';
        rig.open(
          { ready, race },
          {
            onTraffic: (_, dir, line) => {
              if (dir === 'out' && at(JSON.parse(line), 'method') === 'session/ready') shownBefore = rig.said();
            },
          },
        );
        await rig.send('say x');
        assert.equal(rig.said().replace('\nx', ''), early);
        if (race !== 'after') assert.equal(shownBefore, early, 'what came before the answer was there');
        assert.deepEqual(rig.sessionMethods, ['initialize', 'session/new', 'session/ready', 'session/prompt']);
        await untilCommands();
      });
    }

    it('preserves updates that race against the answer of an agent without the signal', async () => {
      rig.open({ race: 'same-write' });
      await rig.send('say x');
      assert.equal(rig.said().replace('\nx', ''), early);
    });

    it('applies updates that precede the answer after the answer', async () => {
      rig.open({ race: 'same-write', offers: ['config'] });
      await rig.conversation.start();
      assert.deepEqual(
        rig.conversation.model.state.config.map(({ value }) => value),
        ['large'],
      );
    });

    it('is not sent if the session was not opened', async () => {
      rig.open({ ready, refuse: { 'session/new': -32603 } });
      await rig.conversation.start();
      assert.equal(rig.conversation.connection.kind, 'failed');
      assert.deepEqual(rig.sessionMethods, ['initialize', 'session/new']);
    });

    it('is sent when the session opens after a sign-in', async () => {
      rig.open({
        ready,
        authMethods: [{ id: 'login', methodId: 'login', name: 'Log in', ...(version === 2 && { type: 'agent' }) }],
        refuse: { 'session/new': -32000 },
      });
      await rig.conversation.start();
      assert.equal(rig.conversation.connection.kind, 'authRequired');
      assert.equal(readies(), 0);
      await rig.conversation.signIn('login');
      await rig.send('say x');
      assert.deepEqual(rig.sessionMethods, [
        'initialize',
        'session/new',
        version === 2 ? 'auth/login' : 'authenticate',
        'session/new',
        'session/ready',
        'session/prompt',
      ]);
    });

    it('is followed by the waiting message when the user retries after a sign-in request', async () => {
      const offers = version === 1 ? (['load'] as const) : [];
      rig.open({ ready, saved: ['reference-1'], offers, refuse: { 'session/prompt': -32000 } });
      const { done } = rig.conversation.send('say x');
      done.catch(() => {});
      await rig.session.until(({ connection }) => connection.kind === 'authRequired');
      const before = rig.sessionMethods.length;
      await rig.conversation.restart();
      await rig.session.until(({ connection }) => connection.kind === 'authRequired');
      const again = version === 1 ? 'session/load' : 'session/resume';
      assert.deepEqual(rig.sessionMethods.slice(before), ['initialize', again, 'session/ready', 'session/prompt']);
    });

    it('is sent to an agent that was restarted', async () => {
      rig.open({ ready });
      await rig.send('say x');
      await rig.conversation.restart();
      await rig.send('say y');
      assert.equal(readies(), 2);
      // Agents of version 2 are asked to resume first; this one has lost the session.
      const tried = version === 2 ? ['session/resume'] : [];
      assert.deepEqual(rig.sessionMethods.slice(4), [
        'initialize',
        ...tried,
        'session/new',
        'session/ready',
        'session/prompt',
      ]);
    });

    if (version === 2) return;
    const again: ReferenceScript = { ready, saved: ['old'], offers: ['load', 'resume', 'fork'] };
    proof('leaves an agent waiting whose session was loaded', ['v1:session/load', 'v1:agent/loadSession'], async () => {
      rig.open({ ...again, offers: ['load'] });
      await rig.conversation.reopen({ kind: 'reopen', sessionId: 'old', transcript: 'replay' });
      await rig.send('say x');
      assert.deepEqual(rig.sessionMethods, ['initialize', 'session/load', 'session/ready', 'session/prompt']);
      assert.match(rig.said(), /Answer 1\nAnswer 2\nAnswer 3\nx/);
      await untilCommands();
    });

    proof(
      'leaves an agent waiting whose session was resumed',
      ['v1:session/resume', 'v1:agent/sessionCapabilities.resume'],
      async () => {
        rig.open({ ...again, offers: ['resume'] });
        await rig.conversation.reopen({ kind: 'reopen', sessionId: 'old', transcript: 'keep' });
        await rig.send('say x');
        assert.deepEqual(rig.sessionMethods, ['initialize', 'session/resume', 'session/ready', 'session/prompt']);
      },
    );

    proof(
      'leaves an agent waiting whose session was forked',
      ['v1:session/fork', 'v1:agent/sessionCapabilities.fork'],
      async () => {
        rig.open(again);
        await rig.conversation.reopen({ kind: 'fork', sessionId: 'old' });
        await rig.send('say x');
        assert.deepEqual(rig.sessionMethods, ['initialize', 'session/fork', 'session/ready', 'session/prompt']);
      },
    );

    it('is not sent for a session that could not be loaded', async () => {
      rig.open({ ready, offers: ['load'] });
      await rig.conversation.reopen({ kind: 'reopen', sessionId: 'gone', transcript: 'replay' });
      assert.ok(rig.sessionMethods.includes('session/load'));
      assert.equal(readies(), 0);
    });
  });
