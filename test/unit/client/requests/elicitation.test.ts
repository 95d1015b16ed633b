// Forms and pages of real agent processes: answered once, by the user only, and never left open.

import { strict as assert } from 'node:assert';
import { basename, join } from 'node:path';
import { RpcError } from '../../../../src/acp/jsonrpc/rpcError';
import { readElicitation } from '../../../../src/acp/protocol/elicitation';
import { phaseOf, projectSession } from '../../../../src/client/view/projectSession';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import { readAgentLog, scriptedAgent } from '../../../support/agents/definition';
import type { AgentScript } from '../../../support/agents/script';
import { everyField } from '../../../support/agents/scripted/elicitationPlays';
import { pluck } from '../../../support/pluck';
import { kill } from '../../../support/processes';
import { sameData } from '../../../support/sameData';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { parseAgent, type TestConversation, testConversation } from '../../../support/sessions/conversation';

describe('elicitation', function () {
  this.timeout(30_000);
  let session: TestConversation;
  let agentLog: string;

  async function open(script: AgentScript = {}): Promise<TestConversation> {
    const cwd = await scratchFolder();
    agentLog = join(cwd, '..', `${basename(cwd)}.agent.ndjson`);
    const agent = parseAgent(scriptedAgent(script, agentLog), 'scripted');
    session = testConversation({ agent, cwd });
    return session;
  }

  afterEach(async () => {
    await session?.close();
    assert.deepEqual(
      readAgentLog(agentLog).filter(({ ev }) => ev === 'violation'),
      [],
    );
    await removeScratch();
  });

  const asked = () => projectSession(session.conversation).elicitations;
  const said = (): string =>
    snapshotOf(session.conversation)
      .entries.filter(({ kind }) => kind === 'agent')
      .map(({ text }) => text)
      .join('\n');
  const notices = (): (string | undefined)[] =>
    snapshotOf(session.conversation)
      .entries.filter(({ kind }) => kind === 'notice')
      .map(({ text }) => text);
  const oneIsAsked = () => session.until((c) => c.model.state.elicitations.size === 1);
  const handler = () => session.conversation.elicitations;

  it('offers only the modes that it supports', async () => {
    await open();
    await session.conversation.send('say x').done;
    const initialize = readAgentLog(agentLog).find(({ dir, msg }) => dir === 'in' && msg?.method === 'initialize');
    const { clientCapabilities } = (initialize?.msg?.params ?? {}) as { clientCapabilities: Record<string, unknown> };
    assert.deepEqual(clientCapabilities.elicitation, { form: {}, url: {} });
    assert.deepEqual([clientCapabilities.plan, clientCapabilities.subagents], [{}, {}]);
  });

  it('shows every field of a form with its rules', async () => {
    await open();
    const turn = session.conversation.send('elicit');
    await oneIsAsked();
    assert.equal(phaseOf(session.conversation), 'requiresAction');
    const [question] = asked();
    assert.ok(question?.mode === 'form');
    assert.equal(question.message, 'Which database shall I use?');
    assert.deepEqual(pluck(question.form.fields, 'key', 'type', 'required'), [
      ['name', 'text', true],
      ['mail', 'text', false],
      ['kind', 'choice', true],
      ['port', 'integer', false],
      ['share', 'number', false],
      ['tls', 'boolean', false],
      ['users', 'choices', true],
      ['shape', 'unknown', false],
    ]);
    handler().refuse(question.id, 'decline');
    await turn.done;
    assert.match(said(), /\{"action":"decline"\}/);
    assert.match(notices().join(), /Declined by you/);
  });

  it('accepts exactly the answers that follow the rules', async () => {
    await open();
    const turn = session.conversation.send('elicit');
    await oneIsAsked();
    const id = asked()[0]?.id ?? '';
    const problems = await handler().submit(id, { name: 'X', port: 0, users: [], mail: 'no' });
    assert.deepEqual(
      [...(problems ?? [])].map(([key, { code }]) => `${key} ${code}`),
      ['name tooShort', 'mail email', 'kind required', 'port tooSmall', 'users required'],
    );
    assert.equal(asked().length, 1, 'it is still open');
    assert.equal(
      (await handler().submit(id, { name: 'main', kind: 'pg', port: 5432, tls: false, users: ['ann'], extra: 1 }))
        ?.size,
      0,
    );
    assert.equal(await handler().submit(id, { name: 'again', kind: 'pg', users: ['ann'] }), undefined, 'answered once');
    await turn.done;
    assert.match(
      said(),
      /\{"action":"accept","content":\{"name":"main","kind":"pg","port":5432,"tls":false,"users":\["ann"\]\}\}/,
    );
    assert.match(notices().join(), /5432/, 'the answer stands beside the question');
  });

  it('is cancelled when the turn is stopped', async () => {
    await open();
    const turn = session.conversation.send('elicit');
    await oneIsAsked();
    session.conversation.cancel();
    assert.equal((await turn.done).stopReason, 'cancelled');
    assert.deepEqual(asked(), []);
    const answer = readAgentLog(agentLog).find(({ dir, msg }) => dir === 'in' && msg?.id === 'agent-1');
    assert.deepEqual(answer?.msg?.result, { action: 'cancel' });
  });

  it('closes the card when the agent withdraws its question', async () => {
    await open();
    await session.conversation.send('withdraw-elicit').done;
    assert.deepEqual(asked(), []);
    assert.match(said(), /withdrawn → \{"action":"cancel"\}/);
  });

  it('closes the card when the agent exits', async () => {
    await open();
    const turn = session.conversation.send('elicit');
    await oneIsAsked();
    const pid = readAgentLog(agentLog)[0]?.pid ?? 0;
    kill(pid);
    await turn.done;
    assert.deepEqual(asked(), []);
    assert.match(notices().join(), /Question (withdrawn|lost with the agent)/);
  });

  it('opens exactly the page that was shown, on request only', async () => {
    await open();
    const turn = session.conversation.send('elicit-url');
    await oneIsAsked();
    const [question] = asked();
    assert.ok(question?.mode === 'url');
    assert.equal(question.url, 'https://example.com/connect?state=a%2Fb');
    assert.equal(said(), '');
    await handler().open(question.id, async () => false);
    assert.equal(asked()[0]?.opened, undefined, 'VS Code was told no');
    const shown: string[] = [];
    await handler().open(question.id, async (url) => shown.push(url) > 0);
    assert.deepEqual(shown, [question.url]);
    await turn.done;
    assert.match(said(), /\{"action":"accept"\}/);
    assert.equal(asked()[0]?.opened, true, 'it is done when the agent says so');
    assert.notEqual(phaseOf(session.conversation), 'requiresAction');
    await session.conversation.send(
      'notify elicitation/complete {"elicitationId":"another"}\nnotify elicitation/complete {}',
    ).done;
    assert.equal(asked().length, 1);
    await session.conversation.send('notify elicitation/complete {"elicitationId":"e1"}').done;
    assert.deepEqual(asked(), []);
    assert.match(notices().join(), /Completed in the browser/);
  });

  it('closes the card when the agent reports that the page is completed', async () => {
    await open();
    const turn = session.conversation.send('elicit-url');
    await oneIsAsked();
    handler().completed('e1');
    await turn.done;
    assert.match(said(), /\{"action":"cancel"\}/);
  });

  it('signs in if the agent first sends the user to a page', async () => {
    const page = 'http://127.0.0.1:4711/sign-in';
    await open({ authMethods: [{ id: 'login', name: 'Log in' }], signInPage: page });
    await session.conversation.start();
    const signedIn = session.conversation.signIn('login');
    await oneIsAsked();
    assert.equal(session.conversation.sessionId, undefined, 'there is no session yet');
    const [question] = asked();
    assert.ok(question?.mode === 'url' && question.url === page);
    await handler().open(question.id, async () => true);
    await signedIn;
    assert.equal(phaseOf(session.conversation), 'ready');
    assert.deepEqual(asked(), [], 'with the request its page is done');
  });

  it('closes the questions of a sign-in that failed', async () => {
    await open({ authMethods: [{ id: 'login', name: 'Log in' }], signInPage: 'https://example.com/' });
    await session.conversation.start();
    const signedIn = session.conversation.signIn('login');
    await oneIsAsked();
    handler().refuse(asked()[0]?.id ?? '', 'decline');
    await signedIn;
    assert.equal(phaseOf(session.conversation), 'authRequired');
  });

  it('limits the number of open questions', async () => {
    await open();
    const turn = session.conversation.send('say x');
    await turn.done;
    const scope = { sessionId: session.conversation.sessionId ?? '' };
    const body = { mode: 'form', form: { fields: [] } } as const;
    const never = new AbortController().signal;
    const answers = Array.from({ length: 25 }, () => handler().ask({ scope, message: 'x', body }, false, never));
    assert.deepEqual(await Promise.all(answers.slice(20)), Array(5).fill({ action: 'cancel' }));
    assert.equal(asked().length, 20);
  });
});

