// Answers of the user that are valid until removed.

export interface RememberedAnswer {
  readonly id: string;
  readonly isAllowed: boolean;
  /** Absent in answers of earlier versions. */
  readonly subject?: string;
  /** ms since 1970; absent if unknown. */
  readonly answeredAt?: number;
  readonly usedAt?: number;
}

export interface RememberedAnswers {
  list(): readonly RememberedAnswer[];
  remove(id: string): Promise<void>;
}

const USE_MS = 60_000;

export function isNewUse(usedAt: number | undefined, now: number): boolean {
  return usedAt === undefined || Math.abs(now - usedAt) >= USE_MS;
}
