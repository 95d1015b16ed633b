// A window of VS Code in a headless Chromium: one profile each, with everything that was printed or
// that a content policy stopped.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { findChromium } from './findChromium';
import { isNoise } from './noise';
import { screenshotFolder } from './repository';
import type { Server } from './startServer';

export type Theme = 'dark' | 'light' | 'highContrast' | 'highContrastLight';

export interface WindowOptions {
  readonly folder?: string;
  readonly payload?: readonly (readonly [string, string])[];
  readonly theme?: Theme;
  readonly viewport?: { readonly width: number; readonly height: number };
  /** As the operating system would say it to the page. */
  readonly reducedMotion?: boolean;
  readonly expose?: Readonly<Record<string, (...args: unknown[]) => unknown>>;
  /** Further Chromium flags, for measurements. */
  readonly flags?: readonly string[];
  readonly host?: string;
  /** True: no content policy holds, also none of ours. For measurements. */
  readonly bypassContentPolicy?: boolean;
  readonly inEachDocument?: string;
  readonly wholeBrowser?: boolean;
  readonly headed?: boolean;
  readonly say?: (line: string) => void;
}

export interface Problem {
  readonly kind: 'csp' | 'error';
  readonly url: string;
  readonly text: string;
}

export interface Window {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly problems: readonly Problem[];
  readonly log: readonly string[];
  readonly close: () => Promise<void>;
}

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Colours and fonts must not depend on the machine.
  '--force-color-profile=srgb',
  '--font-render-hinting=none',
];

/** Playwright's list of features to disable, as Chromium obeys only the last list it gets. */
const DISABLED_FEATURES = [
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'TcpPortRandomizationWin',
  'ThirdPartyStoragePartitioning',
  // Chromium would compile a script that it fetches in the background each time, also one whose
  // compiled code is cached: more than a second of processor time for the 19 MB of VS Code.
  'BackgroundResourceFetch',
];

const SHELL_FLAGS = [`--disable-features=${DISABLED_FEATURES}`, '--js-flags=--no-maglev --no-opt'];

export const themes: Readonly<Record<Theme, string>> = {
  dark: 'Default Dark Modern',
  light: 'Default Light Modern',
  highContrast: 'Default High Contrast',
  highContrastLight: 'Default High Contrast Light',
};

const POLICY = /Content Security Policy|Trusted(Script|HTML|ScriptURL)|violates the following/i;
/**
 * The chat's script stands in its page, so the frames of a stack have no address; those of VS Code
 * have.
 */
const OUR_SCRIPT = /webview|<anonymous>:\d+:\d+/;
const OTHER_EXTENSION = /[?&]extensionId=(?!parley\.)/;
const CLOSED_WHILE_LOADING =
  /^Error: Found unexpected null\n(?:\s+at [^\n]*\/webview\/browser\/pre\/index\.html[^\n]*\n?)+$/;
const OWN_PAGE = /^https?:\/\/[^/]+\/(\?|$)|\/workbench\.(js|html)/;

/** A Chromium with a new profile. */
export interface Browser {
  readonly context: BrowserContext;
  readonly close: () => Promise<void>;
}

export async function startBrowser(options: WindowOptions = {}): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'parley-browser-'));
  const isWhole = options.wholeBrowser || options.headed;
  // A profile and not an incognito window: that would refuse the service worker of the webviews.
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: findChromium(options.say ?? (() => {}), isWhole ? 'browser' : 'shell'),
    args: [...FLAGS, ...(isWhole ? [] : SHELL_FLAGS), ...(options.flags ?? [])],
    headless: !options.headed,
    viewport: options.viewport ?? { width: 1280, height: 860 },
    reducedMotion: options.reducedMotion ? 'reduce' : 'no-preference',
    colorScheme: options.theme === 'light' || options.theme === 'highContrastLight' ? 'light' : 'dark',
    permissions: ['clipboard-read', 'clipboard-write'],
    bypassCSP: options.bypassContentPolicy ?? false,
    // Handled by the caller that starts the window: both ends would close it twice.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
  const removeProfile = (): void => rmSync(profile, { recursive: true, force: true, maxRetries: 3 });
  process.once('exit', removeProfile);
  return {
    context,
    close: async () => {
      await context.close();
      process.off('exit', removeProfile);
      removeProfile();
    },
  };
}

