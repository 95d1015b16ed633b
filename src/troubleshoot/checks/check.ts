// A check: one thing that can keep an agent from working.

/** What came of a check. */
export type Outcome = 'ok' | 'warning' | 'problem' | 'unchecked';

/** What a finding offers to do; the workbench does it. */
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

/** What a check found. Texts may contain words of agents and programs. */
export interface Finding {
  readonly outcome: Outcome;
  /** One sentence. */
  readonly found: string;
  /** What to do, in one or two sentences. */
  readonly advice?: string | undefined;
  readonly action?: CheckAction | undefined;
  /** Facts for whoever reads the report, each a name and a value. */
  readonly facts?: readonly (readonly [name: string, value: string])[] | undefined;
}

export interface Check {
  /** Stable, in kebab-case. */
  readonly id: string;
  readonly title: string;
  /** How long it may take, in milliseconds. */
  readonly limitMs: number;
  /** @param signal aborted when the check is given up; what it has started must end then */
  run(signal: AbortSignal): Promise<Finding>;
}

export interface CheckResult extends Finding {
  readonly id: string;
  readonly title: string;
  /** How long it took, in milliseconds. */
  readonly ms: number;
}