describe('elicitation/create', () => {
  const scope = { sessionId: 's' };
  const form = (properties: object, rest: object = {}): unknown => ({
    ...scope,
    mode: 'form',
    message: 'm',
    requestedSchema: { type: 'object', properties, ...rest },
  });
  const page = (url: unknown): unknown => ({ ...scope, mode: 'url', message: 'm', elicitationId: 'e', url });

  const refused: Readonly<Record<string, unknown>> = {
    'a mode that was not offered': { ...scope, mode: 'smoke', message: 'm' },
    'no mode': { ...scope, message: 'm' },
    'no message': { ...scope, mode: 'form', requestedSchema: everyField },
    'no scope': { mode: 'form', message: 'm', requestedSchema: everyField },
    'two scopes': { ...scope, requestId: 1, mode: 'form', message: 'm', requestedSchema: everyField },
    'no schema': { ...scope, mode: 'form', message: 'm' },
    'a schema of something else': form({}, { type: 'array' }),
    'too many fields': form(
      Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`f${index}`, { type: 'string' }])),
    ),
    'choices that are none': form({ k: { type: 'string', enum: [1, 2] } }),
    'a page without an id': { ...scope, mode: 'url', message: 'm', url: 'https://example.com/' },
    'a page by another scheme': page('file:///etc/passwd'),
    'a page that runs a command': page('command:workbench.action.quit'),
    'a page without encryption': page('http://example.com/'),
    'a page with a user name': page('https://bank.example@evil.example/'),
    'no address at all': page(7),
    'an address without an end': page(`https://example.com/${'x'.repeat(9000)}`),
    nothing: null,
  };
  for (const [what, params] of Object.entries(refused)) {
    it(`refuses ${what}`, () => {
      assert.throws(
        () => readElicitation(params),
        (error: unknown) => error instanceof RpcError && error.code === -32602,
      );
    });
  }

  it('shows the address exactly as it is opened', () => {
    const asked = readElicitation(page('https://exämple.com/a b?x=%2F'));
    assert.ok(asked.body.mode === 'url');
    assert.equal(asked.body.url, 'https://xn--exmple-cua.com/a%20b?x=%2F');
  });

  it('is shown if only an optional field is invalid', () => {
    const asked = readElicitation(
      form({
        k: { type: 'string', title: 7, minLength: -1, pattern: 3, format: 'hostname', default: {} },
        l: { type: 'array', items: {} },
      }),
    );
    assert.ok(asked.body.mode === 'form');
    sameData(asked.body.form.fields, [
      { key: 'k', required: false, type: 'text' },
      { key: 'l', required: false, type: 'unknown', kind: 'array' },
    ]);
  });
});
