// The checkers of the other tests work: the reference agent detects broken rules, the wire checker
// invalid messages.
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { RawClient } from '../../agents/rawClient';
import { scriptedAgent } from '../../support/agents/definition';
import { readViolations, referenceAgent } from '../../support/agents/reference/referenceDefinition';
import type { ReferenceScript } from '../../support/agents/reference/referenceScript';
import { WireAccount } from '../../support/protocol/wireAccount';
import { removeScratch, scratchFolder } from '../../support/scratch';

const ready = { path: ['agentCapabilities', 'session', 'ready'] };

describe('the reference agent', function () {
  this.timeout(20_000);
  afterEach(removeScratch);

  async function judged(
    script: ReferenceScript,
    version: 1 | 2,
    talk: (client: RawClient, sessionId: string, cwd: string) => Promise<void>,
  ): Promise<readonly string[]> {
    const cwd = await scratchFolder();
    const log = join(cwd, 'agent.ndjson');
    const client = new RawClient(referenceAgent(script, log), cwd, {
      'session/request_permission': () => new Promise(() => {}),
    });
    const info = { name: 'raw', version: '0' };
    await client.request('initialize', { protocolVersion: version, info });
    const { sessionId } = await client.request('session/new', { cwd, mcpServers: [] });
    await talk(client, sessionId, cwd);
    const { code } = await client.close();
    const found = readViolations(log);
    assert.equal(code, found.length > 0 ? 9 : 0);
    return found;
  }

  const prompt = (sessionId: string, text = 'say x'): object => ({ sessionId, prompt: [{ type: 'text', text }] });

  type Talk = (client: RawClient, sessionId: string, cwd: string) => Promise<unknown>;
  const picture = [{ type: 'image', data: '', mimeType: 'image/png' }];
  const twice: Talk = async (c, s) => [1, 2].map(() => c.notify('session/ready', { sessionId: s }));
  const together: Talk = async (c, s) => {
    c.send('session/prompt', prompt(s, 'wait'));
    c.send('session/prompt', prompt(s));
    c.notify('session/cancel', { sessionId: s });
  };
  const inTurn: Talk = async (c, s) => {
    for (let times = 0; times < 2; times++) await c.request('session/prompt', prompt(s));
  };
  const asked = async (c: RawClient, s: string) => {
    c.send('session/prompt', prompt(s, 'ask'));
    return c.until(({ method }) => method === 'session/request_permission');
  };
  const unanswered: Talk = async (c, s) => {
    await asked(c, s);
    c.notify('session/cancel', { sessionId: s });
    while (!c.stderr.includes('not answered')) await c.send('session/list', {}).answer;
  };
  const madeUp: Talk = async (c, s) => {
    const { id } = await asked(c, s);
    c.raw({ jsonrpc: '2.0', id, result: { outcome: { outcome: 'selected', optionId: 'made-up' } } });
  };

  const mistakes: readonly (readonly [string, ReferenceScript, 1 | 2, Talk, RegExp])[] = [
    ['a prompt before ready', { ready }, 1, (c, s) => c.request('session/prompt', prompt(s)), /before session\/ready/],
    ['ready twice', { ready }, 1, twice, /twice/],
    ['another ready', { ready }, 1, async (c) => c.notify('session/ready', { sessionId: '?' }), /unknown session/],
    ['no ready', { ready }, 1, async () => {}, /sent 0 times for 1/],
    ['an unwanted ready', {}, 1, async (c, s) => c.notify('session/ready', { sessionId: s }), /not advertised/],
    ['an unwanted status', {}, 1, (c, s) => c.send('session/status', { sessionId: s }).answer, /not advertised/],
    [
      'more',
      { status: {} },
      1,
      (c, s) => c.request('session/status', { sessionId: s, attach: true }),
      /with the params/,
    ],
    ['a second prompt', {}, 1, together, /second session\/prompt/],
    ['a prompt before the barrier', { turnComplete: { when: 'late' } }, 1, inTurn, /before the turn_complete/],
    ['an empty prompt', {}, 2, (c, s) => c.request('session/prompt', { sessionId: s, prompt: [] }), /without content/],
    [
      'a picture',
      {},
      1,
      (c, s) => c.request('session/prompt', { sessionId: s, prompt: picture }),
      /image, which was not/,
    ],
    ['no mcpServers', {}, 1, (c, _, cwd) => c.request('session/new', { cwd }), /without mcpServers/],
    ['a relative folder', {}, 1, (c) => c.send('session/new', { cwd: 'src', mcpServers: [] }).answer, /with the cwd/],
    ['a cancel as a request', {}, 1, (c, s) => c.send('session/cancel', { sessionId: s }).answer, /as a request/],
    ['a method of v1 in v2', {}, 2, (c) => c.send('authenticate', { methodId: 'x' }).answer, /not advertised/],
    ['a batch', {}, 1, async (c) => c.raw('[]\n'), /batch/],
    ['no JSON', {}, 1, async (c) => c.raw('hello\n'), /not JSON/],
    ["LSP's way to cancel", {}, 1, async (c) => c.notify('$/cancel_request', { id: 1 }), /without requestId/],
    ['an answer to nothing', {}, 1, async (c) => c.raw({ jsonrpc: '2.0', id: 'none', result: {} }), /unknown id/],
    ['no answer after a cancel', { answerDeadlineMs: 1 }, 1, unanswered, /not answered after session\/cancel/],
    ['a choice that was not offered', {}, 1, madeUp, /"made-up", which was not offered/],
  ];
  for (const [words, script, version, talk, expected] of mistakes) {
    it(`detects a client that sends ${words}`, async () => {
      const found = await judged(script, version, async (client, sessionId, cwd) => {
        await talk(client, sessionId, cwd);
      });
      assert.match(found.join('\n'), expected);
    });
  }

  it('accepts a client that follows the rules', async () => {
    assert.deepEqual(
      await judged({ ready }, 1, async (client, sessionId) => {
        client.notify('session/ready', { sessionId });
        await client.request('session/prompt', prompt(sessionId));
      }),
      [],
    );
  });
});

