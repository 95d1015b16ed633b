// Texts of the client in a transcript, stored as a code with arguments. client/view/ownTexts.ts
// turns them into words, in the user's language.

/** The arguments of each code. Texts in them are names, hosts and other codes, never sentences. */
export interface OwnTexts {
  // The session and its agent.
  readonly 'new-session': readonly [agent: string];
  readonly 'forked-session': readonly [];
  readonly 'forked-at': readonly [];
  readonly 'joined-session': readonly [];
  readonly 'mcp-unavailable': readonly [];
  readonly 'agent-awaits': readonly [];
  readonly 'agent-awaits-answer': readonly [];
  readonly 'question-withdrawn': readonly [];
  readonly 'command-refused': readonly [agent: string];
  // What the user asked for and did not get; the reason is the notice's description.
  readonly 'not-stopped': readonly [];
  /** A command of a turn that the user stopped. */
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
  /** Then the commands that ran since, which are not undone, if the files are restored. */
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
  // Questions of the agent, and what came of them.
  readonly 'form-answered': readonly [];
  readonly 'page-done': readonly [];
  readonly 'asked-withdrawn': readonly [];
  readonly 'asked-lost': readonly [];
  readonly 'asked-closed': readonly [];
  readonly 'asked-declined': readonly [];
  readonly 'asked-dismissed': readonly [];
  // Compactions; another status than these is the agent's own word.
  readonly 'compaction-in_progress': readonly [];
  readonly 'compaction-completed': readonly [];
  readonly 'compaction-failed': readonly [];
  readonly 'compaction-cancelled': readonly [];
  readonly 'compaction-other': readonly [status: string];
  // Sessions that go from one agent or machine to another.
  readonly 'session-moved': readonly [agent: string, origin: string, messages: number];
  /** Then the hosts that most messages come from, each with its number of messages. */
  readonly 'opened-from': readonly [messages: number, hosts: number, ...origins: readonly (string | number)[]];
  readonly 'imported-from': readonly [file: string, agent: string];
  readonly 'opened-end': readonly [agent: string, missing: number, state: string, knows: 0 | 1];
  readonly 'continued-from': readonly [agent: string, messages: number];
  readonly 'continued-with': readonly [agent: string];
  readonly 'other-branch': readonly [agent: string, common: number];
  readonly 'branch-of': readonly [agent: string, common: number, messages: number];
  /** How many messages the other has more; negative: how many it lacks. */
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
  // A message of the past.
  readonly 'parts-not-shown': readonly [parts: number];
  readonly 'turn-cancelled': readonly [];
  readonly 'turn-ended-early': readonly [reason: string];
  // What could not be kept.
  readonly 'events-lost': readonly [events: number];
  readonly 'event-not-kept': readonly [type: string, characters: number];
  // Gaps: what is not there (yet). `reason` is a `GapReason`.
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

/** The button of `new-problems`. */
export const FIX_PROBLEMS = 'fixProblems';

export type OwnCode = keyof OwnTexts;

/** A code whose words need nothing else. */
export type PlainCode = { readonly [Code in OwnCode]: OwnTexts[Code] extends readonly [] ? Code : never }[OwnCode];

/** One of these, as it is kept. */
export type OwnText = {
  readonly [Code in OwnCode]: { readonly code: Code; readonly args: OwnTexts[Code] };
}[OwnCode];

/** Why a turn ended as it did, where its stop reason does not say: a code, as it is kept. */
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

/** Returns a text of the client's own. @param args what the words of the code need */
export function ownText<Code extends OwnCode>(code: Code, ...args: OwnTexts[Code]): OwnText {
  return { code, args } as OwnText;
}
