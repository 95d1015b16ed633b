// Forms and pages that an agent asks for, and the other cards of the protocol, in a real browser under the real content policy.
import assert from 'node:assert/strict';
import type { ElicitationView, Form, ItemView } from '../../src/panel/contract';
import { Harness, type Panel, type PanelOptions } from './harness/browser';
import { asksForm, asksPage } from './harness/questionSamples';
import { conversation, permission, tool } from './harness/samples';

describe('questions', () => {
  let harness: Harness;
  let panel: Panel;
  before(async () => {
    harness = await Harness.start();
  });
  after(() => harness.stop());
  afterEach(async () => {
    assert.deepEqual(await panel.problems(), []);
    await panel.page.close();
  });

  async function open(elicitations: readonly ElicitationView[], options: PanelOptions = {}): Promise<Panel> {
    const session = { phase: 'requiresAction', elicitations, ...options.session } as const;
    panel = await harness.open({ height: 1400, items: [], ...options, session });
    return panel;
  }

  const card = () => panel.page.getByRole('group', { name: /^Question: / });
  const field = (name: string) => card().getByRole('textbox', { name });
  const press = (name: string) => card().getByRole('button', { name, exact: true }).click();

  it('does not say who asks and what, or does not say it aloud', async () => {
    const { page } = await open([asksForm]);
    await page.getByRole('group', { name: 'Question: Claude asks: Which database shall I use?' }).waitFor();
    assert.match(await card().innerText(), /Claude asks\s+create_database\s+Which database shall I use\?/);
    await page
      .getByRole('alert')
      .filter({ hasText: 'Claude asks: Which database shall I use?' })
      .waitFor({ state: 'attached' });
  });

  it('cannot be found by the names of its fields', async () => {
    await open([asksForm]);
    await field('Name').waitFor();
    await card()
      .getByRole('radio', { name: /^PostgreSQL/ })
      .waitFor();
    assert.equal(await card().getByRole('combobox', { name: 'Region' }).inputValue(), 'r3');
    assert.equal(await field('Port').inputValue(), '5432');
    assert.ok(await card().getByRole('checkbox', { name: 'Encrypt the connection' }).isChecked());
    assert.equal(
      await card()
        .getByRole('group', { name: /^Users/ })
        .getByRole('checkbox')
        .count(),
      3,
    );
    assert.match(await card().innerText(), /This kind of field \(hologram\) cannot be answered here/);
  });

  it('fills in a secret, or keeps one', async () => {
    const { page } = await open([asksForm]);
    assert.equal(await field('API token').inputValue(), '');
    await field('API token').fill('s3cret');
    await field('Name').fill('main');
    assert.match(await card().innerText(), /Do not write passwords or keys here/);
    const state = JSON.stringify(await page.evaluate(() => host.state()));
    assert.match(state, /main/);
    assert.doesNotMatch(state, /s3cret/);
  });

  it('sends what breaks the rules, or does not say what is wrong and where', async () => {
    const { page } = await open([asksForm]);
    await field('Name').fill('X');
    await field('Port').fill('many');
    await press('Submit');
    assert.equal((await panel.posted('elicitation')).length, 0);
    assert.equal(await field('Name').getAttribute('aria-invalid'), 'true');
    assert.ok(
      await field('Name').evaluate((node) => node === document.activeElement),
      'the first wrong field has the focus',
    );
    const described = await field('Name').getAttribute('aria-describedby');
    const words = await page.evaluate(
      (ids) =>
        (ids ?? '')
          .split(' ')
          .map((id) => document.getElementById(id)?.textContent ?? '')
          .join(' '),
      described,
    );
    assert.match(words, /Lower case letters\..*Write at least 2 characters\./);
    assert.match(await card().innerText(), /Write a number\./);
    await field('Name').fill('main');
    assert.equal(await field('Name').getAttribute('aria-invalid'), null, 'it is right as soon as it is');
  });

  it('loses an answer, or sends it twice', async () => {
    await open([asksForm]);
    await field('Name').fill('main');
    await field('What is it for?').fill('tests');
    await card().getByRole('radio', { name: 'MySQL' }).check();
    await card().getByLabel('Needed until').fill('2026-12-24');
    await card().getByRole('checkbox', { name: 'eve' }).check();
    await card().getByRole('checkbox', { name: 'ann' }).check();
    await field('Name').press('Enter');
    const { id, answer } = await panel.next('elicitation');
    assert.equal(id, 'ask1');
    assert.deepEqual(answer, {
      kind: 'submit',
      values: {
        name: 'main',
        why: 'tests',
        kind: 'my',
        region: 'r3',
        port: 5432,
        until: '2026-12-24',
        tls: true,
        users: ['ann', 'eve'],
        apiToken: '',
        shape: '',
      },
    });
    assert.ok(await card().getByRole('button', { name: 'Submit' }).isDisabled());
    assert.equal((await panel.posted('elicitation')).length, 1);
    await panel.send({ type: 'formRefused', id: 'ask1', problems: { name: { code: 'pattern' } } });
    await card().getByText('This does not have the form that is asked for.').waitFor();
    assert.ok(!(await card().getByRole('button', { name: 'Submit' }).isDisabled()), 'it can be corrected');
    await panel.update({ op: 'session', patch: { elicitations: [] } });
    assert.equal(await card().count(), 0);
  });

  it('answers yes by itself, or cannot be told no', async () => {
    await open([asksForm]);
    await press('Decline');
    assert.deepEqual((await panel.next('elicitation')).answer, { kind: 'decline' });
    await press('Cancel');
    assert.deepEqual((await panel.next('elicitation', (await panel.count()) - 1)).answer, { kind: 'cancel' });
  });

  it('throws away what was typed at the first Escape', async () => {
    const { page } = await open([asksForm]);
    await field('Name').fill('main');
    await page.keyboard.press('Escape');
    assert.equal((await panel.posted('elicitation')).length, 0);
    assert.ok(await card().evaluate((node) => node === document.activeElement));
    await page.keyboard.press('Escape');
    assert.deepEqual((await panel.next('elicitation')).answer, { kind: 'cancel' });
  });

  it('answers a permission elsewhere by a digit that was pressed in it', async () => {
    const items = conversation();
    const { page } = await open([asksForm], { items, session: { permissions: [permission(items.length - 1)] } });
    await card().getByRole('button', { name: 'Decline' }).focus();
    await page.keyboard.press('1');
    await card().focus();
    await page.keyboard.press('2');
    assert.equal((await panel.posted('permission')).length, 0);
  });

  it('forgets what was typed while the panel was away', async () => {
    const { page } = await open([asksForm]);
    await field('Name').fill('main');
    await page.reload();
    await panel.next('hello');
    await panel.snapshot({ session: { phase: 'requiresAction', elicitations: [asksForm] } });
    assert.equal(await field('Name').inputValue(), 'main');
    await panel.update({ op: 'session', patch: { elicitations: [] } });
    assert.doesNotMatch(JSON.stringify(await page.evaluate(() => host.state())), /main/);
  });

  it('cannot be declined where it cannot be answered', async () => {
    const form: Form = { fields: [{ key: 's', type: 'unknown', kind: 'hologram', required: true }] };
    await open([{ id: 'a', mode: 'form', message: 'Show me', form }]);
    assert.ok(await card().getByRole('button', { name: 'Submit' }).isDisabled());
    assert.match(await card().innerText(), /You can decline it/);
    await press('Decline');
    await panel.next('elicitation');
  });

  it('opens a page that was not shown whole, or sends an address back', async () => {
    await open([asksPage]);
    const address = card().locator('.address');
    assert.equal(await address.innerText(), asksPage.mode === 'url' ? asksPage.url : '');
    assert.equal(await address.locator('b').innerText(), 'accounts.example.com');
    assert.equal(await card().locator('a, iframe, img').count(), 0);
    await press('Open accounts.example.com');
    assert.deepEqual(await panel.next('elicitation'), { type: 'elicitation', id: 'ask2', answer: { kind: 'open' } });
    await panel.update({
      op: 'session',
      patch: { phase: 'running', elicitations: [{ ...asksPage, opened: true } as ElicitationView] },
    });
    assert.match(await card().innerText(), /Go on in the browser/);
    assert.equal(await panel.page.getByRole('button', { name: 'Needs you' }).count(), 0);
    await card().getByRole('button', { name: 'Open again' }).waitFor();
  });

  it('does not warn of a name that only looks like another', async () => {
    await open([{ ...asksPage, url: 'https://xn--pple-43d.com/' } as ElicitationView]);
    assert.match(await card().innerText(), /characters that may look like others/);
  });

  it('leaves no way back to a question out of sight', async () => {
    const items = [...conversation(), ...conversation().map((item) => ({ ...item, id: `${item.id}b` }))];
    const { page } = await open([asksPage], { items, height: 500 });
    await page.getByRole('log').hover();
    await page.mouse.wheel(0, -20_000);
    await page.getByRole('button', { name: 'Needs you' }).click();
    await page.waitForFunction(() => document.activeElement?.matches('[data-elicitation-id="ask2"]'));
  });

  it('can be answered only in some themes, or only in a wide panel', async () => {
    for (const theme of ['dark', 'light', 'hc', 'hclight'] as const) {
      await open([asksForm, asksPage], { theme, width: 280, height: 900 });
      const wide = await panel.page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.querySelector('.transcript')!;
        const outside = [...document.querySelectorAll('.question-card :is(button, input, select, textarea)')].filter(
          (node) => node.getBoundingClientRect().right > innerWidth,
        );
        return { over: scrollWidth - clientWidth, outside: outside.map((node) => node.outerHTML) };
      });
      assert.deepEqual(wide, { over: 0, outside: [] }, theme);
      assert.deepEqual(await panel.problems(), []);
      if (theme !== 'hclight') await panel.page.close();
    }
  });
});