/**
 * Opens the server's workbench in a new browser and waits until it is restored.
 * @throws Error with the browser's console if the workbench does not come up within a minute
 */
export async function openWindow(server: Server, options: WindowOptions = {}): Promise<Window> {
  const browser = await startBrowser(options);
  return openIn(browser, server, options, browser.close).catch(async (error: unknown) => {
    await browser.close();
    throw error;
  });
}

/**
 * Opens the server's workbench in the first page of a browser and waits until it is restored.
 * @throws Error as `openWindow`
 */
export async function openIn(
  { context }: Browser,
  server: Server,
  options: WindowOptions,
  close?: () => Promise<void>,
): Promise<Window> {
  if (options.theme !== undefined) server.configure({ 'workbench.colorTheme': themes[options.theme] });
  const problems: Problem[] = [];
  const log: string[] = [];
  const watch = (page: Page): void => watchForProblems(page, (problem) => problems.push(problem), log);
  for (const page of context.pages()) watch(page);
  context.on('page', watch);
  try {
    const page = context.pages()[0] ?? (await context.newPage());
    for (const [name, run] of Object.entries(options.expose ?? {})) {
      await page.exposeFunction(name, run);
    }
    if (options.inEachDocument !== undefined) await context.addInitScript({ content: options.inEachDocument });
    await page.goto(address(server, options));
    await page.locator('.monaco-workbench .part.statusbar').waitFor({ timeout: 60_000 });
    await page.evaluate('window.driver?.whenWorkbenchRestored?.()');
    const leave = async (): Promise<void> => {
      context.off('page', watch);
      await leavePages(context);
    };
    return { page, context, problems, log, close: close ?? leave };
  } catch (error) {
    const report = `${log.slice(-40).join('\n')}\n${server.output().slice(-4000)}`;
    throw new Error(`VS Code did not open:\n${report}`, { cause: error });
  }
}

/**
 * Leaves the pages as a person does, so that VS Code hears of it, and closes all but the first.
 * That one stays,
 * empty: in its process, the next window finds the code of VS Code compiled.
 */
async function leavePages(context: BrowserContext): Promise<void> {
  const [first, ...others] = context.pages();
  for (const page of others) {
    await page.goto('about:blank');
    await page.close();
  }
  await first?.goto('about:blank');
  for (const event of ['console', 'pageerror']) first?.removeAllListeners(event);
}

function address(server: Server, options: WindowOptions): string {
  const url = new URL(server.url);
  if (options.host !== undefined) url.hostname = options.host;
  if (options.folder !== undefined) url.searchParams.set('folder', options.folder);
  if (options.payload !== undefined) url.searchParams.set('payload', JSON.stringify(options.payload));
  return url.toString();
}

/**
 * Chromium writes each violation of a content policy and each uncaught error to the console, with
 * the document where it happened; a listener inside would be lost when VS Code writes our document
 * into its frame. What VS Code's own page does is not ours to judge.
 */
function watchForProblems(page: Page, note: (problem: Problem) => void, log: string[]): void {
  page.on('console', (message) => {
    const { url } = message.location();
    const text = message.text();
    if (isNoise(text)) return;
    log.push(`${message.type()} ${text} ${url}`.slice(0, 1000));
    if (message.type() === 'error' && POLICY.test(text) && !OWN_PAGE.test(url)) note({ kind: 'csp', url, text });
  });
  page.on('pageerror', (error) => {
    const text = String(error.stack ?? error);
    log.push(`pageerror ${text}`.slice(0, 2000));
    if (CLOSED_WHILE_LOADING.test(text)) return;
    if (OUR_SCRIPT.test(text) && !OTHER_EXTENSION.test(text)) note({ kind: 'error', url: '', text });
  });
}

export async function screenshot(page: Page, name: string): Promise<string> {
  mkdirSync(screenshotFolder, { recursive: true });
  const path = join(screenshotFolder, `${name}.png`);
  await page.screenshot({ path, animations: 'disabled' });
  return path;
}
