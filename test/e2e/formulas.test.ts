// Formulas of agents in the installed extension, whose script VS Code serves and the policy of the page allows.
import { strict as assert } from 'node:assert';
import { scriptedAgent } from '../support/agents/definition';
import type { Chat } from '../support/vscode/chat';
import { screenshot } from '../support/vscode/openWindow';
import { useChat } from '../support/vscode/useChat';

describe('formulas of an agent', () => {
  const agents = { plain: scriptedAgent('plain') };
  let chat: Chat;
  const vscode = useChat({ settings: { 'parley.agents': agents, 'parley.defaultAgent': 'plain' } }, (opened) => {
    chat = opened;
  });

  it('are drawn where they can be, and shown as they were written otherwise', async () => {
    await chat.run('say It is $\\frac{a_1}{\\sqrt{b}}$ and not $\\href{https://example.com}{c}$, for $5 or $6.');
    const answer = chat.entries('agent').last();
    await answer.locator('.formula.inline mfrac msqrt').waitFor();
    assert.equal(await answer.locator('.formula.problem').innerText(), '$\\href{https://example.com}{c}$');
    assert.equal(await answer.locator('.formula').count(), 2);
    await screenshot(vscode.window.page, 'formulas');
  });
});
