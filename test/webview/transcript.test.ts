// Long and fast conversations in a real browser: bounded elements and messages.
import assert from 'node:assert/strict';
import type { ItemView, Op } from '../../src/panel/contract';
import type { Panel, PanelOptions } from './harness/browser';
import { DIFF, MARKDOWN, message, permission, tool } from './harness/samples';
import { RUNNING } from './harness/useChrome';
import { useHarness } from './harness/useHarness';

const MOST_ELEMENTS = 6_000;

describe('transcript', () => {
  const browser = useHarness();
  let panel: Panel;

  async function open(options: PanelOptions): Promise<Panel> {
    panel = await browser.open({ width: 700, height: 700, ...options });
    return panel;
  }

  const scrollTo = (top: number): Promise<void> => panel.scrollTo(top);

  const fromEnd = (): Promise<number> =>
    panel.page.evaluate(() => {
      const { scrollHeight, scrollTop, clientHeight } = document.querySelector('.transcript')!;
      return scrollHeight - scrollTop - clientHeight;
    });

  const append = (index: number, text: string): Op => ({ op: 'append', index, text, until: 0 });

  it('applies 10,000 updates completely, with few elements and one acknowledgement per frame', async () => {
    await open({ items: [message('u', 'user', 'go'), message('a', 'agent', '')], session: RUNNING });
    const text = `${MARKDOWN}\n\n`.repeat(400).slice(0, 200_000);
    const { frames, acks } = await panel.page.evaluate(async (all) => {
      let count = 0;
      let on = true;
      const frame = (): void => {
        count++;
        if (on) requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
      const before = host.posted.length;
      for (let at = 0, revision = 2; at < all.length; at += 20, revision++) {
        host.send({
          type: 'update',
          revision,
          ops: [{ op: 'append', index: 1, text: all.slice(at, at + 20), until: 0 }],
        });
      }
      await host.acked(10_001);
      on = false;
      return { frames: count, acks: host.posted.slice(before).filter(({ type }) => type === 'ack').length };
    }, text);
    assert.ok(acks <= frames + 1, `${acks} acknowledgements in ${frames} frames`);
    assert.ok((await panel.elements()) <= MOST_ELEMENTS);
    assert.equal(await panel.page.evaluate(() => document.documentElement.dataset.revision), '10001');
    const tail = await panel.page.locator('[data-entry-id=a]').innerText();
    assert.ok(tail.includes(text.trimEnd().split('\n').at(-1)!.replace(/[`*]/g, '').slice(0, 20)));
    assert.ok((await fromEnd()) < 3, 'the end must stay in view');
  });

  it('keeps 500 tool calls with diffs, and any number of messages, within a bounded number of elements', async () => {
    await open({ items: [message('u', 'user', 'go')], session: RUNNING });
    const lines = Array.from({ length: 12 }, (_, line) => (line % 3 ? ` line ${line}` : `+line ${line}`));
    const diff = { ...DIFF, hunks: [{ oldStart: 1, newStart: 1, lines }] };
    const put = (index: number): Op => ({
      op: 'put',
      index,
      item: tool(`c${index}`, { title: `Edit file ${index}`, toolKind: 'edit', content: [{ type: 'diff', diff }] }),
    });
    await panel.update(...Array.from({ length: 500 }, (_, index) => put(index + 1)));
    assert.ok((await panel.elements()) <= MOST_ELEMENTS);
    assert.ok((await fromEnd()) < 3);
    await panel.page.locator('[data-entry-id=c500]').waitFor();
    await panel.update(
      ...Array.from(
        { length: 1_000 },
        (_, index): Op => ({ op: 'put', index: 501 + index, item: message(`m${index}`, 'agent', 'Short **answer**.') }),
      ),
    );
    assert.ok((await panel.elements()) <= MOST_ELEMENTS);
    await scrollTo(50_000);
    await panel.page.locator('[data-kind=tool]').first().waitFor();
    assert.ok((await panel.elements()) <= MOST_ELEMENTS);
  });

  it('keeps drawn entries at the end for a while after they leave it, in each turn', async () => {
    await open({ items: [], session: RUNNING });
    for (let turn = 0; turn < 40; turn++) {
      const index = turn * 3;
      await panel.update({ op: 'put', index, item: message(`u${turn}`, 'user', 'go on') });
      await panel.update({ op: 'put', index: index + 1, item: message(`a${turn}`, 'agent', '') });
      for (const part of MARKDOWN.match(/[\s\S]{1,400}/g) ?? [])
        await panel.update({ op: 'append', index: index + 1, text: part, until: 0 });
      await panel.update({ op: 'put', index: index + 2, item: message(`e${turn}`, 'agent', 'Done.') });
    }
    await panel.page.waitForFunction(() => {
      const { top } = document.querySelector('.transcript')!.getBoundingClientRect();
      const drawn = [...document.querySelectorAll('.page')].filter((page) => page.childElementCount > 0);
      return drawn.every((page) => page.getBoundingClientRect().bottom > top - 1000);
    });
  });

  it('has as many elements with 100,000 entries as with 10,000, even after jumping between the ends', async () => {
    const newest = Array.from({ length: 60 }, (_, index) => message(`m${index}`, 'agent', 'Short **answer**.'));
    // Runs in the page: answers its requests like the host until entries are visible in the middle.
    const jump = (): Promise<readonly number[]> =>
      panel.page.evaluate(async () => {
        const box = document.querySelector('.transcript')!;
        const { top, bottom } = box.getBoundingClientRect();
        const middle = (top + bottom) / 2;
        const shows = (): boolean =>
          [...box.querySelectorAll('.entry')].some((entry) => {
            const rect = entry.getBoundingClientRect();
            return rect.top < middle + 60 && rect.bottom > middle - 60;
          });
        const counts: number[] = [];
        let answered = 0;
        for (const part of [0.9, 0.2, 0.5, 0.7, 0.1, 0.3, 0.97]) {
          box.scrollTop = box.scrollHeight * part;
          do {
            await new Promise(requestAnimationFrame);
            for (const asked of host.posted.slice(answered)) {
              if (asked.type !== 'page') continue;
              const items = Array.from({ length: asked.to - asked.from }, (_, at) => ({
                kind: 'agent' as const,
                id: `n${asked.from + at}`,
                at: 0,
                duration: 0,
                content: [{ type: 'text' as const, text: 'Short.' }],
              }));
              host.send({ type: 'page', revision: 1, from: asked.from, items });
            }
            answered = host.posted.length;
          } while (!shows());
          counts.push(document.querySelectorAll('*').length);
        }
        return counts;
      });
    const count = async (total: number): Promise<readonly number[]> => {
      await open({ items: newest, from: total - newest.length, total });
      return [await panel.elements(), ...(await jump())];
    };
    await open({ items: newest });
    const few = await panel.elements();
    const many = Math.max(...(await count(10_000)));
    const most = Math.max(...(await count(100_000)));
    assert.ok(few < 1_000 && many < 1_500, `${few} and ${many} elements`);
    assert.ok(most <= 2_000, `${most} elements with 100,000 entries`);
  });

  it('requests earlier items when they come near, and shows them', async () => {
    const all = Array.from({ length: 400 }, (_, index) =>
      message(`m${index}`, 'agent', `Message ${index}\n\n${MARKDOWN}`),
    );
    await open({ items: all.slice(350), from: 350, total: 400 });
    const before = await panel.count();
    await panel.page.locator('.transcript').focus();
    await panel.page.keyboard.press('Home');
    const { from, to } = await panel.next('page', before);
    assert.equal(from, 0);
    await panel.send({ type: 'page', revision: panel.revision, from, items: all.slice(from, to) });
    const first = panel.page.locator('[data-entry-id=m0]');
    await first.waitFor();
    assert.match(await first.innerText(), /Message 0/);
    // It was reached by keyboard, so keyboard navigation continues there.
    await panel.page.waitForFunction(() => document.activeElement?.getAttribute('data-entry-id') === 'm0');
    await panel.page.keyboard.press('ArrowDown');
    await panel.page.waitForFunction(() => document.activeElement?.getAttribute('data-entry-id') === 'm1');
  });

  it('counts operations on items that are not loaded', async () => {
    await open({ items: [message('last', 'agent', 'last')], from: 999, total: 1000, session: RUNNING });
    await panel.update(
      append(3, 'lost'),
      { op: 'put', index: 5, item: message('x', 'agent', 'x') },
      { op: 'terminal', terminalId: 'nobody', text: 'x', drop: 0 },
      { op: 'put', index: 1000, item: message('new', 'agent', 'new') },
    );
    await panel.page.locator('[data-entry-id=new]').waitFor();
    assert.equal(await panel.page.locator('[data-entry-id=x]').count(), 0);
  });

  it('evicts items that are far away and requests them again', async () => {
    const put = (index: number): Op => ({ op: 'put', index, item: message(`m${index}`, 'agent', `Message ${index}`) });
    await open({ items: [message('m0', 'agent', 'Message 0')] });
    await panel.update(...Array.from({ length: 4_000 }, (_, index) => put(index + 1)));
    await panel.page.locator('.transcript').focus();
    const before = await panel.count();
    await panel.page.keyboard.press('Home');
    const { from, to } = await panel.next('page', before);
    assert.equal(from, 0);
    const items = Array.from({ length: to - from }, (_, index) =>
      message(`m${index}`, 'agent', `Message ${index} again`),
    );
    await panel.send({ type: 'page', revision: panel.revision, from, items });
    await panel.page.getByText('Message 0 again').waitFor();
  });

  it('skips operations that a loaded page already contains', async () => {
    await open({ items: [message('b', 'agent', 'b')], from: 1, total: 2, height: 900 });
    const { from } = await panel.next('page');
    await panel.send({ type: 'page', revision: 9, from, items: [message('a', 'agent', 'one two')] });
    await panel.page.getByText('one two').waitFor();
    await panel.update(append(0, ' two'));
    assert.equal(await panel.page.locator('[data-entry-id=a]').innerText(), 'one two');
  });

  it('rebuilds everything from a snapshot', async () => {
    await open({ items: [message('old', 'agent', 'old')] });
    await panel.snapshot({ items: [message('new', 'agent', 'new')] });
    await panel.page.locator('[data-entry-id=new]').waitFor();
    assert.equal(await panel.page.locator('[data-entry-id=old]').count(), 0);
  });

  it('draws another session before acknowledging it, even if the user had scrolled up before', async () => {
    const of = (name: string): ItemView[] =>
      Array.from({ length: 60 }, (_, index) => message(`${name}${index}`, 'agent', MARKDOWN));
    await open({ items: of('old') });
    await scrollTo(0);
    const isDrawn = panel.page.evaluate(async (revision) => {
      await host.acked(revision);
      return document.querySelector('[data-entry-id=new59]') !== null;
    }, panel.revision + 1);
    await panel.snapshot({ items: of('new'), session: { key: 'another' } });
    assert.ok(await isDrawn);
    assert.ok((await fromEnd()) < 3);
  });

  it('moves between entries by keyboard and expands one', async () => {
    const items: ItemView[] = [
      message('u', 'user', 'go'),
      message('t', 'thought', 'hm'),
      message('a', 'agent', 'done'),
    ];
    await open({ items });
    await panel.page.locator('.transcript').focus();
    await panel.page.keyboard.press('ArrowDown');
    await panel.page.keyboard.press('ArrowDown');
    assert.equal(await panel.page.evaluate(() => document.activeElement?.getAttribute('data-entry-id')), 't');
    await panel.page.keyboard.press('Enter');
    await panel.page.locator('[data-entry-id=t] .blocks').waitFor();
    await panel.page.keyboard.press('End');
    await panel.page.waitForFunction(() => document.activeElement?.getAttribute('data-entry-id') === 'a');
  });

  it('moves between user messages by keyboard', async () => {
    const messageAt = (index: number) => message(`m${index}`, index % 10 === 0 ? 'user' : 'agent', `Words ${index}`);
    const { page } = await open({ items: Array.from({ length: 64 }, (_, index) => messageAt(index)) });
    const at = (id: string) =>
      page.waitForFunction((entryId) => document.activeElement?.matches(`[data-entry-id=${entryId}]`), id);
    await page.locator('[data-entry-id=m63]').focus();
    for (const id of ['m60', 'm50', 'm40']) {
      await page.keyboard.press('Alt+ArrowUp');
      await at(id);
    }
    await page.keyboard.press('Alt+ArrowDown');
    await at('m50');
  });

  it('moves between user messages by command, wherever the focus is', async () => {
    const messageAt = (index: number) => message(`m${index}`, index % 10 === 0 ? 'user' : 'agent', `Words ${index}`);
    const { page } = await open({ items: Array.from({ length: 64 }, (_, index) => messageAt(index)) });
    for (const [on, id] of [
      ['previousPrompt', 'm60'],
      ['previousPrompt', 'm50'],
      ['nextPrompt', 'm60'],
    ] as const) {
      await panel.send({ type: 'focus', on });
      await page.waitForFunction((entryId) => document.activeElement?.matches(`[data-entry-id=${entryId}]`), id);
    }
  });

  it('links to a question that is out of view', async () => {
    const filler = Array.from({ length: 60 }, (_, index) => message(`m${index}`, 'agent', MARKDOWN));
    const asked = tool('c', { title: 'rm -rf build', toolKind: 'execute', status: 'pending' });
    await open({ items: [asked, ...filler], session: { ...RUNNING, permissions: [permission(0)] } });
    await panel.page.getByRole('button', { name: 'Needs you', exact: true }).click();
    await panel.page.getByRole('group', { name: /^Permission:/ }).waitFor();
    await panel.page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'group');
    await panel.page.getByRole('button', { name: 'Needs you', exact: true }).waitFor({ state: 'detached' });
  });

  it('scrolls to the position requested by the host', async () => {
    const items = Array.from({ length: 200 }, (_, index) => message(`m${index}`, 'agent', `Message ${index}`));
    await open({ items });
    await panel.send({ type: 'reveal', index: 20 });
    await panel.page.waitForFunction(() => document.activeElement?.getAttribute('data-entry-id') === 'm20');
  });
});
