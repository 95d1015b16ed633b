// Other cards of the protocol in a real browser: questions, plans, media, background tasks.
import assert from 'node:assert/strict';
import type { ItemView } from '../../src/panel/contract';
import type { Panel, PanelOptions } from './harness/browser';
import { message, permission, tool } from './harness/samples';
import { useHarness } from './harness/useHarness';

describe('cards of the protocol', () => {
  const browser = useHarness();
  let panel: Panel;

  async function open(items: readonly ItemView[], session: PanelOptions['session'] = {}): Promise<Panel> {
    panel = await browser.open({ items, height: 1200, session });
    return panel;
  }

  it('show the description and the command of a permission request', async () => {
    const asked = permission(-1, {
      description: 'The tests need it.',
      commands: [{ line: 'rm -rf out', cwd: '/work/app' }],
    });
    const { page } = await open([], { permissions: [asked] });
    const text = await page.getByRole('group', { name: /^Permission:/ }).innerText();
    assert.match(text, /The tests need it\.\s+\$ rm -rf out\s+in \/work\/app/);
  });

  it('offer to edit the requested change before it is made', async () => {
    const { page } = await open([], { permissions: [permission(-1)] });
    const edit = page.getByRole('button', { name: 'Edit the change…' });
    assert.equal(await edit.count(), 0);
    await panel.update({ op: 'session', patch: { permissions: [permission(-1, { id: 'p2', canEdit: true })] } });
    await edit.click();
    assert.deepEqual(await panel.next('editProposal'), { type: 'editProposal', key: 's1', id: 'p2' });
    assert.equal((await panel.posted('permission')).length, 0, 'it is not answered by that');
  });

  it('keep the focus in a question when another one appears', async () => {
    const { page } = await open([], { permissions: [permission(-1)] });
    const reject = page.getByRole('button', { name: 'Reject', exact: true });
    await reject.focus();
    const second = permission(-1, { id: 'p2', title: 'another' });
    await panel.update({ op: 'session', patch: { permissions: [permission(-1), second] } });
    assert.ok(await reject.first().evaluate((node) => node === document.activeElement));
    await panel.update({ op: 'session', patch: { permissions: [second] } });
    assert.equal(await page.getByRole('group', { name: /^Permission:/ }).count(), 1);
  });

  it('show a plan as a text, a file, or removed', async () => {
    const base = { kind: 'plan', at: 0, entries: [] } as const;
    const { page } = await open([
      { ...base, id: 'p1', markdown: '1. **First**\n2. Then' },
      { ...base, id: 'p2', uri: 'file:///work/app/PLAN.md' },
      { ...base, id: 'p4', markdown: '# Written down', uri: '/work/app/plans/4.md' },
      { ...base, id: 'p3', entries: [{ content: 'Later', status: 'cancelled' }], removed: true },
    ]);
    await page.locator('[data-entry-id=p1] strong', { hasText: 'First' }).waitFor();
    await page.getByRole('link', { name: 'PLAN.md' }).click();
    assert.deepEqual(await panel.next('openLink'), { type: 'openLink', key: 's1', href: 'file:///work/app/PLAN.md' });
    await page.locator('[data-entry-id=p4]', { hasText: 'Written down' }).getByRole('link', { name: '4.md' }).click();
    assert.deepEqual((await panel.posted('openLink')).map(({ href }) => href).slice(1), ['/work/app/plans/4.md']);
    assert.match(await page.locator('[data-entry-id=p3]').innerText(), /Removed by agent[\s\S]*Canceled[\s\S]*Later/);
    assert.doesNotMatch(await page.locator('[data-entry-id=p1]').innerText(), /0 of 0/);
  });

  it("show a subagent's last text and its messages", async () => {
    const text = (words: string) => ({ type: 'content', block: { type: 'text', text: words } }) as const;
    const { page } = await open([
      tool('s1', {
        title: 'Look for tests',
        toolKind: 'subagent',
        status: 'in_progress',
        content: [text('**It is told:** look'), text('I found three')],
      }),
    ]);
    const entry = page.locator('[data-entry-id=s1]');
    assert.match((await entry.innerText()).replace(/\s+/g, ' '), /Running Subagent Look for tests I found three/);
    await entry.locator('.row').click();
    await entry.locator('strong', { hasText: 'It is told:' }).waitFor();
  });

  it('stop a single tool call or terminal that supports it', async () => {
    const { page } = await open(
      [
        tool('c1', {
          title: 'npm run dev',
          toolKind: 'execute',
          status: 'in_progress',
          stop: { kind: 'tool', id: 'call-1' },
        }),
        tool('c2', { title: 'npm test', toolKind: 'execute', status: 'in_progress' }),
      ],
      {
        background: [
          { kind: 'terminal', id: 'term-1', label: 'npm run watch', stop: 'terminal' },
          { kind: 'tool_call', id: 'call-9', label: 'A watcher' },
        ],
      },
    );
    await page.getByRole('button', { name: 'Stop npm run dev' }).click();
    assert.deepEqual(await panel.next('stopOne'), { type: 'stopOne', key: 's1', kind: 'tool', id: 'call-1' });
    const work = page.getByRole('region', { name: 'Background tasks' });
    assert.match(await work.innerText(), /2 tasks running in the background\s+npm run watch\s+Stop\s+A watcher/);
    await work.getByRole('button', { name: 'Stop npm run watch' }).click();
    assert.deepEqual(await panel.next('stopOne', (await panel.count()) - 1), {
      type: 'stopOne',
      key: 's1',
      kind: 'terminal',
      id: 'term-1',
    });
    assert.equal(await page.getByRole('button', { name: /^Stop / }).count(), 2);
    await panel.update({ op: 'session', patch: { background: [] } });
    assert.equal(await work.count(), 0);
  });

  it('play audio, and describe an embedded file', async () => {
    const bytes = Buffer.alloc(44 + 800);
    bytes.write('RIFF', 0);
    bytes.writeUInt32LE(36 + 800, 4);
    bytes.write('WAVEfmt ', 8);
    bytes.writeUInt32LE(16, 16);
    bytes.writeUInt16LE(1, 20);
    bytes.writeUInt16LE(1, 22);
    bytes.writeUInt32LE(8000, 24);
    bytes.writeUInt32LE(8000, 28);
    bytes.writeUInt16LE(1, 32);
    bytes.writeUInt16LE(8, 34);
    bytes.write('data', 36);
    bytes.writeUInt32LE(800, 40);
    bytes.fill(128, 44);
    const { page } = await open([
      message('a', 'agent', [
        { type: 'audio', data: bytes.toString('base64'), mimeType: 'audio/wav' },
        { type: 'audio', data: '', mimeType: 'text/html' },
        { type: 'resource', uri: 'file:///tmp/a.zip', mimeType: 'application/zip', bytes: 4096 },
      ]),
    ]);
    const sound = page.locator('audio');
    assert.equal(await sound.count(), 1);
    const length = await sound.evaluate(async (node) => {
      const audio = node as HTMLAudioElement;
      audio.load();
      audio.preload = 'metadata';
      await new Promise((resolve, reject) => {
        audio.onloadedmetadata = resolve;
        audio.onerror = () => reject(new Error('the policy or the format stopped it'));
      });
      return audio.duration;
    });
    assert.ok(Math.abs(length - 0.1) < 0.01);
    const text = await page.locator('[data-entry-id=a]').innerText();
    assert.match(text, /Audio \(text\/html\) can't be played here/);
    assert.match(text, /a\.zip\s+application\/zip, 4 KB/);
  });

  it('show the summary of a compaction, and warnings', async () => {
    const { page } = await open([
      { kind: 'notice', id: 'n1', at: 0, severity: 'busy', title: 'Compacting the conversation', text: '' },
      {
        kind: 'notice',
        id: 'n2',
        at: 0,
        severity: 'info',
        title: 'Conversation compacted',
        text: '',
        detail: 'We talked about tests.',
      },
      { kind: 'notice', id: 'n3', at: 0, severity: 'warning', title: 'Rate limit', text: 'Half is used.' },
    ]);
    assert.equal(await page.locator('[data-entry-id=n1] .codicon-loading').count(), 1);
    assert.equal(await page.locator('[data-entry-id=n3] .codicon-warning').count(), 1);
    await page.getByText('Summary').click();
    await page.getByText('We talked about tests.').waitFor();
  });

  it('attach a pasted file that the agent supports, or explain why not', async () => {
    const { page } = await open([], { canAttachFiles: true });
    const paste = (name: string, type: string, plain = '') =>
      page.getByRole('textbox', { name: 'Message' }).evaluate(
        (node, [fileName, fileType, words]) => {
          const data = new DataTransfer();
          data.items.add(new File(['hello'], fileName, { type: fileType }));
          if (words) data.setData('text/plain', words);
          node.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
        },
        [name, type, plain] as const,
      );
    await paste('notes.csv', 'text/csv');
    assert.deepEqual(await panel.next('attachFile'), {
      type: 'attachFile',
      key: 's1',
      data: 'aGVsbG8=',
      mimeType: 'text/csv',
      name: 'notes.csv',
    });
    await paste('table.png', 'image/png', 'the text of the table');
    assert.equal((await panel.posted('attachImage')).length, 0, 'the text is meant');
    await panel.update({ op: 'session', patch: { canAttachFiles: false } });
    await paste('sound.wav', 'audio/wav');
    await page.getByRole('alert').filter({ hasText: "This agent doesn't accept audio." }).waitFor();
    assert.equal((await panel.posted('attachFile')).length, 1);
  });
});
