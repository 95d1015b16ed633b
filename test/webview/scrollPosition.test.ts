// The scroll position stays with the visible content, and is restored.
import assert from 'node:assert/strict';
import { type Anchor, CONTRACT_VERSION, type ItemView, type Op } from '../../src/panel/contract';
import { type Panel, type PanelOptions, SESSION } from './harness/browser';
import { MARKDOWN, message } from './harness/samples';
import { RUNNING } from './harness/useChrome';
import { useHarness } from './harness/useHarness';

describe('the scroll position', () => {
  const browser = useHarness();
  let panel: Panel;

  async function open(options: PanelOptions): Promise<void> {
    panel = await browser.open({ width: 700, height: 700, ...options });
    await drawn();
  }

  async function drawn(): Promise<void> {
    await panel.page.waitForFunction(() => {
      const { top, bottom } = document.querySelector('.transcript')!.getBoundingClientRect();
      return [...document.querySelectorAll('.page, .segment')].every((box) => {
        const rect = box.getBoundingClientRect();
        return box.childElementCount > 0 || rect.height === 0 || rect.bottom < top - 500 || rect.top > bottom + 500;
      });
    });
    await panel.page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
  }

  const scrollTo = (top: number): Promise<void> => panel.scrollTo(top);

  async function fromEnd(): Promise<number> {
    await drawn();
    return panel.page.evaluate(() => {
      const { scrollHeight, scrollTop, clientHeight } = document.querySelector('.transcript')!;
      return scrollHeight - scrollTop - clientHeight;
    });
  }

  /** Returns a visible block and its position; a whole one, as highlighting changes content. */
  const visibleBlock = (): Promise<readonly [string, number]> =>
    panel.page.evaluate(() => {
      const box = document.querySelector('.transcript')!.getBoundingClientRect();
      const hit = document.elementFromPoint(box.left + 60, box.top + 200)!;
      const node = hit.closest('.segment > *') ?? hit;
      const entry = node.closest('[data-entry-id]')?.getAttribute('data-entry-id');
      // Buttons depend on the pointer.
      const text = node.cloneNode(true) as Element;
      for (const button of text.querySelectorAll('button')) button.remove();
      return [`${entry}: ${text.textContent}`, Math.round(node.getBoundingClientRect().top)] as const;
    });

  async function storedAnchor(): Promise<Anchor> {
    const anchor = await panel.page.waitForFunction(() => (host.state() as { anchor?: Anchor }).anchor);
    return (await anchor.jsonValue())!;
  }

  /** Another session of 60 entries with a stored position. */
  const another = (anchor: Anchor) =>
    ({
      type: 'snapshot',
      version: CONTRACT_VERSION,
      revision: 5,
      session: { ...SESSION, key: 's2' },
      total: 60,
      from: 0,
      items: long(60),
      draft: { text: '', revision: 0 },
      anchor,
    }) as const;

  /** Returns how far the top of an entry is above the top edge, px. */
  const offsetOf = (index: number): Promise<number> =>
    panel.page.evaluate((at) => {
      const { top } = document.querySelector('.transcript')!.getBoundingClientRect();
      return top - document.querySelector(`[data-index="${at}"]`)!.getBoundingClientRect().top;
    }, index);

  async function assertAt({ index, offset }: Anchor): Promise<void> {
    const is = await offsetOf(index);
    assert.ok(Math.abs(is - offset) <= 1, `${is} instead of ${offset} px of the entry are above the edge`);
  }

  /** Reloads the panel and waits for the restored position, which must not change any more. */
  async function reload(items: readonly ItemView[], { index, offset }: Anchor): Promise<void> {
    await panel.page.reload();
    await panel.next('hello');
    await panel.snapshot({ items });
    await panel.page.waitForFunction(
      ([at, above]) => {
        const entry = document.querySelector(`[data-index="${at}"]`)?.getBoundingClientRect();
        const top = document.querySelector('.transcript')?.getBoundingClientRect().top;
        return entry && top !== undefined && Math.abs(top - entry.top - above) <= 1;
      },
      [index, offset] as const,
    );
    await drawn();
    await assertAt({ index, offset });
  }

  /** Returns the visible headings and their positions. */
  const headings = (): Promise<readonly { readonly text: string | null; readonly top: number }[]> =>
    panel.page.evaluate(() => {
      const { top, bottom } = document.querySelector('.transcript')!.getBoundingClientRect();
      const all = [...document.querySelectorAll('.segment > .h2')].map((node) => ({
        text: node.textContent,
        top: node.getBoundingClientRect().top,
      }));
      return all.filter(
        (heading) => heading.text?.startsWith('Part') && heading.top > top - 200 && heading.top < bottom + 200,
      );
    });

  const append = (index: number, text: string): Op => ({ op: 'append', index, text, until: 0 });
  const long = (count: number): ItemView[] =>
    Array.from({ length: count }, (_, index) => message(`m${index}`, 'agent', `Message ${index}\n\n${MARKDOWN}`));

  it('follows the end when content shrinks, and stays when the user scrolls up during streaming', async () => {
    await open({
      items: Array.from({ length: 40 }, (_, index) => message(`m${index}`, 'agent', MARKDOWN)),
      session: RUNNING,
    });
    /**
     * Between two frames, content above shrinks, the browser updates the position, and more text
     * arrives.
     */
    const shrinkAndGrow = (): Promise<void> =>
      panel.page.evaluate(
        () =>
          new Promise<void>((resolve) => {
            const box = document.querySelector<HTMLElement>('.transcript')!;
            const first = document.querySelector<HTMLElement>('.page')!;
            const orphans = document.querySelector<HTMLElement>('.orphans')!;
            first.style.height = '2000px';
            requestAnimationFrame(() =>
              setTimeout(() => {
                first.style.height = '1800px';
                box.getBoundingClientRect();
                void box.scrollTop;
                orphans.style.height = '150px';
                requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
              }),
            );
          }),
      );
    await shrinkAndGrow();
    assert.ok((await fromEnd()) < 3, `${await fromEnd()} px from the end`);
    // Scrolling by mouse wheel is intended.
    await panel.page.locator('.transcript').hover();
    await panel.page.mouse.wheel(0, -300);
    await panel.page.locator('.jump').waitFor();
    assert.ok((await fromEnd()) > 100);
  });

  it('snaps to the end when the user scrolls close to it', async () => {
    await open({ items: long(20) });
    const end = await panel.page.evaluate(() => document.querySelector('.transcript')!.scrollTop);
    await scrollTo(end - 200);
    await scrollTo(end - 12);
    await panel.page.locator('.jump').waitFor({ state: 'hidden' });
    assert.ok((await fromEnd()) < 1, `${await fromEnd()} px from the end`);
  });

  it('changes without scrolling the page around the conversation', async () => {
    await open({ items: long(60) });
    // VS Code's frame is a few pixels higher than its content.
    await panel.page.evaluate(() => {
      const { documentElement, body } = document;
      documentElement.style.overflow = 'hidden';
      body.style.paddingBottom = '5px';
      body.style.boxSizing = 'content-box';
    });
    const anchor = { index: 30, offset: 33 };
    await panel.send(another(anchor));
    await panel.page.locator('[data-index="30"]').waitFor();
    await drawn();
    await assertAt(anchor);
    assert.equal(await panel.page.evaluate(() => scrollY), 0);
  });

  it('stays while the answer grows below, and the button scrolls to the end', async () => {
    await open({ items: [...long(40), message('a', 'agent', 'Start.')], session: RUNNING });
    await panel.page.locator('.transcript').hover();
    await panel.page.mouse.wheel(0, -900);
    const jump = panel.page.getByRole('button', { name: 'Jump to latest' });
    await jump.waitFor();
    await drawn();
    const before = await visibleBlock();
    for (let count = 0; count < 20; count++) await panel.update(append(40, `\n\nParagraph ${count} of the answer.`));
    assert.deepEqual(await visibleBlock(), before);
    await jump.click();
    await panel.page.getByText('Paragraph 19 of the answer.').waitFor();
    assert.ok((await fromEnd()) < 3);
    await panel.update(append(40, '\n\nAnd one more.'));
    assert.ok((await fromEnd()) < 3, 'after the jump the end is followed again');
  });

  it('changes only with the keys, across pages that were never drawn', async () => {
    // Of various lengths, so that the estimated heights are wrong.
    const items = Array.from({ length: 600 }, (_, index) =>
      message(`m${index}`, index % 5 ? 'agent' : 'user', `Short **answer** ${index}. `.repeat(1 + ((index * 37) % 19))),
    );
    await open({ items });
    const moves = await panel.page.evaluate(async () => {
      const box = document.querySelector('.transcript')!;
      const { left, top, bottom } = box.getBoundingClientRect();
      const painted = (): Promise<void> =>
        new Promise((resolve) => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => resolve();
          requestAnimationFrame(() => port2.postMessage(0));
        });
      const found: string[] = [];
      for (let page = 0; page < 40; page++) {
        box.scrollTop -= bottom - top - 40;
        const marks = [];
        for (let y = top + 10; y < bottom; y += 30) {
          const node = document.elementFromPoint(left + 60, y)!;
          if (node.matches('p, .said, strong')) marks.push({ node, at: node.getBoundingClientRect().top });
        }
        for (let frame = 0; frame < 4; frame++) {
          await painted();
          for (const { node, at } of marks) {
            const by = node.getBoundingClientRect().top - at;
            if (node.isConnected && Math.abs(by) > 1) found.push(`page ${page}: ${node.textContent} by ${by}`);
          }
        }
      }
      return found;
    });
    assert.deepEqual(moves, []);
  });

  it('is restored after a reload', async () => {
    const items = long(60);
    await open({ items });
    await scrollTo(3_000);
    const anchor = await storedAnchor();
    await assertAt(anchor);
    await reload(items, anchor);
  });

  it('is restored within a message that is too long to be drawn in one frame', async () => {
    const parts = Array.from({ length: 60 }, (_, index) => `## Part ${index}\n\n${MARKDOWN}`);
    const items = [...long(8), message('whole', 'agent', parts.join('\n\n')), ...long(8)];
    await open({ items });
    const top = await panel.page.evaluate(() => document.querySelector<HTMLElement>('[data-index="8"]')!.offsetTop);
    await scrollTo(top + 12_345);
    const anchor = await storedAnchor();
    assert.equal(anchor.index, 8);
    const before = await headings();
    assert.ok(before.length > 0);
    await reload(items, anchor);
    const after = await headings();
    for (const { text, top } of before) {
      const again = after.find((heading) => heading.text === text);
      assert.ok(again && Math.abs(again.top - top) <= 1, `${text} was at ${top} and is at ${again?.top}`);
    }
  });

  it('is restored if the conversation arrives before the layout', async () => {
    await open({ items: [] });
    await panel.page.evaluate(
      async (snapshot) => {
        const frame = document.querySelector('.transcript-frame')!;
        const parent = frame.parentElement!;
        frame.remove();
        host.send(snapshot);
        await host.acked(5);
        parent.append(frame);
      },
      another({ index: 20, offset: 33 }),
    );
    await panel.page.locator('[data-index="20"]').waitFor();
    await drawn();
    await assertAt({ index: 20, offset: 33 });
  });

  it('is not restored if the user scrolls before the first paint', async () => {
    await open({ items: [] });
    await panel.page.evaluate(() => {
      const frame = document.querySelector('.transcript-frame')!;
      Object.assign(globalThis, { frame, back: frame.parentElement });
      frame.remove();
    });
    await panel.snapshot({ items: long(60) });
    await panel.page.evaluate(() => {
      const { back, frame } = globalThis as unknown as { back: Element; frame: Element };
      back.append(frame);
      document.querySelector('.transcript')!.scrollTop = 3_000;
    });
    await panel.page.getByRole('button', { name: 'Jump to latest' }).waitFor();
    await drawn();
    assert.ok((await fromEnd()) > 1_000);
  });

  it('is unchanged when the host shows the same session again', async () => {
    const items = long(60);
    await open({ items });
    await scrollTo(3_000);
    const anchor = await storedAnchor();
    await panel.snapshot({ items: [...items, message('new', 'agent', 'More.')] });
    await drawn();
    await assertAt(anchor);
  });

  it("follows the user's scrolling while it is being restored", async () => {
    const all = long(200);
    await open({ items: all.slice(150), from: 150, total: 200 });
    const before = await panel.count();
    await panel.send({ type: 'reveal', index: 20 });
    const { from, to } = await panel.next('page', before);
    await scrollTo(60);
    const anchored = panel.page.evaluate(() => document.querySelector('.transcript')!.scrollTop);
    await panel.send({ type: 'page', revision: panel.revision, from, items: all.slice(from, to) });
    await panel.page.locator('[data-index]').first().waitFor();
    assert.ok((await anchored) <= 60);
    assert.equal(
      await panel.page.evaluate(() => document.activeElement?.getAttribute('data-entry-id') ?? null),
      null,
      'and the focus is not taken there',
    );
  });
});
