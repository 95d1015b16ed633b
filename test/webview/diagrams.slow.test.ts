// Kinds of diagrams, and the frame that draws them: its isolation, and hostile sources.
import assert from 'node:assert/strict';
import type { Frame } from 'playwright-core';
import type { FromFrame, ToFrame } from '../../src/panel/diagramContract';
import { HOSTILE_DIAGRAMS } from '../support/hostile/diagrams';
import type { Panel } from './harness/browser';
import { message } from './harness/samples';
import { useHarness } from './harness/useHarness';

const FLOW = 'flowchart LR\n  A[Read] --> B{Known?}\n  B -- yes --> C[(Store)]\n  B -- no --> D[Ask]';

const KINDS: Readonly<Record<string, string>> = {
  flowchart: FLOW,
  sequence: 'sequenceDiagram\n  Alice->>+Bob: Hello\n  Note right of Bob: thinks\n  Bob-->>-Alice: Hi',
  class: 'classDiagram\n  Animal <|-- Duck\n  class Duck {\n    +String name\n    +quack()\n  }',
  state: 'stateDiagram-v2\n  [*] --> Idle\n  Idle --> Busy : ask\n  Busy --> Idle\n  Busy --> [*]',
  gantt:
    'gantt\n  title Plan\n  dateFormat YYYY-MM-DD\n  section One\n  Read :a1, 2026-01-01, 3d\n  Write :crit, after a1, 2d',
  pie: 'pie title Time\n  "Reading" : 60\n  "Writing" : 40',
  'entity relationship': 'erDiagram\n  USER ||--o{ ORDER : places\n  USER {\n    string name\n  }',
  git: 'gitGraph\n  commit\n  branch work\n  commit\n  checkout main\n  merge work',
  journey: 'journey\n  title Day\n  section Work\n    Read: 5: Me\n    Write: 3: Me, You',
};

/** Runs in the page: orders a diagram from the frame, and shows it as the page does. */
async function orderAndShow(order: ToFrame): Promise<FromFrame & { readonly isShown?: boolean }> {
  const answer = await new Promise<FromFrame>((resolve) => {
    const hear = ({ data }: MessageEvent<FromFrame>): void => {
      if (data.id !== order.id) return;
      window.removeEventListener('message', hear);
      resolve(data);
    };
    window.addEventListener('message', hear);
    document.querySelector('iframe')!.contentWindow!.postMessage(order, '*');
  });
  if (!('svg' in answer)) return answer;
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([answer.svg], { type: 'image/svg+xml' }));
  const isShown = await image.decode().then(
    () => true,
    () => false,
  );
  return { ...answer, isShown };
}

