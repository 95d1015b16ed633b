// Mermaid blocks of a message, drawn in place.
import assert from 'node:assert/strict';
import { THEMES } from '../support/tier';
import { seriousFindings } from './harness/axe';
import type { Panel } from './harness/browser';
import { message } from './harness/samples';
import { useHarness } from './harness/useHarness';

const FLOW = 'flowchart LR\n  A[Read] --> B{Known?}\n  B -- yes --> C[(Store)]\n  B -- no --> D[Ask]';
const SEQUENCE = 'sequenceDiagram\n  Alice->>+Bob: Hello\n  Bob-->>-Alice: Hi';
const BROKEN = 'flowchart LR\n  A --> B\n  C --> [';
const fenced = (source: string): string => `\`\`\`mermaid\n${source}\n\`\`\`\n`;
const TEXT = `${fenced(FLOW)}\n${fenced(SEQUENCE)}\n${fenced(BROKEN)}`;

describe('diagrams', () => {
  const browser = useHarness();
  const open = (text: string, options: object = {}): Promise<Panel> =>
    browser.open({ items: [message('a', 'agent', text)], height: 2_000, ...options });
  const pictures = ({ page }: Panel) => page.locator('.diagram img');
  const problem = ({ page }: Panel) => page.getByRole('note').filter({ hasText: /Diagram not drawn|nicht gezeichnet/ });

  it('replace their source once they are complete', async () => {
    const panel = await browser.open({
      session: { phase: 'running' },
      items: [message('a', 'agent', '```mermaid\nflowchart LR\n  A --> ')],
      height: 2_000,
    });
    await panel.update({ op: 'append', index: 0, text: 'B\n', until: 0 });
    assert.equal(await panel.page.locator('.code-block pre').isVisible(), true);
    await panel.update({ op: 'append', index: 0, text: `\`\`\`\n\n${fenced(SEQUENCE)}\nand so on`, until: 0 });
    await pictures(panel).nth(1).waitFor();
    assert.equal(await panel.page.locator('.code-block pre:visible').count(), 0);
  });

  it('show their source on demand, and with an error if they cannot be drawn', async () => {
    const panel = await open(`${fenced(FLOW)}\n${fenced(BROKEN)}`);
    await pictures(panel).waitFor();
    await problem(panel).waitFor();
    assert.match(await problem(panel).innerText(), /^Diagram not drawn: Parse error on line 3/);
    const sources = panel.page.locator('.code-block pre:visible');
    assert.equal(await sources.innerText(), BROKEN);
    await panel.page.getByRole('button', { name: 'Show source' }).first().press('Enter');
    assert.equal(await sources.count(), 2);
    assert.equal(await pictures(panel).isVisible(), false);
    await panel.page.getByRole('button', { name: 'Show diagram' }).press('Enter');
    await pictures(panel).waitFor();
  });

  it('have the accessible name given in their source', async () => {
    const panel = await open(
      fenced('flowchart LR\n  accTitle: How it works\n  accDescr: Reads, then writes\n  A --> B'),
    );
    await panel.page.getByRole('img', { name: 'How it works. Reads, then writes' }).waitFor();
  });

  it('are enlarged by key, saved as SVG, and closed by Escape', async () => {
    const panel = await open(fenced(FLOW));
    const { page } = panel;
    await page.getByRole('button', { name: 'Diagram', exact: true }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Diagram' });
    await dialog.getByRole('button', { name: 'Save as SVG…' }).click();
    const { action, text } = await panel.next('useCode');
    assert.equal(action, 'savePicture');
    assert.match(text, /^<svg [^>]*viewBox="/);
    assert.doesNotMatch(text, /<foreignObject|<script|\son\w+=|nonce/i);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  it("use the theme's colours, and are redrawn when it changes", async () => {
    const panel = await open(fenced(FLOW), { theme: 'dark' });
    const background = (): Promise<string> =>
      pictures(panel).evaluate(async (image: HTMLImageElement) => {
        await image.decode();
        const canvas = document.createElement('canvas');
        const context = canvas.getContext('2d')!;
        context.drawImage(image, 0, 0);
        return [...context.getImageData(1, 1, 1, 1).data].join();
      });
    await pictures(panel).waitFor();
    const address = await pictures(panel).getAttribute('src');
    await panel.page.evaluate(() => {
      document.body.className = 'vscode-light';
      document.documentElement.style.setProperty('--vscode-editor-background', '#fffffe');
    });
    await panel.page.waitForFunction(
      (old) => document.querySelector('.diagram img')?.getAttribute('src') !== old,
      address,
    );
    assert.equal(await background(), '255,255,254,255');
  });

  it('are shown immediately when they come back into view', async () => {
    const far = `${fenced(FLOW)}\n${'Words in between.\n\n'.repeat(600)}`;
    const panel = await open(far, { height: 700 });
    await panel.scrollTo(0);
    await pictures(panel).waitFor();
    await panel.scrollTo(1e6);
    await pictures(panel).waitFor({ state: 'detached' });
    await panel.scrollTo(0);
    await pictures(panel).waitFor();
    assert.equal(await panel.page.locator('iframe').count(), 1);
  });

  it('have no axe-core violations in any theme, and fit into 280 px', async () => {
    for (const theme of THEMES) {
      const panel = await open(TEXT, { theme, width: 280 });
      await pictures(panel).nth(1).waitFor();
      await problem(panel).waitFor();
      assert.deepEqual(await seriousFindings(panel.page, '.transcript'), [], theme);
      assert.ok(await panel.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    }
  });
});
