// File names suggested for agents' files are single harmless path segments.
import { strict as assert } from 'node:assert';
import { fileNameOf } from '../../../../src/workbench/editor/fileName';

describe("the suggested name of an agent's file", () => {
  const names: readonly (readonly [uri: string, name: string])[] = [
    ['artifact:///report.md', 'report.md'],
    ['artifact:///charts/May%202026.csv', 'May 2026.csv'],
    ['file:///work/app/a.b.tar.gz#L3', 'a.b.tar.gz'],
    ['https://example.com/x/data.json?X-Amz-Signature=abc', 'data.json'],
    ['artifact:///100%25%20sure%3F.txt', '100% sure_.txt'],
    ['artifact:///100%.txt', '100%.txt'],
    ['artifact:///%C3%9Cbersicht.pdf', 'Übersicht.pdf'],
    ['artifact:///%E6%8A%A5%E5%91%8A.xlsx', '报告.xlsx'],
    ['parley:transcript', 'transcript'],
    ['plain.txt', 'plain.txt'],
    ['C:\\Users\\me\\notes.txt', 'notes.txt'],
  ];
  for (const [uri, name] of names) {
    it(`hides nothing from the user: ${uri}`, () => {
      assert.equal(fileNameOf(uri), name);
    });
  }

  const hostile: readonly (readonly [what: string, uri: string, name: string])[] = [
    ['leads to another folder', 'artifact:///..%2F..%2F.ssh%2Fauthorized_keys', 'authorized_keys'],
    ['leads to another folder on Windows', 'artifact:///..%5C..%5Cevil.bat', 'evil.bat'],
    ['is the folder above', 'artifact:///..', 'untitled'],
    ['is hidden', 'artifact:///.bashrc', 'bashrc'],
    ['has a space before a dot', 'artifact:///%20.%20.env', 'env'],
    ['has an ending that Windows ignores', 'artifact:///setup.exe.%20.', 'setup.exe'],
    ['is a stream of another file', 'artifact:///notes.txt%3Ahidden', 'notes.txt_hidden'],
    ['is a device', 'artifact:///CON', '_CON'],
    ['is a device with an extension', 'artifact:///nul.tar.gz', '_nul.tar.gz'],
    ['is a device with a space', 'artifact:///com1%20.txt', '_com1 .txt'],
    ['is a device with a superscript digit', 'artifact:///LPT%C2%B2.txt', '_LPT².txt'],
    ['becomes a device without its invisible characters', 'artifact:///co%E2%80%8Bn', '_con'],
    ['reverses its extension', 'artifact:///invoice%E2%80%AEfdp.exe', 'invoicefdp.exe'],
    ['contains bidirectional isolates', 'artifact:///a%E2%81%A6b%E2%81%A9.txt', 'ab.txt'],
    ['contains NUL, an escape and a line break', 'artifact:///a%00b%1B%5B31m%0Ac.txt', 'ab[31m c.txt'],
    ['is invisible', 'artifact:///%E2%80%8B%EF%BB%BF%E3%85%A4', 'untitled'],
    ['contains a lone surrogate', 'artifact:///a\ud800b.txt', 'ab.txt'],
    ['is a command link', 'artifact:///%5Bopen%5D(command%3Aquit)', '[open](command_quit)'],
    ['is a folder', 'artifact:///', 'untitled'],
    ['is empty', '', 'untitled'],
    ['has only special characters', 'artifact:///%3F%3F%3F', '___'],
  ];
  for (const [what, uri, name] of hostile) {
    it(`is safe if the address ${what}: ${JSON.stringify(uri)}`, () => {
      assert.equal(fileNameOf(uri), name);
    });
  }

  it('fits file systems and keeps its extension', () => {
    const long = fileNameOf(`artifact:///${'x'.repeat(5000)}.parquet`);
    assert.equal(long, `${'x'.repeat(192)}.parquet`);
    const wide = fileNameOf(`artifact:///${'😀'.repeat(500)}.txt`);
    assert.equal(wide, `${'😀'.repeat(49)}.txt`);
    assert.equal(Buffer.byteLength(wide), 200);
    assert.equal(fileNameOf(`artifact:///a.${'b'.repeat(500)}`).length, 200);
    assert.match(fileNameOf(`artifact:///${'y'.repeat(194)}...${'z'.repeat(100)}.md`), /^y{194}\.md$/);
  });

  it('is found quickly in an address with many dots and slashes', () => {
    assert.equal(fileNameOf(`artifact:///${'. '.repeat(200_000)}x${'/'.repeat(200_000)}`), 'x');
    assert.equal(fileNameOf(`artifact:///a${'. '.repeat(200_000)}b.txt`).endsWith('.txt'), true);
  });
});
