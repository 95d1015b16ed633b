// A check: one thing that can keep an agent from working.

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
  /** Time limit in milliseconds. */
  readonly limitMs: number;
  /** @param signal aborted when the check is cancelled; it must then end what it has started */
  run(signal: AbortSignal): Promise<Finding>;
}

export interface CheckResult extends Finding {
  readonly id: string;
  readonly title: string;
  /** Duration in milliseconds. */
  readonly ms: number;
}

export function check(id: string, title: string, limitMs: number, run: Check['run']): Check {
  return { id, title, limitMs, run };
}
