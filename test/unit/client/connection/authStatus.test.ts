// Tests the reported sign-in state of an agent: it is shown and acted on, but not stored.
import { strict as assert } from 'node:assert';
import { readAuthStatus, readAuthUpdate } from '../../../../src/acp/protocol/authStatus';
import { accountsText } from '../../../../src/client/view/accounts';
import { sessionInfo } from '../../../../src/client/view/sessionInfo';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { ChoosySession } from '../../../support/sessions/choosySession';

const ADAPTER = '_auth/status_update';
const none = { authStatus: { kind: 'none', label: 'Not logged in' } };
const max = {
  authStatus: {
    kind: 'account',
    label: 'Claude Max',
    account: { plan: 'max', email: 'ada@example.org', organization: 'A' },
  },
};

describe('the signed-in user', () => {
  const told = (method: string, params: unknown): string | undefined => accountsText(readAuthUpdate(method, params));

  it('is read from the status messages of adapters', () => {
    assert.equal(told(ADAPTER, max), 'Claude Max · ada@example.org · A');
    const key = { kind: 'api_key', label: 'Anthropic API key', detail: 'ANTHROPIC_API_KEY' };
    assert.equal(told(ADAPTER, { authStatus: key }), 'Anthropic API key · ANTHROPIC_API_KEY');
    assert.equal(told(ADAPTER, none), 'signed out');
    for (const params of [undefined, {}, { authStatus: null }, { authStatus: { label: 'x' } }])
      assert.equal(told(ADAPTER, params), undefined);
    assert.equal(told('session/update', max), undefined);
  });

  it('is the active account if there are several', () => {
    const accounts = [{ label: 'Key' }, { label: 'Team', name: 'Ada', active: true }, { label: 7 }, null];
    assert.equal(told('auth/status_update', { state: 'authenticated', accounts }), 'Team · Ada');
    assert.equal(told('auth/status_update', { state: 'unauthenticated', accounts }), 'signed out');
  });

  it('has only what the agent reports, and is bounded', () => {
    const states = ['authenticated', 'not_required', 'unknown', '_else', 3];
    assert.deepEqual(
      states.map((state) => accountsText(readAuthStatus({ state }))),
      ['signed in', 'no sign-in needed', undefined, undefined, undefined],
    );
    const many = Array.from({ length: 1000 }, () => ({ label: 'x'.repeat(10_000), email: 'y'.repeat(10_000) }));
    const { accounts } = readAuthStatus({ state: 'authenticated', accounts: many });
    assert.ok(JSON.stringify(accounts).length < 20_000);
  });
});

describe('a sign-out outside of the window', () => {
  let session: ChoosySession;

  beforeEach(async () => {
    session = new ChoosySession(await scratchFolder());
    session.open();
    await session.conversation.start();
  });
  afterEach(async () => {
    await session.close();
    await removeScratch();
  });

  const account = (): string | undefined =>
    sessionInfo(session.conversation).find(({ label }) => label === 'Account')?.value;
  const tell = async (params: object, shown: string): Promise<void> => {
    session.agent.notify(ADAPTER, params);
    await session.until(() => account() === shown);
  };

  it('shows the sign-in, and returns to the session after the user has signed in', async () => {
    await tell(max, 'Claude Max · ada@example.org · A');
    await tell(none, 'signed out');
    assert.equal(session.conversation.connection.kind, 'authRequired');
    const { done } = session.conversation.send('one');
    await tell(max, 'Claude Max · ada@example.org · A');
    assert.equal((await done).stopReason, 'end_turn');
    assert.doesNotMatch(JSON.stringify(session.events), /ada@example\.org/);
  });

  it('is ignored if the agent has never reported a signed-in user', async () => {
    await tell(none, 'signed out');
    assert.equal(session.conversation.connection.kind, 'ready');
    assert.equal((await session.conversation.send('one').done).stopReason, 'end_turn');
  });
});
