// Tests what is sent to a remote agent: secrets only to their origin, nothing unencrypted without
// consent, nothing secret in logs.
import { strict as assert } from 'node:assert';
import type { RemoteAgent } from '../../../../src/agents/agentDefinition';
import { ParleyError } from '../../../../src/base/errors';
import { isLoopback, type RemoteAccess, resolveRemote, scrubber } from '../../../../src/client/transport/remoteTarget';

const never = new AbortController().signal;
const token = (name: string): string => `\${secret:${name}}`;

describe('the target of a remote agent', () => {
  const asked: string[] = [];
  beforeEach(() => asked.splice(0));

  function access(answers: Partial<RemoteAccess> = {}): RemoteAccess {
    return {
      secret: async (origin, name) => {
        asked.push(`${origin} ${name}`);
        return `<${name}>`;
      },
      allowCleartext: async (origin) => {
        asked.push(`clear ${origin}`);
        return true;
      },
      ...answers,
    };
  }
  const agent = (url: string, headers: Record<string, string> = {}): RemoteAgent => ({
    id: 'far',
    name: 'Far',
    protocol: 'auto',
    type: 'remote',
    url,
    headers,
    allow: { files: false, terminals: false },
  });
  async function failure(given: RemoteAgent, by?: RemoteAccess): Promise<ParleyError> {
    const error = await resolveRemote(given, by, never).catch((reason: unknown) => reason);
    assert.ok(error instanceof ParleyError, String(error));
    assert.doesNotMatch(`${error.message} ${error.hint}`, /sesame/);
    return error;
  }

  it('asks for a secret once per origin', async () => {
    const headers = {
      Authorization: `Bearer ${token('token')}`,
      'X-Both': `${token('token')}/${token('other')}`,
      Plain: '$x',
    };
    const one = await resolveRemote(agent('wss://one.example:8443/acp', headers), access(), never);
    assert.deepEqual(one.headers, { Authorization: 'Bearer <token>', 'X-Both': '<token>/<other>', Plain: '$x' });
    await resolveRemote(agent('https://one.example:8443/acp', { A: token('token') }), access(), never);
    assert.deepEqual(
      [...new Set(asked)],
      ['wss://one.example:8443 token', 'wss://one.example:8443 other', 'https://one.example:8443 token'],
    );
  });

  it('does not expand placeholders inside a secret', async () => {
    const by = access({ secret: async () => `$& ${token('b')} $1` });
    const { headers } = await resolveRemote(agent('wss://a.example/', { A: token('a') }), by, never);
    assert.equal(headers.A, `$& ${token('b')} $1`);
  });

  it('is rejected without the secret', async () => {
    const given = agent('wss://a.example/', { A: token('a') });
    for (const by of [undefined, access({ secret: async () => undefined })]) {
      assert.equal((await failure(given, by)).code, 'remote-secret');
    }
  });

  it('asks before anything goes unencrypted over the network', async () => {
    for (const url of ['ws://far.example/', 'http://10.0.0.1:80/', 'http://127.0.0.1.far.example/', 'ws://[::2]/']) {
      const refused = access({ allowCleartext: async () => false });
      assert.equal((await failure(agent(url), refused)).code, 'remote-cleartext');
      assert.equal((await failure(agent(url))).code, 'remote-cleartext');
      await resolveRemote(agent(url), access(), never);
    }
    assert.deepEqual(asked.slice(0, 2), ['clear ws://far.example', 'clear http://10.0.0.1']);
  });

  it('asks nothing for connections to this machine', async () => {
    for (const url of [
      'ws://localhost:1/',
      'http://127.9.0.1/',
      'ws://[::1]:2/',
      'http://a.localhost/',
      'wss://x.y/',
    ]) {
      await resolveRemote(agent(url), undefined, never);
    }
    assert.equal(isLoopback('localhost.example'), false);
    assert.equal(isLoopback('127.0.0.1.nip.io'), false);
  });

  it('rejects a password in the address and headers of the protocol', async () => {
    assert.equal((await failure(agent('wss://me:sesame@a.example/'))).code, 'remote-url');
    for (const name of [
      'Acp-Connection-Id',
      'acp-session-id',
      'Host',
      'Content-Length',
      'Sec-WebSocket-Key',
      'a b',
      '',
    ]) {
      assert.equal((await failure(agent('wss://a.example/', { [name]: 'x' }))).code, 'remote-headers');
    }
  });

  it("rejects a header value that contains a line break or a character that HTTP doesn't allow", async () => {
    for (const value of ['Bearer sesame\r\nX-Other: 1', 'Bearer sesame\n', 'Bearer sesame\0', 'Bearer sesame “x”']) {
      const plain = await failure(agent('wss://a.example/', { Authorization: value }));
      const secret = { ...access(), secret: async () => value };
      const filled = await failure(agent('https://a.example/', { Authorization: token('a') }), secret);
      for (const error of [plain, filled]) {
        assert.equal(error.code, 'remote-headers');
        assert.match(error.message, /“Authorization” contains a line break/);
        assert.doesNotMatch(`${error.message} ${error.hint} ${error.stack}`, /sesame/);
      }
    }
  });

  it('removes echoed header values from the log', () => {
    const scrub = scrubber({ Authorization: 'Bearer sesame-street', Cookie: 'id=12345678', Short: 'a' });
    assert.equal(
      scrub('got "Bearer sesame-street", sesame-street and id=12345678, a'),
      'got "[redacted]", [redacted] and [redacted], a',
    );
  });
});
