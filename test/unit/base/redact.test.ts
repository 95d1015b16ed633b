// Secrets in text that leaves the window: the log, protocol traffic, errors, shared messages.
import { strict as assert } from 'node:assert';
import { KnownSecrets } from '../../../src/base/knownSecrets';
import { redactJson } from '../../../src/base/redactJson';

describe('secrets by position', () => {
  const message = {
    method: 'session/new',
    params: {
      cwd: '/work',
      mcpServers: [
        {
          name: 'db',
          command: '/bin/db',
          args: ['--port', '80', '--api-key', 'k1-value', '--token=k2-value', '--verbose'],
          env: [
            { name: 'DB_PASSWORD', value: 'correct-horse-battery' },
            { name: 'PIN', value: 'x' },
          ],
        },
        {
          name: 'web',
          url: 'https://a/',
          headers: [
            { name: 'Authorization', value: 'Bearer 0123456789abcdef0123' },
            { name: 'X-Team', value: 'team-of-mine' },
          ],
        },
        { name: 'map', env: { KEY: 'plain "quoted" value', PORT: 8080 } },
      ],
    },
  };

  it('redacts the values of env, headers and secret options, and keeps the rest', () => {
    const clean = redactJson(JSON.stringify(message));
    for (const secret of [
      'k1-value',
      'k2-value',
      'correct-horse',
      '"x"',
      '0123456789',
      'team-of-mine',
      'quoted',
      '8080',
    ])
      assert.equal(clean.includes(secret), false, secret);
    const { params } = JSON.parse(clean) as typeof message;
    assert.equal(params.cwd, '/work');
    assert.deepEqual(params.mcpServers[0]?.args?.slice(0, 2), ['--port', '80']);
    assert.equal(params.mcpServers[0]?.args?.at(-1), '--verbose');
    assert.deepEqual(params.mcpServers[0]?.env, [
      { name: 'DB_PASSWORD', value: '[redacted]' },
      { name: 'PIN', value: '[redacted]' },
    ]);
    assert.equal(params.mcpServers[1]?.url, 'https://a/');
  });

  it('finds them in nested JSON strings at any depth', () => {
    let nested = JSON.stringify({ password: 'hunter2hunter2', list: [{ value: 'v-secret', name: 'API_KEY' }] });
    for (let depth = 1; depth <= 3; depth++) {
      nested = JSON.stringify({ text: nested, keep: 'kept' });
      const clean = redactJson(nested);
      assert.equal(clean.includes('hunter2'), false, `depth ${depth}`);
      assert.equal(clean.includes('v-secret'), false, `depth ${depth}`);
      assert.ok(clean.includes('kept'));
      JSON.parse(clean);
    }
  });

  it('finds them in lines truncated anywhere', () => {
    const text = JSON.stringify(message);
    for (let end = 1; end <= text.length; end++) {
      const clean = redactJson(text.slice(0, end));
      for (const secret of ['corre', 'Bearer 0', 'team-', 'quoted'])
        assert.equal(clean.includes(secret), false, `${end}`);
    }
    for (const cut of ['"v-secret"}', '"v-secret"', '"v-sec']) {
      const clean = redactJson(`{"list":[{"name":"API_KEY","value":${cut}`);
      assert.equal(clean.includes('v-sec'), false, cut);
    }
  });

  it('handles text around JSON, and names that indicate a secret value', () => {
    const line =
      '2026 s <- {"a":{"clientSecret":"abc","refresh_token":"def","inputTokens":5}} {"cookie":"x=1"}\nnext "line';
    assert.equal(
      redactJson(line),
      '2026 s <- {"a":{"clientSecret":"[redacted]","refresh_token":"[redacted]","inputTokens":5}} {"cookie":"[redacted]"}\nnext "line',
    );
  });

  it('keeps harmless options of an agent', () => {
    const line = '{"configOptions":[{"name":"Model","value":"sonnet"}],"kind":"read"}';
    assert.equal(redactJson(line), line);
  });

  it('takes linear time', () => {
    for (const text of ['{"a":'.repeat(100_000), '"'.repeat(100_000), '\\"'.repeat(100_000), '[{'.repeat(100_000)])
      assert.equal(typeof redactJson(text), 'string');
  });
});

describe('secrets by value', () => {
  const known = new KnownSecrets();
  known.add('s3cr"et\\value/ü');
  known.add(JSON.stringify({ accessKeyId: 'AKEY-1234', secretAccessKey: 'wJalrXUtnFEMI' }));
  known.add('Bearer tok-abcdef');
  known.add('short');

  it('are found plain, in JSON, in nested JSON, and in URLs', () => {
    const value = 's3cr"et\\value/ü';
    for (const text of [
      `it said ${value} twice: ${value}`,
      JSON.stringify({ value }),
      JSON.stringify({ text: JSON.stringify({ value }) }),
      `https://a/?k=${encodeURIComponent(value)}`,
    ]) {
      const clean = known.redact(text);
      assert.match(clean, /\[redacted\]/);
      assert.doesNotMatch(clean, /s3cr/);
    }
    JSON.parse(known.redact(JSON.stringify({ value })));
  });

  it('are found in parts: each value of a JSON object, and the value after a scheme', () => {
    assert.equal(known.redact('AKEY-1234 wJalrXUtnFEMI tok-abcdef'), '[redacted] [redacted] [redacted]');
  });

  it('are ignored if they are so short that they match by chance', () => {
    assert.equal(known.redact('a short text'), 'a short text');
    const scheme = new KnownSecrets();
    scheme.add('Bearer abc');
    assert.equal(scheme.redact('abc, Bearer abc'), 'abc, [redacted]');
  });

  it('are redacted completely if one starts with another', () => {
    const both = new KnownSecrets();
    for (const value of ['secret-one', 'secret-one-and-more']) both.add(value);
    assert.equal(both.redact('secret-one-and-more secret-one'), '[redacted] [redacted]');
  });

  it('are bounded by dropping the oldest', () => {
    const many = new KnownSecrets();
    for (let n = 0; n < 2_000; n++) many.add(`value-${n}`);
    assert.equal(many.redact('value-0;value-1999;'), 'value-0;[redacted];');
  });
});
