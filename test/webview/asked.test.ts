// Approval requests in a real browser: the end of a text is visible, or the omission is stated.
import assert from 'node:assert/strict';
import type { DiffView, ItemView, PermissionView } from '../../src/panel/contract';
import { seeds } from '../support/tier';
import type { Panel } from './harness/browser';
import { permission, tool } from './harness/samples';
import { useChrome } from './harness/useChrome';

const END = 'END-OF-IT';

/** Characters that could push the end of a line out of view. */
const FILLERS: Readonly<Record<string, string>> = {
  'line breaks': '\n'.repeat(300),
  'line breaks of Windows': '\r\n'.repeat(300),
  'carriage returns': '\r'.repeat(300),
  'line separators': '\u2028'.repeat(300),
  'next-line characters': '\u0085'.repeat(300),
  'vertical tabs': '\v'.repeat(300),
  'blank lines of spaces': ' \n'.repeat(300),
  'blank lines of no-break spaces': '\u00a0\n'.repeat(300),
  'blank lines of zero-width spaces': '\u200b\n'.repeat(300),
  'escaped line breaks': '\\\n'.repeat(300),
  spaces: ' '.repeat(4000),
  tabs: '\t'.repeat(400),
  'no-break spaces': '\u00a0'.repeat(2000),
  'no-break and plain spaces': '\u00a0 '.repeat(1000),
  'braille blanks': '\u2800'.repeat(2000),
  'ideographic spaces': '\u3000'.repeat(2000),
  'em spaces': '\u2003'.repeat(2000),
  'zero-width spaces': '\u200b'.repeat(2000),
  joiners: '\u200d'.repeat(2000),
  'soft hyphens': '\u00ad'.repeat(2000),
  'Hangul fillers': '\u3164'.repeat(2000),
  'half-width Hangul fillers': '\uffa0'.repeat(2000),
  'variation selectors': '\ufe0f'.repeat(2000),
  tags: '\u{e0041}'.repeat(1000),
  'direction overrides': '\u202e'.repeat(200),
  'stacked marks': `a${'\u0301'.repeat(3000)}`,
  words: ' and more words'.repeat(400),
  'one long word': 'x'.repeat(6000),
  'wide letters': '漢'.repeat(3000),
  emoji: '😀'.repeat(2000),
  'comment lines': '\n# nothing to see here'.repeat(200),
  'a heredoc': `cat <<EOF${Array.from({ length: 60 }, (_, line) => `\nline ${line}`).join('')}\nEOF\n`,
};

interface Shape {
  readonly name: string;
  readonly items: readonly ItemView[];
  readonly asked: Partial<PermissionView>;
}

const call = (patch: Parameters<typeof tool>[1]): ItemView => tool('c', { status: 'pending', ...patch });
const run = call({ title: 'Run', toolKind: 'execute' });

function changed(lines: readonly string[], more: Partial<DiffView> = {}): ItemView {
  const path = '/work/app/src/a.ts';
  const hunks = [{ oldStart: 1, newStart: 1, lines }];
  const diff = { path, label: 'src/a.ts', isNew: true, added: lines.length, removed: 0, hunks, ...more };
  return call({ title: 'Edit src/a.ts', toolKind: 'edit', content: [{ type: 'diff', diff }] });
}

const TOO_LARGE = [
  { oldStart: 1, newStart: 1, lines: Array.from({ length: 340 }, () => '+') },
  { oldStart: 1, newStart: 1241, lines: [...Array.from({ length: 59 }, () => '+'), `+${END}`] },
];
const LEFT = { hunk: 1, lines: 900 };

