// Answers of the user that hold until they are removed.

export interface RememberedAnswer {
  /** Unique among those of one kind. */
  readonly id: string;
  readonly isAllowed: boolean;
  /** What was asked about; absent for answers of earlier versions. */
  readonly subject?: string;
  /** Times in ms since 1970; absent where they are not known. */
  readonly answeredAt?: number;
  readonly usedAt?: number;
}

/** Answers of one kind. */
export interface RememberedAnswers {
  list(): readonly RememberedAnswer[];
  /** Removes one answer: the next time it matters, the user is asked again. */
  remove(id: string): Promise<void>;
}

/** A use is noted only where the last one was noted longer ago than this, in ms. */
const USE_MS = 60_000;

/** Returns whether a use is to be noted. */
export function isNewUse(usedAt: number | undefined, now: number): boolean {
  return usedAt === undefined || Math.abs(now - usedAt) >= USE_MS;
}

/** The context keys of the commands that forget, where there is nothing to forget. */
export const NO_ANSWERS = { hasSecrets: false, hasApprovals: false };
