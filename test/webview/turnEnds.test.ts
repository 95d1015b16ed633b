// The entry at the end of a turn: its labels and actions.
import assert from 'node:assert/strict';
import type { ItemView, TurnView } from '../../src/panel/contract';
import type { Panel } from './harness/browser';
import { conversation, message } from './harness/samples';
import { useHarness } from './harness/useHarness';

describe('ends of turns', () => {
  const browser = useHarness();
  let panel: Panel;

  async function open(items = conversation()): Promise<Panel> {
    panel = await browser.open({ items, height: 2400 });
    return panel;
  }

  it('copy the text of their turn', async () => {
    const { page } = await open();
    await page.locator('.turn-end').hover();
    await page.getByRole('button', { name: 'Copy response' }).click();
    assert.equal(typeof (await panel.next('copyTurn')).turnId, 'string');
  });

  it('state that the agent ended a turn without a message', async () => {
    const turn = { id: 't1', number: 1, origin: 'user', startedAt: 0, endedAt: 200, stopReason: 'end_turn' } as const;
    const end = (isEmpty?: true): ItemView => {
      const view = { ...turn, tools: 0, files: 0, ...(isEmpty && { isEmpty }) };
      return { kind: 'turn_end', id: `end${isEmpty}`, turnId: 't1', at: 1, turn: view };
    };
    const { page } = await open([message('u', 'user', 'go'), end(true), end()]);
    const [empty, other] = await page.getByRole('separator', { name: /Turn 1 ended/ }).allInnerTexts();
    assert.match(empty ?? '', /The agent sent no response\./);
    assert.doesNotMatch(other ?? '', /response/);
  });

  it('have no elements for missing values', async () => {
    const turn = { id: 't1', number: 1, origin: 'user', startedAt: 0, endedAt: 200, tools: 0, files: 0 } as const;
    const { page } = await open([
      message('u', 'user', 'go'),
      message('a', 'agent', 'done'),
      { kind: 'turn_end', id: 'e', turnId: 't1', at: 1, turn: { ...turn, stopReason: 'end_turn' } },
    ]);
    const classes = await page.locator('.turn-end-entry *').evaluateAll((all) => all.map(({ className }) => className));
    assert.deepEqual(classes, [
      'turn-end',
      'turn-rule quiet',
      'turn-text',
      'turn-reason',
      'fact',
      'turn-actions',
      'icon-button codicon codicon-copy',
    ]);
    assert.equal(await page.locator('.entry.agent > *').count(), 1);
    assert.equal(await page.locator('.icon-button.codicon > *').count(), 0, 'an icon is drawn by its button');
  });

  it('are only a line after a normal turn, until hovered or focused', async () => {
    const turn = { id: 't1', number: 1, origin: 'user', startedAt: 0, endedAt: 200, tools: 0, files: 0 } as const;
    const end = (id: string, stopReason: 'end_turn' | 'max_tokens'): ItemView => ({
      kind: 'turn_end',
      id,
      turnId: 't1',
      at: 1,
      turn: { ...turn, stopReason },
    });
    panel = await browser.open({
      items: [message('a', 'agent', 'done'), end('e1', 'end_turn'), end('e2', 'max_tokens')],
      session: { turnCount: 2 },
    });
    const { page } = panel;
    const ends = page.locator('.turn-end');
    const opacity = (end: number) =>
      ends
        .nth(end)
        .locator('.turn-text')
        .evaluate((node) => getComputedStyle(node).opacity);
    assert.deepEqual([await opacity(0), await opacity(1)], ['0', '1']);
    const copy = ends.first().locator('.turn-actions button');
    assert.equal(await copy.evaluate((node) => node.checkVisibility({ opacityProperty: true })), true);
    await ends.first().hover();
    assert.equal(await opacity(0), '1');
    await page.mouse.move(0, 0);
    assert.equal(await opacity(0), '0');
    await copy.focus();
    assert.equal(await opacity(0), '1');
  });

  it('state who started a turn and how its end was detected, on screen and for screen readers', async () => {
    const turn = { origin: 'user', startedAt: 0, endedAt: 200, tools: 0, files: 0, stopReason: 'end_turn' } as const;
    const end = (number: number, given: Partial<TurnView>): ItemView => {
      const id = `t${number}`;
      return { kind: 'turn_end', id: `e${number}`, turnId: id, at: 1, turn: { ...turn, id, number, ...given } };
    };
    panel = await browser.open({
      items: [
        end(1, { barrier: 'response', ending: 'agent answered' }),
        end(2, { barrier: 'state', starter: 'started by agent', ending: 'agent became idle' }),
        end(3, { barrier: 'timeout', ending: 'timed out' }),
        end(4, { barrier: 'turn_complete', ending: 'agent sent turn_complete' }),
      ],
      session: { turnCount: 4 },
    });
    const { page } = panel;
    const texts = page.locator('.turn-text');
    assert.deepEqual(await texts.allInnerTexts(), [
      'Turn 1 ended · 0.2 s · agent answered',
      'Turn 2 ended · 0.2 s · started by agent · agent became idle',
      'Turn 3 ended · 0.2 s · timed out',
      'Turn 4 ended · 0.2 s · agent sent turn_complete',
    ]);
    await page.setViewportSize({ width: 600, height: 800 });
    assert.deepEqual(await texts.allInnerTexts(), [
      'Turn 1 ended · 0.2 s',
      'Turn 2 ended · 0.2 s · started by agent',
      'Turn 3 ended · 0.2 s · timed out',
      'Turn 4 ended · 0.2 s',
    ]);
    const opacities = (): Promise<readonly string[]> =>
      texts.evaluateAll((all) => all.map((text) => getComputedStyle(text).opacity));
    assert.deepEqual(await opacities(), ['0', '1', '1', '1'], 'all but an ordinary end, and the latest one');
    const group = page.getByRole('group', {
      name: /^Turn 2 ended, 0.2 s, started by agent, agent became idle$/,
    });
    assert.equal(await group.count(), 1);
    await panel.update({ op: 'session', patch: { turnCount: 5 } });
    await page.locator('.turn-end-entry .quiet').nth(1).waitFor();
    assert.deepEqual(await opacities(), ['0', '1', '1', '0']);
  });

  it('show that the agent started a turn while it is running', async () => {
    const turn = { id: 't', number: 1, origin: 'agent', startedAt: Date.now(), tools: 0, files: 0 } as const;
    panel = await browser.open({
      items: [message('a', 'agent', 'Working')],
      session: { phase: 'running', status: 'Working', turn: { ...turn, starter: 'started by agent' } },
    });
    await panel.page.locator('.working', { hasText: 'started by agent' }).waitFor();
  });

  it('show a message of another client as such', async () => {
    const mine = message('u', 'user', 'mine');
    const { page } = await open([mine, { ...message('o', 'user', 'theirs'), elsewhere: true } as ItemView]);
    const articles = page.getByRole('article');
    assert.deepEqual(await articles.evaluateAll((all) => all.map((article) => article.getAttribute('aria-label'))), [
      'You',
      'Another client',
    ]);
    assert.deepEqual(await page.locator('.sender-chip').allInnerTexts(), ['Another client']);
  });
});
