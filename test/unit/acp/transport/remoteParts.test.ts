// Parts of the remote transports: cookies, and messages of network errors.
import { strict as assert } from 'node:assert';
import { CookieJar } from '../../../../src/acp/transport/httpClient';
import { networkError } from '../../../../src/acp/transport/remoteError';

describe('the cookies of a connection', () => {
  const jar = (url = 'https://a.example/acp'): CookieJar => new CookieJar(new URL(url));

  it('are sent back to the server until it deletes them', () => {
    const cookies = jar();
    cookies.store([
      'route=1; Path=/; HttpOnly',
      'here=2; path=/acp; Secure',
      'deep=3; Path=/acp/x',
      'bare',
      '=x',
      'eq=a=b',
    ]);
    assert.equal(cookies.header(), 'route=1; here=2; eq=a=b');
    cookies.store(['route=; Max-Age=0', 'here=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT', 'eq=c; Max-Age=60']);
    assert.equal(cookies.header(), 'eq=c');
    cookies.store(['eq=c; Max-Age=-1']);
    assert.equal(cookies.header(), undefined);
  });

  it('are sent only over TLS if marked secure', () => {
    const cookies = jar('http://a.example/acp');
    cookies.store(['a=1; Secure']);
    assert.equal(cookies.header(), undefined);
  });

  it('are bounded in number', () => {
    const cookies = jar();
    for (let n = 0; n < 1000; n++) cookies.store([`c${n}=${n}`, `long${n}=${'x'.repeat(5000)}`]);
    assert.equal(cookies.header()?.split('; ').length, 50);
    cookies.store(['c0=again']);
    assert.match(cookies.header() ?? '', /^c0=again; /);
  });
});

describe('a network error', () => {
  const url = new URL('https://a.example:8443/acp?key=topsecret');
  for (const [code, expected, words] of [
    ['ECONNREFUSED', 'remote-unreachable', /^a\.example:8443 refuses connections$/],
    ['ENOTFOUND', 'remote-unreachable', /the host .* is unknown/],
    ['ECONNRESET', 'remote-lost', /dropped the connection/],
    ['ETIMEDOUT', 'remote-lost', /can't be reached \(ETIMEDOUT\)/],
    ['CERT_HAS_EXPIRED', 'remote-tls', /certificate has expired/],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'remote-tls', /self-signed/],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'remote-tls', /issuer of the certificate is unknown/],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'remote-tls', /issuer of the certificate is unknown/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'remote-tls', /for another host/],
    ['EPROTO', 'remote-tls', /EPROTO/],
  ] as const) {
    it(`suggests a fix: ${code}`, () => {
      const cause = Object.assign(new Error('getaddrinfo of topsecret'), { code });
      for (const error of [cause, new AggregateError([cause])]) {
        const told = networkError(url, error);
        assert.equal(told.code, expected);
        assert.match(told.message, words);
        assert.ok(told.hint);
        assert.doesNotMatch(`${told.message} ${told.hint}`, /topsecret/);
      }
    });
  }
});
