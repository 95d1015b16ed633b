// A registry may lead only to the internet and its own network.
import { strict as assert } from 'node:assert';
import { request } from '../../../../src/registry/fetch/request';
import { closeLoopbacks, httpLoopback } from '../../../support/servers/loopback';

const { signal } = new AbortController();

describe('an address in a registry', () => {
  afterEach(closeLoopbacks);

  const NEAR = [
    'http://127.0.0.1:9/agent.zip',
    'https://localhost/agent.zip',
    'https://printer/agent.zip',
    'https://build.local/agent.zip',
    'https://10.0.0.1/agent.zip',
    'https://192.168.1.1/agent.zip',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/agent.zip',
    'https://[fd00::1]/agent.zip',
    'https://0x7f.1/agent.zip',
  ];
  for (const url of NEAR)
    it(`is not requested: ${url}`, async () => {
      for (const trustedOrigin of [undefined, 'https://registry.example'])
        await assert.rejects(request(url, { idleMs: 1000, trustedOrigin }, signal), { code: 'not-public' });
    });

  it('may be in the network of the user’s own registry', async () => {
    const { host } = await httpLoopback((_request, response) => response.end('here'));
    const trustedOrigin = 'http://localhost:1';
    const { statusCode } = await request(`http://${host}/agent.zip`, { idleMs: 5000, trustedOrigin }, signal);
    assert.equal(statusCode, 200);
  });
});
