// The troubleshooting report: no personal data, and no Markdown injection.
import { strict as assert } from 'node:assert';
import * as fc from 'fast-check';
import { KnownSecrets } from '../../../src/base/knownSecrets';
import type { CheckResult } from '../../../src/troubleshoot/checks/check';
import { withoutUser, writeReport } from '../../../src/troubleshoot/report';

const SECRET = 'correct-horse-battery-staple';
const known = new KnownSecrets();
known.add(SECRET);
const USER = { homes: ['/home/alice', '/mnt/users/alice'], name: 'alice' };
const report = (result: Partial<CheckResult>): string =>
  writeReport([], [{ id: 'x', title: 'X', outcome: 'ok', found: '', ms: 1, ...result }], USER, known);

describe('the troubleshooting report', () => {
  it('contains the findings, as text and as facts', () => {
    const text = writeReport(
      [['Parley', '1.0.0']],
      [
        {
          id: 'disk',
          title: 'Disk',
          outcome: 'warning',
          found: 'Only 3 MB.',
          advice: 'Free up.',
          facts: [['Free', '3 MB']],
          ms: 7,
        },
      ],
      USER,
      known,
    );
    assert.equal(
      text,
      '# Parley report\n\n- Parley: `1.0.0`\n\n## Disk: Warning\n\nOnly 3 MB.\n\nFree up.\n\n- Free: `3 MB`\n- Time: `7 ms`\n',
    );
  });

  it('contains no known secret', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.constantFrom('found', 'advice', 'fact'), (before, after, place) => {
        const words = `${before}${SECRET}${after}`;
        const text = report(place === 'fact' ? { facts: [['A', words]] } : { [place]: words });
        assert.doesNotMatch(text.replace(/\s|\\/g, ''), /correct-horse-battery-staple/);
      }),
    );
    assert.doesNotMatch(report({ facts: [['Error output', 'OPENAI_API_KEY=abcdef1234567']] }), /abcdef/);
  });

  it('contains no home folder and no user name, in any spelling of a path', () => {
    for (const [text, clean] of [
      ['/home/alice/bin', '~/bin'],
      ['PATH /home/alice:/mnt/users/alice/x', 'PATH ~:~/x'],
      ['file:///home/alice/a%20b', 'file://~/a%20b'],
      ['vscode-remote://ssh%2Fhome%2Falice%2Fx', 'vscode-remote://ssh~%2Fx'],
      ['/tmp/alice/file and /var/alice', '/tmp/~/file and /var/~'],
      ['/home/alicexyz/bin', '/home/alicexyz/bin'],
      ['malice in /srv/malice', 'malice in /srv/malice'],
    ] as const)
      assert.equal(withoutUser(text, USER), clean);
    const windows = { homes: ['C:\\Users\\Bob Lee'], name: 'Bob Lee' };
    for (const [text, clean] of [
      ['c:\\users\\bob lee\\AppData', '~\\AppData'],
      ['{"path":"C:\\\\Users\\\\Bob Lee\\\\x"}', '{"path":"~\\\\x"}'],
      ['C:/Users/Bob%20Lee/x', '~/x'],
      ['D:\\work\\Bob Lee\\x', 'D:\\work\\~\\x'],
    ] as const)
      assert.equal(withoutUser(text, windows), clean);
    assert.equal(withoutUser('/root/x', { homes: ['/'], name: 'me' }), '/root/x');
  });

  it('shows text of agents and programs literally, without links, images or line breaks', () => {
    const evil = '![x](https://evil/?q) [run](command:evil) <img src=x>\n\n# Heading\n- `code` ``more`` | $(icon)';
    const text = report({
      found: evil,
      advice: evil,
      facts: [
        ['A', evil],
        ['B', '``` ` ```'],
      ],
    });
    const words = text.split('\n').filter((line) => line.includes('evil') && !line.startsWith('- '));
    assert.equal(words.length, 2);
    for (const line of words) assert.doesNotMatch(line, /(?<!\\)[[\]<>`!#]/);
    assert.equal(text.match(/^#/gm)?.length, 2);
    assert.match(text, /^- A: ``` !\[x\]\(https.* ```$/m);
    assert.match(text, /^- B: ```` ``` ` ``` ````$/m);
  });
});
