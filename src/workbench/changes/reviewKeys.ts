// Context keys for the `when` clauses of the commands for review and worktrees.

/** What waits for review in this window, as VS Code's `setContext` gets it. */
export interface ReviewKeys {
  readonly hasWaitingChanges: boolean;
  /** Absolute paths. */
  readonly waitingFiles: readonly string[];
  /** Those, and files that were kept or undone. */
  readonly changedFiles: readonly string[];
  /** The active editor is the comparison of everything that waits. */
  readonly isReviewActive: boolean;
}

/** The keys while nothing waits. */
export const NO_REVIEW: ReviewKeys = {
  hasWaitingChanges: false,
  waitingFiles: [],
  changedFiles: [],
  isReviewActive: false,
};

/** The keys where no session works in a worktree, in whichever window. */
export const NO_WORKTREES = { hasWorktrees: false };

/** The keys without comments of the user on what agents did. */
export const NO_COMMENTS = { hasComments: false };
