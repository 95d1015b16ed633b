// Gives webviews a separate renderer process, as they have on the desktop. The web workbench
// serves them from its own host, and then everything that the workbench does would count as the
// webview's.
import type { WindowOptions } from '../support/vscode/openWindow';

const DOMAIN = 'bench.test';

/**
 * Options for a window whose workbench and webviews are different sites, all of them this machine.
 * @param port the server's
 */
export function isolated(port: number): WindowOptions {
  const host = `workbench.${DOMAIN}`;
  return {
    host,
    // The figure is what users wait for.
    wholeBrowser: true,
    flags: [
      `--host-resolver-rules=MAP *.${DOMAIN} 127.0.0.1`,
      `--unsafely-treat-insecure-origin-as-secure=*.${DOMAIN}`,
      `--isolate-origins=http://${host}:${port}`,
    ],
    // The workbench's own policy allows webviews from its host only.
    bypassContentPolicy: true,
    inEachDocument: `if (self === top) (${moveWebviews.toString()})(${JSON.stringify(`http://{{uuid}}.${DOMAIN}:${port}`)});`,
  };
}

/** What of the page's world this function uses. */
interface Page {
  readonly location: { readonly href: string };
  readonly document: { querySelector(selector: string): { dataset: Record<string, string> } | null };
  readonly MutationObserver: new (
    heard: () => void,
  ) => { observe(node: unknown, options: { childList: true; subtree: true }): void; disconnect(): void };
}

/** Runs in the page, before the workbench reads where its webviews come from. */
function moveWebviews(origin: string): void {
  const { document, location, MutationObserver } = globalThis as unknown as Page;
  const observer = new MutationObserver(() => {
    const meta = document.querySelector('#vscode-workbench-web-configuration');
    if (!meta) return;
    observer.disconnect();
    const settings = JSON.parse(meta.dataset.settings ?? '{}') as { webviewEndpoint: string };
    settings.webviewEndpoint = `${origin}${new URL(settings.webviewEndpoint, location.href).pathname}/`;
    meta.dataset.settings = JSON.stringify(settings);
  });
  observer.observe(document, { childList: true, subtree: true });
}
