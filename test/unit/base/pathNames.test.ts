// Windows paths that resolve to a file of exactly that name.
import assert from 'node:assert/strict';
import { isWindowsFilePath } from '../../../src/base/pathNames';

describe('a Windows path', () => {
  for (const path of [
    'C:\\a\\b.txt',
    'c:/a/b.txt',
    'C:\\',
    'C:',
    'src\\..\\a.ts',
    './.git/config',
    '\\\\server\\share\\a.ts',
    'console.ts',
    'com10.txt',
    'nul-1',
    'a.nul',
    `C:\\${'long\\'.repeat(100)}a.ts`,
    'ä ö.ts',
  ]) {
    it(`resolves to a file: ${path.slice(0, 40)}`, () => assert.equal(isWindowsFilePath(path), true));
  }

  for (const path of [
    '\\\\?\\C:\\a',
    '//?/C:/a',
    '\\\\.\\pipe\\x',
    '\\??\\C:\\a',
    '\\\\?\\UNC\\server\\share\\a',
    'C:\\a\\NUL',
    'nul.txt',
    'C:\\CON',
    'a\\con.tar.gz\\b',
    'COM1',
    'com¹.txt',
    'lpt9',
    'aux .txt',
    'CONOUT$',
    'a.txt:stream',
    'a.txt::$DATA',
    'a:$I30:$INDEX_ALLOCATION\\b',
    'C:a.txt',
    'C:\\a.txt.',
    'C:\\a.txt ',
    'C:\\.git.\\config',
    'C:\\a\\...\\b',
    'C:\\a\\.. \\b',
    'a*',
    'a\0b',
    'a\nb',
  ]) {
    it(`is rejected: ${JSON.stringify(path)}`, () => assert.equal(isWindowsFilePath(path), false));
  }
});