function whatIsAlive(svg: string): readonly string[] {
  // Attribute values are text, except URLs and styles.
  const tags =
    svg.replaceAll(/\s(?!on|href|src|xlink:|style|fill|stroke)[\w:-]+="[^"]*"/gi, '').match(/<[^>]*>/g) ?? [];
  const styles = [...svg.matchAll(/<style[^>]*>([\s\S]*?)<\/style>/g)].map(([, text = '']) => text);
  const isAlive =
    /^<(?:script|foreignObject|iframe|image|img|a|animate|set)\b|\son\w+=|\s(?:xlink:)?href="[^#]|javascript:|https?:|url\((?!["']?#|&quot;#)/i;
  return [
    ...tags.filter((tag) => isAlive.test(tag)),
    ...styles.filter((text) => /@import|url\((?!["']?#)/i.test(text)),
  ];
}

describe('a diagram', () => {
  const browser = useHarness();
  let panel: Panel;
  const image = () => panel.page.locator('.diagram img');
  const draw = async (source: string): Promise<void> => {
    const text = `\`\`\`mermaid\n${source}\n\`\`\`\n`;
    panel = await browser.open({ items: [message('a', 'agent', text)], width: 860 });
    await image().waitFor();
  };
  const frameOf = (): Frame => panel.page.frames()[1] ?? assert.fail('no frame');

  for (const [kind, source] of Object.entries(KINDS))
    it(`of the kind ${kind} is drawn`, async () => {
      await draw(source);
      const size = await image().evaluate(({ naturalWidth, naturalHeight }: HTMLImageElement) => [
        naturalWidth,
        naturalHeight,
      ]);
      assert.ok(
        size.every((length) => length > 50 && length < 3_000),
        String(size),
      );
    });

  it('is zoomed and fitted with keys, the wheel and buttons', async () => {
    await draw(`flowchart TB\n${Array.from({ length: 30 }, (_one, n) => `a${n} --> a${n + 1}`).join('\n')}`);
    const { page } = panel;
    await page.getByRole('button', { name: 'Diagram', exact: true }).click();
    const large = () => page.locator('.diagram-view img');
    const height = (): Promise<number> => large().evaluate((element) => element.getBoundingClientRect().height);
    const fitted = await height();
    const view = page.locator('.diagram-view');
    assert.ok(fitted <= (await view.evaluate(({ clientHeight }) => clientHeight)));
    await view.focus();
    await page.keyboard.press('+');
    const larger = await height();
    assert.ok(Math.abs(larger / fitted - 1.25) < 0.02);
    await page.keyboard.press('-');
    assert.ok(Math.abs((await height()) - fitted) < 1);
    await page.keyboard.press('1');
    await page.getByText('100%').waitFor();
    const scrolled = await view.evaluate((element) => element.scrollTop);
    await page.keyboard.press('ArrowDown');
    await page.waitForFunction((before) => document.querySelector('.diagram-view')!.scrollTop > before, scrolled);
    await view.hover();
    await page.mouse.down();
    await page.mouse.move(100, 100);
    await page.mouse.up();
    await page.keyboard.press('0');
    assert.ok(Math.abs((await height()) - fitted) < 1);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -100);
    await page.keyboard.up('Control');
    await page.waitForFunction(
      (before) => document.querySelector('.diagram-view img')!.getBoundingClientRect().height > before * 1.2,
      fitted,
    );
    await page.getByRole('button', { name: 'Show All (0)' }).click();
    await page.setViewportSize({ width: 500, height: 400 });
    await page.waitForFunction(
      () =>
        document.querySelector('.diagram-view img')!.getBoundingClientRect().height <=
        document.querySelector('.diagram-view')!.clientHeight,
    );
  });

  it('is drawn by a frame without access to anything', async () => {
    await draw(FLOW);
    const frame = frameOf();
    const found = await frame.evaluate(async () => {
      const attempt = async (run: () => unknown): Promise<string> => {
        try {
          return String(await run());
        } catch (error) {
          return (error as Error).name;
        }
      };
      return {
        origin: globalThis.origin,
        parent: await attempt(() => window.parent.document),
        storage: await attempt(() => localStorage),
        cookie: await attempt(() => document.cookie),
        fetch: await attempt(() => fetch('https://evil.invalid')),
        own: await attempt(() => fetch(new URL('/main.css', document.baseURI))),
        api: typeof (globalThis as { acquireVsCodeApi?: unknown }).acquireVsCodeApi,
        open: await attempt(() => window.open('https://evil.invalid')),
        script: await attempt(() => {
          const script = document.createElement('script');
          script.textContent = 'globalThis.ran = true';
          document.head.append(script);
          return 'ran' in globalThis;
        }),
      };
    });
    assert.deepEqual(found, {
      origin: 'null',
      parent: 'SecurityError',
      storage: 'SecurityError',
      cookie: 'SecurityError',
      fetch: 'TypeError',
      own: 'TypeError',
      api: 'undefined',
      open: 'null',
      script: 'false',
    });
  });

  it('does not change when the frame sends unexpected messages', async () => {
    await draw(FLOW);
    const before = await image().getAttribute('src');
    await frameOf().evaluate(() => {
      for (const message of [
        { type: 'snapshot', library: 'globalThis.pwned = 1', source: 'x' },
        { id: 1, svg: '<svg onload="pwned=1"/>', width: 10, height: 10, label: 'x' },
        { id: 2, svg: 7, width: Number.NaN, height: -1, label: {} },
        { type: 'hello' },
        null,
        'x',
      ])
        window.parent.postMessage(message, '*');
    });
    await panel.page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 50)));
    assert.equal(await image().getAttribute('src'), before);
    assert.equal(await panel.page.locator('[data-entry-id]').count(), 1);
  });

  it('is aborted if drawing takes too long, and the next one is drawn', async () => {
    await draw(FLOW);
    const { page } = panel;
    await page.evaluate(() => {
      const { setTimeout: later } = window;
      let impatient = 1;
      window.setTimeout = ((run: () => void, ms: number) =>
        later(run, ms === 10_000 && impatient-- > 0 ? 500 : ms)) as typeof setTimeout;
    });
    await frameOf().evaluate(() => {
      (globalThis as unknown as { mermaid: object }).mermaid = { initialize() {}, render: () => new Promise(() => {}) };
    });
    const text = `\n\`\`\`mermaid\n${KINDS.pie}\n\`\`\`\n\nand\n\n\`\`\`mermaid\n${KINDS.state}\n\`\`\`\n`;
    await panel.update({ op: 'append', index: 0, text, until: 0 });
    await page.getByText('Diagram not drawn: Drawing took too long.').waitFor();
    await image().nth(1).waitFor();
  });

  it('from a hostile source is drawn or refused, and runs and fetches nothing', async function () {
    this.timeout(180_000);
    await draw(FLOW);
    const { page } = panel;
    const hostile = Object.entries(HOSTILE_DIAGRAMS);
    assert.ok(hostile.length >= 50);
    const drawn: string[] = [];
    for (const [index, [what, source]] of hostile.entries()) {
      const order: ToFrame = {
        id: 100 + index,
        source,
        library: undefined,
        background: '#1e1e1e',
        fontFamily: 'sans-serif',
        theme: {},
      };
      const answer = await page.evaluate(orderAndShow, order);
      if ('svg' in answer) {
        drawn.push(what);
        assert.equal(answer.isShown, true, `${what}: the picture is invalid`);
        assert.deepEqual(whatIsAlive(answer.svg), [], what);
      } else assert.notEqual(answer.error, '', what);
      for (const frame of page.frames())
        assert.equal(await frame.evaluate(() => 'pwned' in globalThis || 'pwned' in {}), false, what);
    }
    // Most are refused or harmless; if none were drawn, nothing would have been tested.
    assert.ok(drawn.length > 40, `${drawn.length} of ${hostile.length}`);
  });
});
