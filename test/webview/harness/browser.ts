// Chromium with one panel per test, and a fake host that the test controls.
import { type Browser, chromium, type Page, type Request } from 'playwright-core';
import {
  type Begun,
  CONTRACT_VERSION,
  type DraftView,
  type FromWebview,
  type ItemView,
  type Op,
  type PromptHead,
  type SessionView,
  type ToWebview,
} from '../../../src/panel/contract';
import { findChromium } from '../../support/vscode/findChromium';
import { type PanelServer, servePanel, type Theme } from './server';
import type { Language } from './texts';

type Posted = FromWebview | Begun;

interface HostInPage {
  readonly posted: readonly FromWebview[];
  readonly violations: readonly string[];
  state(): unknown;
  send(message: ToWebview): void;
  next(type: string, after?: number): Promise<Posted>;
  acked(revision: number): Promise<void>;
}

declare global {
  var host: HostInPage;
}

export const SESSION: SessionView = {
  key: 's1',
  agentId: 'demo',
  agentName: 'Claude',
  phase: 'ready',
  status: 'ready',
  liveness: 'live',
  stages: [],
  turnCount: 0,
  queue: [],
  permissions: [],
  elicitations: [],
  background: [],
  commands: [],
  modes: [],
  config: [],
  attachments: [],
  canAttachImages: true,
  canAttachAudio: false,
  canAttachFiles: false,
  canFork: false,
  canSteer: false,
  canCheckStatus: false,
};

export interface PanelOptions {
  readonly theme?: Theme;
  readonly language?: Language;
  readonly width?: number;
  readonly height?: number;
  readonly session?: Partial<SessionView>;
  readonly items?: readonly ItemView[];
  readonly total?: number;
  readonly from?: number;
  readonly nested?: readonly (readonly [number, number])[];
  readonly prompt?: PromptHead;
  readonly draft?: string | DraftView;
  /** Leaves `hello` unanswered: the test answers it. */
  readonly silent?: boolean;
}

const WIDTH = 860;
const HEIGHT = 780;

export class Panel {
  readonly page: Page;
  #revision = 0;

  constructor(page: Page) {
    this.page = page;
  }

  get revision(): number {
    return this.#revision;
  }

  send(message: ToWebview): Promise<void> {
    return this.page.evaluate((data) => host.send(data), message);
  }

  /** Applies operations and waits until they are painted. */
  async update(...ops: readonly Op[]): Promise<void> {
    const revision = ++this.#revision;
    await this.send({ type: 'update', revision, ops });
    await this.page.evaluate((wanted) => host.acked(wanted), revision);
  }

  /** Applies one operation per frame; waits until the last one is painted. */
  async stream(ops: readonly Op[]): Promise<void> {
    const first = this.#revision + 1;
    this.#revision += ops.length;
    await this.page.evaluate(
      async ([all, revision]) => {
        for (const [index, op] of all.entries()) {
          host.send({ type: 'update', revision: revision + index, ops: [op] });
          await new Promise(requestAnimationFrame);
        }
        await host.acked(revision + all.length - 1);
      },
      [ops, first] as const,
    );
  }

