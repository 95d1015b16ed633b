// A check of one thing that can prevent an agent from working.

export type Outcome = 'ok' | 'warning' | 'problem' | 'unchecked';

export type CheckAction =
  | 'editAgent'
  | 'openProxySettings'
  | 'openHistorySettings'
  | 'addAgent'
  | 'signIn'
  | 'showLog'
  | 'manageTrust'
  | 'getNode'
  | 'getUv'
  | 'getGit';

export interface Finding {
  readonly outcome: Outcome;
  readonly found: string;
  readonly advice?: string | undefined;
  readonly action?: CheckAction | undefined;
  readonly facts?: readonly (readonly [name: string, value: string])[] | undefined;
}

export interface Check {
  readonly id: string;
  readonly title: string;
  /** Time limit, ms. */
  readonly limitMs: number;
  /** @param signal aborted on cancellation; the check must then end what it started */
  run(signal: AbortSignal): Promise<Finding>;
}

export interface CheckResult extends Finding {
  readonly id: string;
  readonly title: string;
  readonly ms: number;
}

export function check(id: string, title: string, limitMs: number, run: Check['run']): Check {
  return { id, title, limitMs, run };
}
