// What breaks in the webview is told to the host, which logs it; a person would never look into this console.
import { postOfPage } from './host';

/** At most this many are reported, so that a fault in each frame does not become a flood. */
const MOST = 50;
let reported = 0;

/** Reports uncaught errors and everything that the content policy stopped. */
export function watchProblems(): void {
  window.addEventListener('error', (event) => report('error', describe(event.error ?? event.message)));
  window.addEventListener('unhandledrejection', (event) => report('error', describe(event.reason)));
  document.addEventListener('securitypolicyviolation', (event) => {
    report(
      'csp',
      `${event.effectiveDirective} stopped ${event.blockedURI} ${event.sourceFile ?? ''}:${event.lineNumber}`,
    );
  });
}

/** Reports an error that was caught. It takes the way of one that was not, so that it is in the browser's console too. */
export function reportError(error: unknown): void {
  globalThis.reportError(error);
}

function report(kind: 'error' | 'csp', text: string): void {
  if (reported++ < MOST) postOfPage({ type: 'problem', kind, text: text.slice(0, 4000) });
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
