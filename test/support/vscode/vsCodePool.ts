// A VS Code server and a browser that the tests of a process use one after the other, as to start
// both takes longer than most tests. Who takes them finds them as new: another folder, other
// settings, nothing that an earlier test left on the disk or in the browser.
import { type Browser, openIn, startBrowser, type Window, type WindowOptions } from './openWindow';
import { vsixPath } from './repository';
import { type Server, type ServerOptions, startServer } from './startServer';

const POOLED: ReadonlySet<string> = new Set(['settings', 'theme', 'say']);
const THEMES: ReadonlySet<unknown> = new Set([undefined, 'dark', 'highContrast']);

export interface Lease {
  readonly server: Server;
  readonly window: Window;
  readonly end: (isUsable: boolean) => Promise<void>;
}

/** The unused VS Code. */
let idle: { readonly server: Server; readonly browser: Browser } | undefined;

export async function takeVsCode(options: ServerOptions & WindowOptions): Promise<Lease> {
  const isPooled = THEMES.has(options.theme) && Object.keys(options).every((name) => POOLED.has(name));
  const known = isPooled ? await renewed(options.settings) : undefined;
  const server =
    known?.server ?? (await startServer({ ...options, extensions: [vsixPath, ...(options.extensions ?? [])] }));
  const browser = known?.browser ?? (await startBrowser(options));
  if (known) await clearStorage(browser, server);
  const window = await openIn(browser, server, options);
  return {
    server,
    window: isPooled ? window : { ...window, close: browser.close },
    end: async (isUsable) => {
      if (isPooled && isUsable && idle === undefined) {
        await window.close();
        idle = { server, browser };
        return;
      }
      await browser.close();
      await server.stop();
    },
  };
}

/** The unused VS Code, reset; undefined if there is none, or if it waits for a closed window. */
async function renewed(settings: ServerOptions['settings']): Promise<typeof idle> {
  const known = idle;
  idle = undefined;
  if (known === undefined) return undefined;
  try {
    return { server: await known.server.renew(settings), browser: known.browser };
  } catch (error) {
    process.stdout.write(`${error instanceof Error ? error.message : error}: another VS Code is started\n`);
    await known.browser.close();
    await known.server.stop();
    return undefined;
  }
}

/**
 * Clears what VS Code keeps in the browser, but neither its scripts nor what was compiled of them.
 */
async function clearStorage({ context }: Browser, { url }: Server): Promise<void> {
  const page = context.pages()[0] ?? (await context.newPage());
  const session = await context.newCDPSession(page);
  await session.send('Storage.clearDataForOrigin', {
    origin: new URL(url).origin,
    storageTypes: 'cookies,indexeddb,local_storage,service_workers,cache_storage',
  });
  await session.detach();
}
