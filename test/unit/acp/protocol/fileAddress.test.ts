// `file:` addresses that agents write for paths.
import assert from 'node:assert/strict';
import { pathOfFileAddress } from '../../../../src/acp/protocol/fileAddress';

describe('pathOfFileAddress', () => {
  it('gives the path on this machine', () => {
    for (const [address, path] of [
      ['file:///a/b.ts', '/a/b.ts'],
      ['FILE://localhost/a/my%20file.ts', '/a/my file.ts'],
      ['file:/a/b.ts', '/a/b.ts'],
      ['file:///a/100%.ts', '/a/100%.ts'],
      ['file:///a/C#/b.cs#L3-L5', '/a/C#/b.cs'],
      ['file:///', '/'],
    ] as const)
      assert.equal(pathOfFileAddress(address, false), path);
    assert.equal(pathOfFileAddress('file:///c%3A/a/b.ts', true), 'c:\\a\\b.ts');
    assert.equal(pathOfFileAddress('file:///C:\\a\\b.ts', true), 'C:\\a\\b.ts');
  });

  it('leaves any other text as it is: other machines, hidden separators, plain paths', () => {
    for (const text of [
      'file://evil.example/share/x',
      'file:////evil.example/share/x',
      'file:///\\evil.example/share/x',
      'file:///%5C%5Cevil.example/share/x',
      'file:///a%2F..%2Fb',
      'file:///a%00b',
      'file:relative',
      '/a%20b',
      'https://a/b',
    ])
      for (const isWindows of [false, true]) assert.equal(pathOfFileAddress(text, isWindows), text);
    assert.equal(pathOfFileAddress('file:///a/b', true), 'file:///a/b', 'no drive');
  });
});
