// Runs checks in parallel, each with a time limit. A failing check does not affect others.
import * as l10n from '@vscode/l10n';
import { messageOf } from '../base/errors';
import type { Check, CheckResult, Finding } from './checks/check';

/** Never rejects. @param signal checks that it cancels count as not checked */
export function runChecks(
  checks: readonly Check[],
  signal: AbortSignal,
  onResult: (result: CheckResult) => void = () => {},
): Promise<readonly CheckResult[]> {
  return Promise.all(
    checks.map(async (check) => {
      const began = performance.now();
      const finding = await findingOf(check, signal);
      const { id, title } = check;
      const result = { id, title, ...finding, ms: Math.round(performance.now() - began) };
      onResult(result);
      return result;
    }),
  );
}

async function findingOf({ limitMs, run }: Check, signal: AbortSignal): Promise<Finding> {
  if (signal.aborted) return unchecked(l10n.t('Canceled.'));
  const stop = new AbortController();
  const { promise: interrupted, resolve: settle } = Promise.withResolvers<Finding>();
  const cancel = (): void => {
    settle(unchecked(l10n.t('Canceled.')));
    stop.abort();
  };
  const timer = setTimeout(() => {
    settle(unchecked(l10n.t('This check took longer than {0} s.', Math.ceil(limitMs / 1000))));
    stop.abort();
  }, limitMs);
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await Promise.race([run(stop.signal), interrupted]);
  } catch (error) {
    return unchecked(l10n.t('The check failed: {0}', messageOf(error)));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
  }
}

function unchecked(found: string): Finding {
  return { outcome: 'unchecked', found };
}
