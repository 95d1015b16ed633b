// Which paths of an agent may be looked up at all, however they are written.
import assert from 'node:assert/strict';
import { posix, win32 } from 'node:path';
import { placesOf } from '../../../../src/client/requests/roots';
import { candidatesOf, parseLink } from '../../../../src/client/view/linkTarget';

const ROOTS = ['C:\\project'];

/** Where a link would be looked for on Windows. */
function linked(href: string): readonly string[] {
  const target = parseLink(href);
  return target.kind === 'file' ? candidatesOf(target.paths, ROOTS, win32) : [];
}

describe('a path of an agent', () => {
  it('leads to where it says, or below each folder of the session', () => {
    assert.deepEqual(placesOf('/a/../b', ['/one', '/two'], posix), ['/b']);
    assert.deepEqual(placesOf('a/b', ['/one', '/two'], posix), ['/one/a/b', '/two/a/b']);
    assert.deepEqual(placesOf('file:///a%20b', ['/one'], posix), ['/a b']);
    assert.deepEqual(placesOf('file:///c:/a', ROOTS, win32), ['c:\\a']);
    assert.deepEqual(placesOf('', ['/one'], posix), []);
    assert.deepEqual(placesOf('a\0b', ['/one'], posix), []);
  });

  it('is not looked up on another server of the network, whatever hides that', () => {
    for (const path of [
      '\\\\evil\\share\\x',
      '//evil/share/x',
      '/\\evil/share/x',
      '\\\\?\\UNC\\evil\\share\\x',
      '\\\\.\\C:\\x',
      'file://evil/share/x',
      'file:////evil/share/x',
      'C:\\x:stream',
      'C:\\con',
    ])
      for (const place of placesOf(path, ROOTS, win32)) assert.match(place, /^C:\\project\\/, path);
  });

  it('is not looked up there where a link decodes to it, once or twice', () => {
    for (const href of [
      '%5C%5Cevil%5Cshare%5Cx',
      '%2F%2Fevil/share/x',
      '/%5Cevil/share/x',
      '/%2Fevil/share/x',
      '\\%5Cevil/share/x',
      'file:///%5C%5Cevil/share/x',
      'file:///%255C%255Cevil/share/x',
      '%5C%5Cevil%5Cshare%5Cx:3',
      '%5C%5Cevil%5Cshare%5Cx#L3',
    ])
      for (const place of linked(href)) assert.doesNotMatch(place, /^[\\/]{2}/, href);
  });

  it('may be on a server that holds a folder of the session', () => {
    const roots = ['\\\\home\\me\\project'];
    assert.deepEqual(placesOf('\\\\home\\me\\project\\a', roots, win32), ['\\\\home\\me\\project\\a']);
    assert.deepEqual(placesOf('a', roots, win32), ['\\\\home\\me\\project\\a']);
    assert.deepEqual(placesOf('\\\\home\\other\\a', roots, win32), []);
  });
});