  async snapshot(options: PanelOptions): Promise<void> {
    const items = options.items ?? [];
    const from = options.from ?? 0;
    await this.send({
      type: 'snapshot',
      version: CONTRACT_VERSION,
      revision: ++this.#revision,
      session: { ...SESSION, ...options.session },
      total: options.total ?? from + items.length,
      from,
      items,
      ...(options.nested && { nested: options.nested }),
      prompt: options.prompt,
      draft:
        typeof options.draft === 'object'
          ? options.draft
          : { text: options.draft ?? '', revision: options.draft ? 1 : 0 },
    });
    await this.page.evaluate((wanted) => host.acked(wanted), this.#revision);
  }

  /** Scrolls the transcript like a user, and waits for the panel to notice. */
  async scrollTo(top: number): Promise<void> {
    await this.page.evaluate(
      (to) =>
        new Promise<void>((resolve) => {
          const box = document.querySelector('.transcript')!;
          const move = (): void => {
            const before = box.scrollTop;
            // Without a gesture, a position change during drawing is not attributed to the user.
            box.dispatchEvent(new WheelEvent('wheel'));
            box.scrollTop = to;
            // If too little is drawn, there is nothing to scroll yet.
            if (box.scrollTop === before) requestAnimationFrame(move);
            else box.addEventListener('scroll', () => requestAnimationFrame(() => resolve()), { once: true });
          };
          move();
        }),
      top,
    );
  }

  async posted<T extends FromWebview['type']>(type: T): Promise<Extract<FromWebview, { type: T }>[]> {
    const all = await this.page.evaluate(() => host.posted);
    return all.filter((message): message is Extract<FromWebview, { type: T }> => message.type === type);
  }

  /** @param after number of messages to skip */
  async next<T extends Posted['type']>(type: T, after = 0): Promise<Extract<Posted, { type: T }>> {
    const message = await this.page.evaluate(([name, skip]) => host.next(name, skip), [type, after] as const);
    return message as Extract<Posted, { type: T }>;
  }

  /** Waits until a card can be answered: its buttons are disabled until then. */
  async answerable(id = 'p1'): Promise<void> {
    const card = this.page.locator(`[data-permission-id="${id}"], [data-elicitation-id="${id}"]`);
    await card.locator('.answers button:not([aria-disabled])').first().waitFor();
  }

  count(): Promise<number> {
    return this.page.evaluate(() => host.posted.length);
  }

  elements(): Promise<number> {
    return this.page.evaluate(() => document.querySelectorAll('*').length);
  }

  /** Returns errors, and violations of the content security policy. */
  async problems(): Promise<readonly string[]> {
    const violations = await this.page.evaluate(() => host.violations);
    return [...violations, ...(await this.posted('problem')).map(({ kind, text }) => `${kind}: ${text}`)];
  }
}

/**
 * Opens a URL; retries if a script did not arrive, as Chromium aborts requests when the machine's
 * network changes, for example when a container starts.
 */
async function load(page: Page, url: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const failures: string[] = [];
    const note = (request: Request): void => {
      if (request.resourceType() !== 'script') return;
      failures.push(`${request.url()}: ${request.failure()?.errorText}`);
    };
    page.on('requestfailed', note);
    await page.goto(url);
    page.off('requestfailed', note);
    if (failures.length === 0) return;
    if (attempt === 3) throw new Error(`scripts of the page didn't load: ${failures.join(', ')}`);
  }
}

export class Harness {
  readonly server: PanelServer;
  readonly #browser: Browser;
  /** Returned pages, which still show the panel of an earlier test. */
  readonly #idle: Page[] = [];

  private constructor(server: PanelServer, browser: Browser) {
    this.server = server;
    this.#browser = browser;
  }

  static async start(): Promise<Harness> {
    const server = await servePanel();
    const browser = await chromium.launch({
      executablePath: findChromium((line) => process.stdout.write(`${line}\n`)),
      args: [
        '--no-sandbox',
        '--disable-gpu',
        // Pages are too short-lived for optimized code to pay off.
        '--js-flags=--no-maglev --no-opt',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        // A full browser always isolates sandboxed frames; a headless shell needs this flag.
        '--site-per-process',
      ],
    });
    return new Harness(server, browser);
  }

  async page(url: string, width = WIDTH, height = HEIGHT): Promise<Page> {
    const page = await this.#browser.newPage({ viewport: { width, height } });
    await load(page, url);
    return page;
  }

  /** Returns a page for reuse: opening a new page takes three times the CPU time of navigating. */
  async giveBack(page: Page): Promise<void> {
    await page.mouse.move(-1, -1);
    this.#idle.push(page);
  }

  async #show(url: string, width = WIDTH, height = HEIGHT): Promise<Page> {
    const page = this.#idle.pop();
    if (page === undefined) return this.page(url, width, height);
    await page.setViewportSize({ width, height });
    await load(page, url);
    return page;
  }

  /** Opens a panel. Close or return its page when done. */
  async open(options: PanelOptions = {}): Promise<Panel> {
    const clear = ['sessionStorage', 'localStorage'] as const;
    const url = this.server.url(options.theme ?? 'dark', options.language ?? 'en', clear);
    const page = await this.#show(url, options.width, options.height);
    const panel = new Panel(page);
    await panel.next('hello');
    if (!options.silent) await panel.snapshot(options);
    return panel;
  }

  async stop(): Promise<void> {
    await this.#browser.close();
    await this.server.close();
  }
}
