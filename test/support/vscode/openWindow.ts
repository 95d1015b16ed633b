// A window of VS Code in a headless Chromium: one profile each, with everything that was printed or that a content policy stopped.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { findChromium } from './findChromium';
import { screenshotFolder } from './repository';
import type { Server } from './startServer';

export type Theme = 'dark' | 'light' | 'highContrast' | 'highContrastLight';

export interface WindowOptions {
  /** Another folder than the server's own. */
  readonly folder?: string;
  /** Pairs that the web workbench takes in its address, such as `extensionTestsPath`. */
  readonly payload?: readonly (readonly [string, string])[];
  readonly theme?: Theme;
  readonly viewport?: { readonly width: number; readonly height: number };
  /** As the operating system would say it to the page. */
  readonly reducedMotion?: boolean;
  /** Functions that the page can call by name. They are there before the first script runs. */
  readonly expose?: Readonly<Record<string, (...args: unknown[]) => unknown>>;
  /** Further Chromium flags, for measurements. */
  readonly flags?: readonly string[];
  /** A window for a person to look at. */
  readonly headed?: boolean;
  readonly say?: (line: string) => void;
}

/** Something that the content policy of a document stopped, or a script that broke. */
export interface Problem {
  readonly kind: 'csp' | 'error';
  readonly url: string;
  readonly text: string;
}

export interface Window {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What went wrong in webviews, from the first moment on. */
  readonly problems: readonly Problem[];
  /** All that was written to the console, for a failure report. */
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

const THEMES: Readonly<Record<Theme, string>> = {
  dark: 'Default Dark Modern',
  light: 'Default Light Modern',
  highContrast: 'Default High Contrast',
  highContrastLight: 'Default High Contrast Light',
};

/** Runs first in every document. Text, as it belongs to the browser and not to this program. */
const IN_PAGE = `
document.addEventListener('securitypolicyviolation', (event) => {
  const { effectiveDirective, blockedURI, sample, sourceFile, lineNumber } = event;
  parleyProblem('csp', effectiveDirective + ': ' + blockedURI + ' ' + sample + ' (' + sourceFile + ':' + lineNumber + ')');
});
window.addEventListener('error', (event) => parleyProblem('error', String(event.message)));
window.addEventListener('unhandledrejection', (event) => parleyProblem('error', String(event.reason)));
`;

/** Problems of all windows of this process: the end-to-end run ends with a look at them. */
export const allProblems: Problem[] = [];

/**
 * Opens the server's workbench and waits until it is restored.
 * @throws Error with the browser's console where the workbench does not come up within a minute
 */
export async function openWindow(server: Server, options: WindowOptions = {}): Promise<Window> {
  if (options.theme !== undefined) server.configure({ 'workbench.colorTheme': THEMES[options.theme] });
  const profile = mkdtempSync(join(tmpdir(), 'parley-browser-'));
  const problems: Problem[] = [];
  const log: string[] = [];
  // A profile and not an incognito window: that would refuse the service worker of the webviews.
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: findChromium(options.say ?? (() => {})),
    args: [...FLAGS, ...(options.flags ?? [])],
    headless: !options.headed,
    viewport: options.viewport ?? { width: 1280, height: 860 },
    reducedMotion: options.reducedMotion ? 'reduce' : 'no-preference',
    colorScheme: options.theme === 'light' || options.theme === 'highContrastLight' ? 'light' : 'dark',
    permissions: ['clipboard-read', 'clipboard-write'],
    // Handled by whoever starts the window: both ends would close it twice.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
  const close = async (): Promise<void> => {
    await context.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    const page = context.pages()[0] ?? (await context.newPage());
    const note = (problem: Problem): void => {
      problems.push(problem);
      allProblems.push(problem);
    };
    await watchForProblems(context, page, note, log);
    for (const [name, run] of Object.entries(options.expose ?? {})) {
      await page.exposeFunction(name, run);
    }
    await page.goto(address(server, options));
    await page.locator('.monaco-workbench .part.statusbar').waitFor({ timeout: 60_000 });
    await page.evaluate('window.driver?.whenWorkbenchRestored?.()');
    return { page, context, problems, log, close };
  } catch (error) {
    await close();
    const report = `${log.slice(-40).join('\n')}\n${server.output().slice(-4000)}`;
    throw new Error(`VS Code did not open:\n${report}`, { cause: error });
  }
}

function address(server: Server, options: WindowOptions): string {
  const url = new URL(server.url);
  if (options.folder !== undefined) url.searchParams.set('folder', options.folder);
  if (options.payload !== undefined) url.searchParams.set('payload', JSON.stringify(options.payload));
  return url.toString();
}

/** Listens in every document, webviews too; what VS Code's own page does is not ours to judge. */
async function watchForProblems(
  context: BrowserContext,
  page: Page,
  note: (problem: Problem) => void,
  log: string[],
): Promise<void> {
  const seen = new Set<string>();
  const report = (kind: Problem['kind'], url: string, text: string): void => {
    if (!/\/webview\//.test(url) || seen.has(`${kind} ${text}`)) return;
    seen.add(`${kind} ${text}`);
    note({ kind, url, text });
  };
  await context.exposeBinding('parleyProblem', ({ frame }, kind: Problem['kind'], text: string) =>
    report(kind, frame.url(), text),
  );
  await context.addInitScript({ content: IN_PAGE });
  page.on('console', (message) => {
    const { url } = message.location();
    log.push(`${message.type()} ${message.text()}`.slice(0, 2000));
    if (/content security policy|trusted ?type/i.test(message.text())) report('csp', url, message.text());
  });
  page.on('pageerror', (error) => log.push(`pageerror ${String(error.stack ?? error)}`.slice(0, 2000)));
}

/** Writes `out/screenshots/NAME.png`. @returns its path */
export async function screenshot(page: Page, name: string): Promise<string> {
  mkdirSync(screenshotFolder, { recursive: true });
  const path = join(screenshotFolder, `${name}.png`);
  await page.screenshot({ path, animations: 'disabled' });
  return path;
}
