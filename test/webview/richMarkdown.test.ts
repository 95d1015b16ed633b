// Alerts, footnotes, folds and tags in a message, and actions of its code blocks.
import assert from 'node:assert/strict';
import { THEMES } from '../support/tier';
import { seriousFindings } from './harness/axe';
import { message } from './harness/samples';
import { useHarness } from './harness/useHarness';

const TEXT = `> [!WARNING]
> Press <kbd>Ctrl</kbd>+<kbd>C</kbd> first[^1], or see [^none].

<details>
<summary>Log of <b>the</b> run</summary>

Hidden words

\`\`\`sh
npm test
\`\`\`

- one
- two

</details>

H<sub>2</sub>O<br>and more

[^1]: The *reason* why.`;

describe('rich Markdown', () => {
  const browser = useHarness();

  it('draws alerts, footnotes, folds and tags regardless of how the text arrives', async () => {
    const panel = await browser.open({ items: [message('a', 'agent', TEXT.slice(0, 30))] });
    for (let at = 30; at < TEXT.length; at += 7)
      await panel.update({ op: 'append', index: 0, text: TEXT.slice(at, at + 7), until: 0 });
    const entry = panel.page.locator('[data-entry-id=a]');
    await entry.locator('.footnote em', { hasText: 'reason' }).waitFor();
    assert.equal(await entry.locator('blockquote.warning .alert-title').innerText(), 'Warning');
    assert.deepEqual(await entry.locator('kbd').allInnerTexts(), ['Ctrl', 'C']);
    assert.equal(await entry.locator('sub').innerText(), '2');
    // A reference without a footnote is not replaced.
    assert.match(await entry.innerText(), /Ctrl\+C first1, or see \[\^none\]\./);
    assert.doesNotMatch(await entry.innerText(), /details|summary|\[!WARNING\]/);
  });

  it('expands and collapses everything in a fold, including parts that are far away', async () => {
    const long = TEXT.replace('- one', `${'A long log line.\n\n'.repeat(900)}- one`);
    const panel = await browser.open({ items: [message('a', 'agent', long)] });
    const line = panel.page.getByRole('button', { name: 'Log of the run' });
    await line.waitFor();
    const height = (): Promise<number> =>
      panel.page.locator('[data-entry-id=a]').evaluate((entry) => entry.getBoundingClientRect().height);
    assert.equal(await line.getAttribute('aria-expanded'), 'false');
    assert.ok((await height()) < 600, `${await height()} px while folded`);
    assert.equal(await panel.page.getByText('Hidden words').isVisible(), false);
    await line.press('Enter');
    await panel.page.getByText('Hidden words').waitFor();
    assert.ok((await height()) > 9_000, `${await height()} px while unfolded`);
    await line.press('Space');
    await panel.page.getByText('Hidden words').waitFor({ state: 'hidden' });
    assert.ok((await height()) < 600, `${await height()} px when folded again`);
  });

  it('links a reference to its footnote and back, by keyboard', async () => {
    const far = TEXT.replace('H<sub>', `${'Words in between.\n\n'.repeat(400)}H<sub>`);
    const panel = await browser.open({ items: [message('a', 'agent', far)] });
    await panel.scrollTo(0);
    const reference = panel.page.getByRole('link', { name: '1', exact: true }).first();
    await reference.press('Enter');
    const note = panel.page.locator('.footnote', { hasText: 'The reason why' });
    await note.waitFor();
    await panel.page.waitForFunction(() => document.activeElement?.matches('.note-label'));
    await panel.page.keyboard.press('Enter');
    await panel.page.waitForFunction(() => document.activeElement?.matches('a.note-reference'));
  });

  it('has no serious accessibility violations in any theme, at 280 pixels', async () => {
    for (const theme of THEMES) {
      const panel = await browser.open({ items: [message('a', 'agent', TEXT)], theme, width: 280 });
      await panel.page.getByRole('button', { name: 'Log of the run' }).click();
      assert.deepEqual(await seriousFindings(panel.page, '.transcript'), [], theme);
    }
  });

  it('shows the file of a code block as a link, regardless of how the text arrives', async () => {
    const text = '```ts title="src/\u202ea.ts"\nlet x;\n```\n\n```ts\nlet y;\n```';
    const panel = await browser.open({ items: [message('a', 'agent', text.slice(0, 10))] });
    for (let at = 10; at < text.length; at += 9)
      await panel.update({ op: 'append', index: 0, text: text.slice(at, at + 9), until: 0 });
    const link = panel.page.getByRole('link', { name: 'src/⟨U+202E⟩a.ts' });
    await link.click();
    assert.equal((await panel.next('openLink')).href, 'src/\u202ea.ts');
    assert.equal(await panel.page.getByRole('link').count(), 1);
  });

  it('inserts, opens and runs a whole code block', async () => {
    const code = `${'line\n'.repeat(150)}end`;
    const text = `\`\`\`sh\n${code}\n\`\`\`\n\n\`\`\`ts\nlet x;\n\`\`\``;
    const panel = await browser.open({ items: [message('a', 'agent', text)], height: 6_000 });
    const { page } = panel;
    await page.getByRole('button', { name: 'Insert at cursor' }).first().click();
    assert.deepEqual(await panel.next('useCode'), {
      type: 'useCode',
      key: 's1',
      action: 'insert',
      text: code,
      lang: 'sh',
    });
    const inserted = await panel.count();
    await page.getByRole('button', { name: 'Open in new editor' }).nth(1).click();
    assert.deepEqual(await panel.next('useCode', inserted), {
      type: 'useCode',
      key: 's1',
      action: 'open',
      text: 'let x;',
      lang: 'ts',
    });
    // Only shell languages can be run.
    const opened = await panel.count();
    await page.getByRole('button', { name: 'Run in terminal…' }).click();
    assert.equal((await panel.next('useCode', opened)).action, 'run');
  });
});
