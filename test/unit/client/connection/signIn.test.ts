// Tests signing in and out with real agent processes that require it.

import { strict as assert } from 'node:assert';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAgents } from '../../../../src/agents/agentDefinition';
import { inEnglish } from '../../../../src/base/localizable';
import { canStart, guidanceOf } from '../../../../src/client/connection/signIn';
import type { ConversationServices } from '../../../../src/client/conversation/conversationOptions';
import type { TerminalCommand } from '../../../../src/client/ports/ports';
import { projectSession } from '../../../../src/client/view/projectSession';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import type { SessionModel } from '../../../../src/session/model/model';
import { MemoryKeys } from '../../../support/memoryKeys';
import { pluck } from '../../../support/pluck';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { queueStates } from '../../../support/sessions/conversation';
import { plainTerminal, SessionAgents } from '../../../support/sessions/sessionAgents';

const agentMethod = { id: 'login', name: 'Log in' };
const terminalMethod = {
  id: 'tty',
  name: 'Log in here',
  type: 'terminal',
  args: ['--login'],
  env: { LOGIN_TOKEN: 'secret' },
};

describe('signing in', function () {
  this.timeout(30_000);
  let folder: string;
  let agents: SessionAgents;
  let signedIn: string;

  beforeEach(async () => {
    folder = await scratchFolder();
    agents = new SessionAgents(folder);
    signedIn = join(folder, 'signed-in');
  });
  afterEach(async () => {
    const violations = await agents.close();
    await removeScratch();
    assert.deepEqual(violations, []);
  });

  const openWith = (script: Parameters<SessionAgents['open']>[0], services: Partial<ConversationServices>) =>
    agents.open(script, { services });

  describe('in a terminal', () => {
    it('runs the agent with the arguments of the method, restarts it, and sends queued messages without authenticate', async () => {
      const commands: TerminalCommand[] = [];
      const { conversation, until } = openWith(
        { authMethods: [terminalMethod], signedIn },
        {
          signInTerminal: (command, signal) => {
            commands.push(command);
            return plainTerminal(command, signal);
          },
        },
      );
      const sent = conversation.send('one');
      await until((c) => c.connection.kind === 'authRequired');
      await conversation.signIn('tty');
      assert.equal((await sent.done).stopReason, 'end_turn');
      const [command] = commands;
      assert.equal(command?.title, 'Keeper: Log in here');
      assert.equal(command?.command, process.execPath);
      assert.match(command?.args[0] ?? '', /scriptedAgent\.js$/, 'its own arguments come first');
      assert.equal(command?.args.at(-1), '--login');
      assert.equal(command?.env.LOGIN_TOKEN, 'secret');
      assert.equal(command?.env.AGENT_LOG, agents.log, 'the environment of the agent is under it');
      assert.equal(agents.lines.filter(({ ev }) => ev === 'start').length, 2);
      assert.equal(agents.calls('initialize').length, 2);
      assert.equal(agents.calls('authenticate').length, 0);
      assert.ok(
        agents.lines.every(({ ev, token }) => ev !== 'start' || token === undefined),
        'the agent itself does not get what only the sign-in needs',
      );
    });

    it('is offered to the agent only if there is a terminal', async () => {
      const offered = async (services: object): Promise<unknown> => {
        const { conversation } = agents.open({}, { services });
        await conversation.start();
        const { clientCapabilities } = agents.calls('initialize').at(-1) as {
          clientCapabilities: Record<string, unknown>;
        };
        const { auth, _meta } = clientCapabilities as { auth: unknown; _meta: Record<string, unknown> };
        return [auth, _meta['terminal-auth']];
      };
      assert.deepEqual(await offered({ signInTerminal: plainTerminal }), [{ terminal: true }, true]);
      assert.deepEqual(await offered({}), [{ terminal: false }, undefined]);
    });

    it('reports a failed or closed terminal and can be retried', async () => {
      const { env: _env, ...failing } = terminalMethod;
      const codes = [undefined];
      const { conversation } = openWith(
        { authMethods: [failing], signedIn },
        {
          signInTerminal: (command, signal) =>
            codes.length > 0 ? Promise.resolve(codes.pop()) : plainTerminal(command, signal),
        },
      );
      await conversation.start();
      assert.equal(projectSession(conversation).error?.code, 'auth-required');
      await conversation.signIn('tty');
      assert.equal(projectSession(conversation).error?.code, 'sign-in-failed');
      assert.match(projectSession(conversation).error?.message ?? '', /the terminal was closed before you signed in/);
      await conversation.signIn('tty');
      assert.match(projectSession(conversation).error?.message ?? '', /signing in ended with code 3/);
      assert.equal(projectSession(conversation).phase, 'authRequired');
      assert.equal(agents.calls('initialize').length, 1, 'the agent still runs');
    });

    it('runs the command of a legacy terminal-auth method instead of the agent’s own', async () => {
      const legacy = {
        id: 'old',
        name: 'Old way',
        _meta: { 'terminal-auth': { command: process.execPath, args: ['-e', 'process.exit(0)'], label: 'x' } },
      };
      const commands: TerminalCommand[] = [];
      const { conversation } = openWith(
        { authMethods: [legacy], signedIn },
        {
          signInTerminal: async (command) => {
            commands.push(command);
            writeFileSync(signedIn, '');
            return 0;
          },
        },
      );
      await conversation.start();
      await conversation.signIn('old');
      assert.equal(conversation.connection.kind, 'ready');
      assert.deepEqual(commands[0]?.args, ['-e', 'process.exit(0)']);
      assert.match(commands[0]?.unfamiliar ?? '', /^Old way: .* -e "process\.exit\(0\)"$/, 'which the user agrees to');
    });

    it('closes its terminal if the agent is dropped', async () => {
      let aborted = false;
      let shown = false;
      const { conversation, until } = openWith(
        { authMethods: [terminalMethod], signedIn },
        {
          signInTerminal: (_command, signal) =>
            new Promise((_resolve, reject) => {
              shown = true;
              signal.addEventListener('abort', () => {
                aborted = true;
                reject(signal.reason);
              });
              (conversation.model as SessionModel).touch('connection');
            }),
        },
      );
      await conversation.start();
      const signing = conversation.signIn('tty');
      await until(() => shown);
      await conversation.restart();
      await signing;
      assert.ok(aborted);
    });
  });

  describe('with keys', () => {
    const variables = {
      id: 'key',
      name: 'API key',
      type: 'env_var',
      vars: [{ name: 'LOGIN_TOKEN' }, { name: 'TWO_KEY' }],
    };
    const withField = (provider: string) => ({ id: 'field', name: 'A key', _meta: { 'api-key': { provider } } });
    const startTokens = (): unknown[] => agents.lines.filter(({ ev }) => ev === 'start').map(({ token }) => token);

    it('asks for each variable and restarts the agent with the values', async () => {
      const keys = new MemoryKeys('sk-one', '');
      const { conversation } = openWith({ authMethods: [variables], signedIn }, { keys });
      await conversation.start();
      assert.deepEqual(
        projectSession(conversation)
          .error?.actions.map(({ id, label }) => [id, label])
          .slice(0, 2),
        [
          ['signIn:key', 'API key'],
          ['restart', 'Try again'],
        ],
      );
      writeFileSync(signedIn, '');
      await conversation.signIn('key');
      assert.equal(conversation.connection.kind, 'ready');
      assert.deepEqual(
        keys.asked.map(({ kind, name }) => `${kind} ${name}`),
        ['variable LOGIN_TOKEN', 'variable TWO_KEY'],
      );
      assert.deepEqual([...keys.values], [['keeper variable LOGIN_TOKEN', 'sk-one']], 'what is left empty is not set');
      assert.deepEqual(startTokens(), [undefined, 'sk-one']);
      assert.equal(agents.calls('authenticate').length, 0);
      assert.deepEqual(keys.notes, [undefined, 'API key']);
      assert.ok(!JSON.stringify(conversation.agent).includes('sk-one'), 'the definition does not hold the key');
    });

    it('offers to enter a variable that only the agent’s message names', async () => {
      const keys = new MemoryKeys('sk-one');
      const description = 'Set in the LOGIN_TOKEN environment variable.';
      const authMethods = [
        { ...agentMethod, description: 'Opens\nthe browser.' },
        { id: 'key', name: 'Key', description },
      ];
      const authWords = 'Authentication required: Log in, or set LOGIN_TOKEN or OTHER_API_KEY (not HOME_DIR).';
      const { conversation } = openWith({ authMethods, authWords, signedIn }, { keys });
      await conversation.start();
      const { error } = projectSession(conversation);
      assert.equal(error?.hint, 'Log in, or set LOGIN_TOKEN or OTHER_API_KEY (not HOME_DIR).');
      assert.deepEqual(error?.actions.map(({ label, detail }) => [label, detail]).slice(0, 4), [
        ['Log in', 'Opens the browser.'],
        ['Key', description],
        ['Enter LOGIN_TOKEN…', undefined],
        ['Enter OTHER_API_KEY…', undefined],
      ]);
      writeFileSync(signedIn, '');
      await conversation.signIn('variable LOGIN_TOKEN');
      assert.equal(conversation.connection.kind, 'ready');
      assert.deepEqual(startTokens(), [undefined, 'sk-one']);
      assert.deepEqual([...keys.values], [['keeper variable LOGIN_TOKEN', 'sk-one']]);
    });

    it('asks once for a variable that a method has', async () => {
      const authWords = 'Set LOGIN_TOKEN';
      const { conversation } = openWith({ authMethods: [variables], authWords, signedIn }, { keys: new MemoryKeys() });
      await conversation.start();
      const signIns = projectSession(conversation).error?.actions.filter(({ id }) => id.startsWith('signIn:')) ?? [];
      assert.deepEqual(pluck(signIns, 'label'), ['API key']);
    });

    it('reports a missing key if the user dismisses the input', async () => {
      const { conversation } = openWith(
        { authMethods: [variables], signedIn },
        { keys: new MemoryKeys('sk-one', undefined) },
      );
      await conversation.start();
      await conversation.signIn('key');
      assert.match(projectSession(conversation).error?.message ?? '', /no key was entered/);
      assert.equal(agents.calls('initialize').length, 1);
    });

    it('names the variables that have to be set by hand', () => {
      const method = { id: 'x', name: 'API key', type: 'env_var', variables: ['ONE_KEY', 'TWO_KEY'] } as const;
      const [remote] = parseAgents({ far: { url: 'wss://far.example' } }).agents;
      assert.ok(remote && !canStart(method, remote));
      assert.match(inEnglish(guidanceOf(method, remote)), /API key: Set ONE_KEY and TWO_KEY under "env" of the agent/);
      const local = agents.definition({});
      assert.ok(canStart(method, local));
      for (const names of [[], ['A B'], ['A=B'], ['X\u0000'], Array.from({ length: 11 }, (_one, index) => `V${index}`)])
        assert.ok(!canStart({ ...method, variables: names }, local), names.join());
    });

    for (const [provider, sent] of [
      ['google', 'sk-field'],
      ['openai', { apiKey: 'sk-field' }],
    ] as const)
      it(`passes a key for models of ${provider} with the request, and again at the next start`, async () => {
        const keys = new MemoryKeys('sk-field');
        const script = { authMethods: [withField(provider)], signedIn };
        const { conversation } = agents.open(script, { services: { keys } });
        await conversation.start();
        await conversation.signIn('field');
        assert.equal(conversation.connection.kind, 'ready');
        assert.deepEqual(agents.calls('authenticate'), [{ methodId: 'field', _meta: { 'api-key': sent } }]);
        rmSync(signedIn);
        await conversation.restart();
        assert.equal(conversation.connection.kind, 'ready');
        assert.equal(agents.calls('authenticate').length, 2);
        assert.equal(keys.asked.length, 1);
      });

    it('asks again if the agent refuses a saved key', async () => {
      const keys = new MemoryKeys();
      // The path can't be written, so the agent answers with an error.
      const script = { authMethods: [withField('google')], signedIn: join(folder, 'nowhere', 'signed-in') };
      const { conversation } = agents.open(script, { services: { keys } });
      await keys.save(conversation.agent, { kind: 'method', name: 'field' }, 'sk-old');
      await conversation.start();
      assert.equal(conversation.connection.kind, 'authRequired');
      assert.equal(agents.calls('authenticate').length, 1);
      const { error, stages } = projectSession(conversation);
      assert.equal(error?.code, 'auth-required');
      assert.deepEqual(stages.at(-1)?.state, 'running', 'it waits for the user');
    });

    it('lets an agent use its own key if none is entered', async () => {
      const keys = new MemoryKeys('');
      const { conversation } = openWith({ authMethods: [withField('google')], signedIn }, { keys });
      await conversation.start();
      await conversation.signIn('field');
      assert.deepEqual(agents.calls('authenticate'), [{ methodId: 'field' }]);
      assert.equal(keys.values.size, 0);
    });

    it('deletes the keys when the user signs out', async () => {
      const keys = new MemoryKeys('sk-field');
      const { conversation } = openWith({ authMethods: [withField('google')], signedIn, logout: true }, { keys });
      await conversation.start();
      await conversation.signIn('field');
      await conversation.signOut();
      assert.equal(keys.values.size, 0);
      assert.equal(conversation.connection.kind, 'authRequired');
    });
  });

  it('shows the terminal command of a button as text that hides nothing', async () => {
    const method = { ...terminalMethod, name: `Log\u202E in${'!'.repeat(200)}` };
    const { conversation } = openWith({ authMethods: [method], signedIn }, { signInTerminal: plainTerminal });
    await conversation.start();
    const { error } = projectSession(conversation);
    assert.match(error?.hint ?? '', /^“Log⟨U\+202E⟩ in!+…” runs in a terminal: LOGIN_TOKEN=secret /);
    assert.ok((error?.hint ?? '').length < 600);
    assert.match(error?.actions[0]?.label ?? '', /^Log⟨U\+202E⟩ in!{60,80}…$/);
    const [agent] = parseAgents({ mine: { command: 'mine', args: ['acp'] } }).agents;
    const asked = { id: 'tty', name: 'Log in', type: 'terminal', args: ['a b'], env: { A: '1' } } as const;
    assert.equal(agent && inEnglish(guidanceOf(asked, agent)), '“Log in” runs in a terminal: A=1 mine acp "a b"');
  });

  it('shows an unknown method without starting anything', async () => {
    const method = { id: 'x', name: 'Retina', description: 'Look into the camera.', type: 'biometric' };
    const { conversation } = agents.open({ authMethods: [method], signedIn });
    await conversation.start();
    const { error } = projectSession(conversation);
    assert.match(error?.hint ?? '', /Retina: Look into the camera\./);
    assert.ok(!error?.actions.some(({ id }) => id.startsWith('signIn:')));
  });

  it('is required within a session too, and the refused message is sent afterwards', async () => {
    const { conversation, until } = agents.open({
      authMethods: [agentMethod],
      signedIn,
      authOn: 'prompt',
      ready: true,
    });
    const first = conversation.send('one');
    const second = conversation.send('two');
    await until((c) => c.connection.kind === 'authRequired' && !c.isBusy);
    assert.deepEqual(queueStates(conversation), [
      ['one', 'queued'],
      ['two', 'queued'],
    ]);
    const { sessionId } = conversation;
    await conversation.signIn('login');
    assert.equal((await first.done).stopReason, 'end_turn');
    assert.equal((await second.done).stopReason, 'end_turn');
    assert.equal(conversation.sessionId, sessionId, 'in the same session');
    assert.equal(agents.calls('session/new').length, 1);
    assert.equal(agents.calls('session/ready').length, 1);
  });

  it('keeps the session if signing in restarts the agent', async () => {
    const { conversation, until } = openWith(
      { authMethods: [terminalMethod], signedIn, authOn: 'prompt', offers: ['resume'] },
      { signInTerminal: plainTerminal },
    );
    const first = conversation.send('one');
    await until((c) => c.connection.kind === 'authRequired' && !c.isBusy);
    const { sessionId } = conversation;
    await conversation.signIn('tty');
    assert.equal((await first.done).stopReason, 'end_turn');
    assert.equal(conversation.sessionId, sessionId);
    assert.equal(agents.calls('session/resume').length, 1);
  });

  it('is required before an old session is opened', async () => {
    const sessionId = await agents.past({ load: true }, 'one');
    const { conversation } = agents.open(
      { load: true, authMethods: [agentMethod], signedIn },
      { opening: { kind: 'reopen', sessionId, transcript: 'replay' } },
    );
    await conversation.start();
    assert.equal(conversation.connection.kind, 'authRequired');
    await conversation.signIn('login');
    assert.equal(conversation.sessionId, sessionId);
    assert.equal(snapshotOf(conversation).turns.length, 1);
  });

  it('offers the methods in the error', async () => {
    const { conversation } = agents.open({
      authMethods: [agentMethod],
      signedIn,
      authData: { authMethods: [terminalMethod] },
    });
    await conversation.start();
    assert.ok(conversation.connection.kind === 'authRequired');
    assert.deepEqual(pluck(conversation.connection.methods, 'id'), ['login', 'tty']);
  });

  describe('and out', () => {
    it('ends with the agent requiring a sign-in', async () => {
      writeFileSync(signedIn, '');
      const { conversation } = agents.open({ authMethods: [agentMethod], signedIn, logout: true });
      await conversation.start();
      assert.equal(conversation.connection.kind, 'ready');
      await conversation.signOut();
      assert.equal(existsSync(signedIn), false);
      assert.equal(conversation.connection.kind, 'authRequired');
    });

    it('is refused if the agent has no method for it', async () => {
      const { conversation } = agents.open({});
      await conversation.start();
      await assert.rejects(conversation.signOut(), { code: 'cannot-sign-out' });
      assert.equal(conversation.connection.kind, 'ready');
    });
  });
});
