// `file:` URLs that agents send for paths.
import assert from 'node:assert/strict';
import { pathOfFileAddress, plainAddress } from '../../../../src/acp/protocol/fileAddress';

describe('plainAddress', () => {
  it('escapes only characters that RFC 3986 requires', () => {
    assert.equal(
      plainAddress('file:///app/%28shop%29/%5Bid%5D/a%20%26%20b%2Cc%40%2B.ts'),
      'file:///app/(shop)/%5Bid%5D/a%20&%20b,c@+.ts',
    );
    assert.equal(plainAddress('file:///c%3A/100%25.ts'), 'file:///c:/100%25.ts');
    assert.equal(plainAddress('file:///a%23b%3Fc%2Fd'), 'file:///a%23b%3Fc%2Fd');
    assert.equal(plainAddress('vscode-remote://ssh%2Bhost/a%28'), 'vscode-remote://ssh%2Bhost/a%28');
  });
});

describe('pathOfFileAddress', () => {
  it('returns the path on this machine', () => {
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

  it('returns other text unchanged: other machines, hidden separators, plain paths', () => {
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