describe('the scripted agent', () => {
  afterEach(removeScratch);

  it('exits on a broken rule', async () => {
    const cwd = await scratchFolder();
    const client = new RawClient(scriptedAgent('plain', join(cwd, 'agent.ndjson')), cwd, {});
    await client.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
    client.raw('hello\n');
    assert.equal((await client.ended).code, 9);
    assert.match(client.stderr, /^VIOLATION .*not JSON/m);
    await client.close();
  });
});

describe('the wire checker', () => {
  const line = (message: object): string => JSON.stringify({ jsonrpc: '2.0', ...message });
  const problemsOf = (...out: readonly object[]): readonly string[] => {
    const account = new WireAccount();
    account.note('out', line({ id: 0, method: 'initialize', params: { protocolVersion: 1 } }));
    account.note('in', line({ id: 0, result: { protocolVersion: 1 } }));
    account.note('in', line({ id: 'a', method: 'session/request_permission', params: {} }));
    for (const message of out) account.note('out', line(message));
    return account.problems;
  };

  it('detects invalid messages of a client', () => {
    assert.match(problemsOf({ id: 1, method: 'session/new', params: { cwd: '/' } }).join(), /mcpServers/);
    assert.match(problemsOf({ id: 1, method: 'session/hop', params: {} }).join(), /no such method/);
    assert.match(problemsOf({ method: 'session/cancel', params: { sessionId: 's', why: 1 } }).join(), /unevaluated/);
    assert.match(problemsOf({ id: 'a', result: { outcome: 'cancelled' } }).join(), /RequestPermissionResponse/);
    assert.match(problemsOf({ id: 'a', error: { message: 'no code' } }).join(), /Error/);
  });

  it('accepts valid messages of a client', () => {
    assert.deepEqual(
      problemsOf(
        { id: 1, method: 'session/new', params: { cwd: '/', mcpServers: [] } },
        { id: 'a', result: { outcome: { outcome: 'cancelled' } } },
        { method: 'session/ready', params: { sessionId: 's' } },
      ),
      [],
    );
  });
});
