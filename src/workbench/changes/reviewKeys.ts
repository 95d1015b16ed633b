// Context keys for the `when` clauses of the review and worktree commands.

export interface ReviewKeys {
  readonly hasWaitingChanges: boolean;
  readonly waitingFiles: readonly string[];
  readonly changedFiles: readonly string[];
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