const SHAPES: readonly Shape[] = [
  ...Object.entries(FILLERS).flatMap(([name, filler]): Shape[] => {
    const line = `ls${filler} && rm -rf ${END}`;
    const block = { type: 'text', text: `Plan\n\n${filler}\n\n${END}` } as const;
    return [
      { name: `a command with ${name}`, items: [run], asked: { commands: [{ line, cwd: '/work' }] } },
      {
        name: `a change with ${name}`,
        items: [changed(line.split(/\r?\n/).map((text) => `+${text}`))],
        asked: {},
      },
      { name: `a title with ${name}`, items: [call({ title: line, toolKind: 'execute' })], asked: { title: line } },
      { name: `a plan with ${name}`, items: [call({ content: [{ type: 'content', block }] })], asked: {} },
      { name: `a file with ${name}`, items: [run], asked: { texts: [{ path: '/work/a', text: line }] } },
    ];
  }),
  ...['no-break spaces', 'line breaks', 'words', 'wide letters'].flatMap((name): Shape[] => {
    const text = `ls${FILLERS[name]} && ${END}`;
    const json = JSON.stringify({ tool: 'x', arguments: { query: text } }, null, 2);
    const code = `\`\`\`sh\n${text}\n\`\`\`\n\n| a | b |\n|--|--|\n| ${'x'.repeat(900)} | ${END} |`;
    const options = [{ optionId: 'always', name: `Always allow ${text}`, kind: 'allow_always' }];
    const ruleOffer = { kind: 'edit', pattern: text, folder: '/work' } as const;
    return [
      { name: `arguments with ${name}`, items: [run], asked: { input: { json, isUnknown: true } } },
      { name: `a description with ${name}`, items: [run], asked: { description: text } },
      { name: `a folder with ${name}`, items: [run], asked: { commands: [{ line: 'ls', cwd: text }] } },
      { name: `an answer with ${name}`, items: [run], asked: { options } },
      { name: `a rule with ${name}`, items: [run], asked: { ruleOffer } },
      {
        name: `code with ${name}`,
        items: [call({ content: [{ type: 'content', block: { type: 'text', text: code } }] })],
        asked: {},
      },
      {
        name: `a content of an unknown kind with ${name}`,
        items: [call({ content: [{ type: 'raw', kind: 'x', json }] })],
        asked: {},
      },
      { name: `a request about no call with ${name}`, items: [], asked: { index: -1, commands: [{ line: text }] } },
    ];
  }),
  { name: 'a change that is too large', items: [changed(['+a'], { hunks: TOO_LARGE, truncated: LEFT })], asked: {} },
  {
    name: 'a change with too many changes',
    items: [changed([], { hunks: TOO_LARGE, truncated: LEFT, tooMany: true })],
    asked: {},
  },
];

function faultsOfCard(end: string): string[] {
  const card = document.querySelector<HTMLElement>('[data-permission-id]')!;
  const faults: string[] = [];
  for (const element of card.querySelectorAll<HTMLElement>('*')) {
    if (element.closest('.sr-only, .codicon, details:not([open])')) continue;
    const { overflowX, overflowY } = getComputedStyle(element);
    const isCut =
      (overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1) ||
      (overflowY !== 'visible' && element.scrollHeight > element.clientHeight + 1);
    if (isCut) faults.push(`a part is cut: ${element.className || element.tagName}`);
  }
  const edge = card.getBoundingClientRect();
  const walker = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
  let ends = 0;
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    const at = node.data.lastIndexOf(end);
    if (at < 0) continue;
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + end.length);
    const { width, left, right, bottom } = range.getBoundingClientRect();
    const isDrawn = width > 0 && left >= edge.left && right <= edge.right + 1 && bottom <= edge.bottom + 1;
    if (isDrawn) ends++;
    else faults.push('the end is outside of the card');
  }
  if (ends === 0) faults.push('the end is not in the card');
  return faults;
}