describe('cards of the protocol', () => {
  let harness: Harness;
  let panel: Panel;
  before(async () => {
    harness = await Harness.start();
  });
  after(() => harness.stop());
  afterEach(async () => {
    assert.deepEqual(await panel.problems(), []);
    await panel.page.close();
  });

  async function open(items: readonly ItemView[], session: PanelOptions['session'] = {}): Promise<Panel> {
    panel = await harness.open({ items, height: 1200, session });
    return panel;
  }

  it('hides what a permission is about: its description and its command', async () => {
    const asked = permission(-1, {
      description: 'The tests need it.',
      command: { line: 'rm -rf out', cwd: '/work/app' },
    });
    const { page } = await open([], { permissions: [asked] });
    const text = await page.getByRole('group', { name: /^Permission:/ }).innerText();
    assert.match(text, /The tests need it\.\s+\$ rm -rf out\s+in \/work\/app/);
  });

  it('takes the focus away from a question when another one comes', async () => {
    const { page } = await open([], { permissions: [permission(-1)] });
    const reject = page.getByRole('button', { name: 'Reject' });
    await reject.focus();
    const second = permission(-1, { id: 'p2', title: 'another' });
    await panel.update({ op: 'session', patch: { permissions: [permission(-1), second] } });
    assert.ok(await reject.first().evaluate((node) => node === document.activeElement));
    await panel.update({ op: 'session', patch: { permissions: [second] } });
    assert.equal(await page.getByRole('group', { name: /^Permission:/ }).count(), 1);
  });

  it('shows a plan that is a text, a file, or taken back, as an empty list', async () => {
    const base = { kind: 'plan', at: 0, entries: [] } as const;
    const { page } = await open([
      { ...base, id: 'p1', markdown: '1. **First**\n2. Then' },
      { ...base, id: 'p2', uri: 'file:///work/app/PLAN.md' },
      { ...base, id: 'p3', entries: [{ content: 'Later', status: 'cancelled' }], removed: true },
    ]);
    await page.locator('[data-entry-id=p1] strong', { hasText: 'First' }).waitFor();
    await page.getByRole('link', { name: 'PLAN.md' }).click();
    assert.deepEqual(await panel.next('openLink'), { type: 'openLink', href: 'file:///work/app/PLAN.md' });
    assert.match(
      await page.locator('[data-entry-id=p3]').innerText(),
      /taken back by the agent[\s\S]*dropped[\s\S]*Later/,
    );
    assert.doesNotMatch(await page.locator('[data-entry-id=p1]').innerText(), /0 of 0/);
  });

  it('loses what a subagent said last, or all that went between', async () => {
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
    assert.match((await entry.innerText()).replace(/\s+/g, ' '), /running Subagent Look for tests I found three/);
    await entry.locator('.row').click();
    await entry.locator('strong', { hasText: 'It is told:' }).waitFor();
  });

  it('cannot stop the one tool call, or the one terminal, that can be stopped', async () => {
    const { page } = await open(
      [
        tool('c1', { title: 'npm run dev', toolKind: 'execute', status: 'in_progress', stopId: 'call-1' }),
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
    assert.deepEqual(await panel.next('stopOne'), { type: 'stopOne', kind: 'tool', id: 'call-1' });
    const work = page.getByRole('region', { name: 'Background work' });
    assert.match(await work.innerText(), /2 tasks run in the background\s+npm run watch\s+Stop\s+A watcher/);
    await work.getByRole('button', { name: 'Stop npm run watch' }).click();
    assert.deepEqual(await panel.next('stopOne', (await panel.count()) - 1), {
      type: 'stopOne',
      kind: 'terminal',
      id: 'term-1',
    });
    assert.equal(await page.getByRole('button', { name: /^Stop / }).count(), 2);
    await panel.update({ op: 'session', patch: { background: [] } });
    assert.equal(await work.count(), 0);
  });

  it('cannot hear a sound, or does not say what an embedded file is', async () => {
    // A tenth of a second of silence.
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
      {
        kind: 'agent',
        id: 'a',
        at: 0,
        duration: 0,
        content: [
          { type: 'audio', data: bytes.toString('base64'), mimeType: 'audio/wav' },
          { type: 'audio', data: '', mimeType: 'text/html' },
          { type: 'resource', uri: 'file:///tmp/a.zip', mimeType: 'application/zip', bytes: 4096 },
        ],
      },
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
    assert.match(text, /Audio \(text\/html\), which cannot be played here/);
    assert.match(text, /a\.zip\s+application\/zip, 4 KB/);
  });

  it('buries the summary of a compaction, or a warning', async () => {
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

  it('cannot paste a file that the agent takes, or is not told why not', async () => {
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
      data: 'aGVsbG8=',
      mimeType: 'text/csv',
      name: 'notes.csv',
    });
    await paste('table.png', 'image/png', 'the text of the table');
    assert.equal((await panel.posted('attachImage')).length, 0, 'the text is meant');
    await panel.update({ op: 'session', patch: { canAttachFiles: false } });
    await paste('sound.wav', 'audio/wav');
    await page.getByRole('alert').filter({ hasText: 'This agent takes no audio.' }).waitFor();
    assert.equal((await panel.posted('attachFile')).length, 1);
  });
});
