// The content policy of our webviews stops what an agent might bring in, and the tests see it: each of the others ends with a look at what was stopped (useVsCode.ts).
import { strict as assert } from 'node:assert';
import { useVsCode } from '../support/vscode/useVsCode';
import { chatReady, command } from '../support/vscode/workbench';

describe('the content policy of the chat', () => {
  const vscode = useVsCode();

  it('stops script and markup from text, and reports it', async () => {
    const { page, problems } = vscode.window;
    await command(page, 'Parley: Focus Chat');
    const frame = await chatReady(page, 'panel');
    const earlier = problems.length;
    const reported = page.waitForEvent('console', (message) => message.text().includes('TrustedHTML'));
    // In the page's own world, where its policy holds.
    await frame.locator('body').evaluate(`
      (() => {
        const script = document.createElement('script');
        try { script.text = 'document.title = "broken"'; } catch {}
        document.body.append(script);
        try { document.body.insertAdjacentHTML('beforeend', '<b id=markup>x</b>'); } catch {}
        script.remove();
      })()
    `);
    await reported;
    assert.notEqual(await frame.locator('body').evaluate('document.title'), 'broken');
    assert.equal(await frame.locator('#markup').count(), 0);
    assert.equal(problems.length, earlier + 2, 'the harness did not see the violations');
    for (const problem of problems.slice(earlier)) vscode.deliberate.add(problem);
  });
});
