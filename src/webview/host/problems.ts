// Reports errors of the webview to the host, which logs them.
import type { PageMessage } from '../../panel/contract';

type Problem = Extract<PageMessage, { type: 'problem' }>;

/** Maximum number of reports: an error can recur in every frame. */
const MAX_REPORTS = 50;
let reported = 0;

export function watchProblems(post: (problem: Problem) => void): void {
  const report = (kind: Problem['kind'], text: string): void => {
    if (reported++ < MAX_REPORTS) post({ type: 'problem', kind, text: text.slice(0, 4000) });
  };
  window.addEventListener('error', (event) => {
    // Harmless: the sizes are reported in the next frame.
    if (event.message.startsWith('ResizeObserver loop')) return;
    report('error', describe(event.error ?? event.message));
  });
  window.addEventListener('unhandledrejection', (event) => report('error', describe(event.reason)));
  document.addEventListener('securitypolicyviolation', (event) => {
    report(
      'csp',
      `${event.effectiveDirective} stopped ${event.blockedURI} ${event.sourceFile ?? ''}:${event.lineNumber}`,
    );
  });
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
