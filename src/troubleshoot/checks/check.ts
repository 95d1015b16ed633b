// A check: one thing that can keep an agent from working.

/** Outcome of a check. */
export type Outcome = 'ok' | 'warning' | 'problem' | 'unchecked';

/** Action that a finding offers; carried out by the workbench. */
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

/** Result of a check. Its texts may contain text of agents and programs. */
export interface Finding {
  readonly outcome: Outcome;
  /** One sentence. */
  readonly found: string;
  /** What to do, in one or two sentences. */
  readonly advice?: string | undefined;
  readonly action?: CheckAction | undefined;
  /** Facts for the report, each a name and a value. */
  readonly facts?: readonly (readonly [name: string, value: string])[] | undefined;
}

export interface Check {
  /** Stable, in kebab-case. */
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
