// Context keys for the `when` clauses of the commands for review and worktrees.

export interface ReviewKeys {
  readonly hasWaitingChanges: boolean;
  readonly waitingFiles: readonly string[];
  readonly changedFiles: readonly string[];
  /** The active editor is the comparison of everything that waits. */
  readonly isReviewActive: boolean;
}

export const NO_REVIEW: ReviewKeys = {
  hasWaitingChanges: false,
  waitingFiles: [],
  changedFiles: [],
  isReviewActive: false,
};

export const NO_WORKTREES = { hasWorktrees: false };

export const NO_COMMENTS = { hasComments: false };
