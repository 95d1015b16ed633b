// The client's own texts in a transcript, stored as a code with arguments. client/view/ownTexts.ts
// translates them for display.

/** Arguments of each code. Strings in them are names, hosts and other codes, never sentences. */
export interface OwnTexts {
  // Session and agent
  readonly 'new-session': readonly [agent: string];
  readonly 'forked-session': readonly [];
  readonly 'forked-at': readonly [];
  readonly 'joined-session': readonly [];
  readonly 'mcp-unavailable': readonly [];
  readonly 'agent-awaits': readonly [];
  readonly 'agent-awaits-answer': readonly [];
  readonly 'question-withdrawn': readonly [];
  readonly 'command-refused': readonly [agent: string];
  // Failed actions of the user; the notice's description has the reason
  readonly 'not-stopped': readonly [];
  readonly 'still-running': readonly [agent: string];
  readonly 'mode-not-changed': readonly [];
  readonly 'option-not-changed': readonly [];
  readonly 'file-not-opened': readonly [];
  readonly 'changes-not-opened': readonly [];
  readonly 'changes-not-kept': readonly [];
  readonly 'changes-not-undone': readonly [];
  readonly 'changes-not-redone': readonly [];
  readonly 'files-not-restored': readonly [];
  /** `leftAlone`: paths of files that were not restored. */
  readonly 'files-restored': readonly [files: number, ...leftAlone: string[]];
  /** Then the commands that ran since, which restoring files does not undo. */
  readonly 'edited-from': readonly [...commands: readonly string[]];
  readonly 'restore-undone': readonly [files: number];
  readonly 'in-worktree': readonly [branch: string];
  /** Errors in files that the turn changed. */
  readonly 'new-problems': readonly [errors: number];
  readonly 'output-not-opened': readonly [];
  readonly 'file-not-saved': readonly [];
  readonly 'message-not-loaded': readonly [];
  readonly 'link-not-opened': readonly [];
  readonly 'page-not-opened': readonly [];
  readonly 'session-not-opened': readonly [];
  readonly 'branch-not-opened': readonly [];
  readonly 'agent-not-added': readonly [];
  readonly 'message-not-resent': readonly [];
  // Answers to the agent's questions
  readonly 'form-answered': readonly [];
  readonly 'page-done': readonly [];
  readonly 'asked-withdrawn': readonly [];
  readonly 'asked-lost': readonly [];
  readonly 'asked-closed': readonly [];
  readonly 'asked-declined': readonly [];
  readonly 'asked-dismissed': readonly [];
  // Compactions; any other status is the agent's own text
  readonly 'compaction-in_progress': readonly [];
  readonly 'compaction-completed': readonly [];
  readonly 'compaction-failed': readonly [];
  readonly 'compaction-cancelled': readonly [];
  readonly 'compaction-other': readonly [status: string];
  // Sessions that move between agents or machines
  readonly 'session-moved': readonly [agent: string, origin: string, messages: number];
  /** Then the hosts of most messages, each with its number of messages. */
  readonly 'opened-from': readonly [messages: number, hosts: number, ...origins: readonly (string | number)[]];
  readonly 'imported-from': readonly [file: string, agent: string];
  readonly 'opened-end': readonly [agent: string, missing: number, state: string, knows: 0 | 1];
  readonly 'continued-from': readonly [agent: string, messages: number];
  readonly 'continued-with': readonly [agent: string];
  readonly 'other-branch': readonly [agent: string, common: number];
  readonly 'branch-of': readonly [agent: string, common: number, messages: number];
  /** How many more messages the other session has; negative if it has fewer. */
  readonly 'same-session': readonly [agent: string, more: number];
  readonly 'server-took-over': readonly [messages: number];
  readonly 'agent-still-works': readonly [];
  readonly 'server-forgot': readonly [origin: string, messages: number];
  readonly 'server-answered-without': readonly [origin: string, messages: number];
  readonly 'server-branch': readonly [origin: string, common: number, theirs: number];
  readonly 'others-recorded': readonly [messages: number];
  readonly 'not-comparable': readonly [];
  readonly 'left-out': readonly [messages: number];
  readonly 'state-stays': readonly [origin: string];
  readonly 'server-not-stopped': readonly [];
  // Imported messages
  readonly 'parts-not-shown': readonly [parts: number];
  readonly 'turn-cancelled': readonly [];
  readonly 'turn-ended-early': readonly [reason: string];
  // Storage problems
  readonly 'events-lost': readonly [events: number];
  readonly 'event-not-kept': readonly [type: string, characters: number];
  // Gaps; `reason` is a `GapReason`
  readonly loading: readonly [];
  readonly 'history-loading': readonly [];
  readonly 'history-stopped': readonly [];
  readonly 'empty-message': readonly [];
  readonly 'message-missing': readonly [number: number, reason: string, host: string];
  readonly 'message-loading': readonly [number: number, host: string];
  readonly 'part-unloaded': readonly [name: string, host: string];
  readonly 'part-loading': readonly [name: string, host: string];
  readonly 'part-missing': readonly [name: string, reason: string, host: string];
}

/** The action that undoes the last restore of files. */
export const UNDO_RESTORE = 'undoRestore';

export const FIX_PROBLEMS = 'fixProblems';

export type OwnCode = keyof OwnTexts;

export type PlainCode = { readonly [Code in OwnCode]: OwnTexts[Code] extends readonly [] ? Code : never }[OwnCode];

export type OwnText = {
  readonly [Code in OwnCode]: { readonly code: Code; readonly args: OwnTexts[Code] };
}[OwnCode];

/** Stored code for why a turn ended, if its stop reason does not say. */
export type TurnNote =
  | 'window-ended'
  | 'in-other-window'
  | 'awaits-answer'
  | 'barrier-missed'
  | 'session-closed'
  | 'session-opened'
  | 'recording-ended'
  | 'agent-restarted'
  | 'taken-over'
  | 'agent-idle'
  | 'signed-in'
  | 'signed-out';

export function ownText<Code extends OwnCode>(code: Code, ...args: OwnTexts[Code]): OwnText {
  return { code, args } as OwnText;
}