describe('a text to approve', () => {
  let panel: Panel;
  const { open, button } = useChrome((opened) => {
    panel = opened;
  });
  const card = () => panel.page.getByRole('group', { name: /^Permission:/ });

  // The slow tier tests all shapes at both widths.
  const shapes = SHAPES.filter((_shape, index) => index % seeds(6, 1) === 0);
  for (const width of [860, 300].slice(0, seeds(1, 2)))
    it(`shows its end above the answers, or states the omission, at ${width} px`, async () => {
      await open({ width });
      const faults: string[] = [];
      for (const [number, { name, items, asked }] of shapes.entries()) {
        const permissions = [permission(0, { id: `p${number}`, title: 'Do it', ...asked })];
        await panel.snapshot({ items, session: { phase: 'requiresAction', permissions } });
        for (const fault of await panel.page.evaluate(faultsOfCard, END)) faults.push(`${name}: ${fault}`);
        const { height = 0 } = (await card().boundingBox()) ?? {};
        if (width === 860 && /^a (?:command|change|title|file) /.test(name) && height > 780)
          faults.push(`${name}: the card is ${height} px high`);
      }
      assert.deepEqual(faults, []);
    });

  it('shows the lines between its first and last ones on demand', async () => {
    const line = Array.from({ length: 200 }, (_, index) => `echo ${index}`).join('\n');
    await open({ items: [run], session: { permissions: [permission(0, { commands: [{ line }] })] } });
    await card().getByText('… 190 lines not shown …').waitFor();
    assert.match(await card().innerText(), /echo 0\n[\s\S]*echo 199/);
    await button('Show all').focus();
    await panel.page.keyboard.press('Enter');
    assert.match(await card().innerText(), /echo 99\necho 100/);
  });

  it('states how much of a change is omitted, including between blank lines', async () => {
    await open({
      items: [changed([], { hunks: TOO_LARGE, truncated: LEFT })],
      session: { permissions: [permission(0)] },
    });
    assert.match(await card().innerText(), /340 blank lines[\s\S]*900 lines not shown[\s\S]*59 blank lines/);
    const addedLines = (count: number): string[] => Array.from({ length: count }, (_, index) => `+a${index}`);
    const hunks = [340, 60].map((count) => ({ oldStart: 1, newStart: 1, lines: addedLines(count) }));
    await panel.snapshot({
      items: [changed([], { hunks, truncated: LEFT })],
      session: { permissions: [permission(0)] },
    });
    assert.match(await card().innerText(), /a14\n… 1,270 lines not shown …\na45/);
  });

  it('counts blanks and names hidden characters', async () => {
    const line = `ls${'\n'.repeat(301)}rm -rf ~\u202e\u00a0\u00a0`;
    await open({ items: [run], session: { permissions: [permission(0, { commands: [{ line }] })] } });
    assert.match(await card().innerText(), /ls\n⟨300 blank lines⟩\nrm -rf ~⟨U\+202E⟩⟨U\+00A0 × 2⟩/);
  });

  for (const theme of (['hc', 'dark'] as const).slice(0, seeds(1, 2)))
    it(`is readable in the theme ${theme}`, async () => {
      const line = `ls${'\n'.repeat(300)}curl example.com | sh${'\u00a0'.repeat(40)}${' word'.repeat(400)} ${END}`;
      const lines = [
        ...Array.from({ length: 90 }, (_, index) => `+line ${index}`),
        `+const a = 1;${' '.repeat(400)}x()`,
      ];
      const texts = [{ path: '/work/hello.txt', text: 'line one\nline two\n' }];
      const input = { json: '{\n  "command": "ls",\n  "is_background": true\n}' };
      for (const [name, items, asked] of [
        ['command', [run], { commands: [{ line, cwd: '/work' }], input }],
        ['change', [changed(lines)], {}],
        [
          'large',
          [
            changed([], {
              hunks: [{ oldStart: 1, newStart: 1, lines: lines.slice(0, 80) }, ...TOO_LARGE.slice(1)],
              truncated: LEFT,
            }),
          ],
          {},
        ],
        ['file', [call({ title: 'Writing hello.txt', toolKind: 'edit' })], { texts, input }],
      ] as const) {
        await open({ theme, items, session: { phase: 'requiresAction', permissions: [permission(0, asked)] } });
        await panel.answerable();
        await panel.page.screenshot({ path: `out/screenshots/asked-${name}-${theme}.png` });
      }
    });
});
