// Texts of the client's own entries in a transcript (session/events/ownText.ts).

import * as l10n from '@vscode/l10n';
import { type LocalizableText, localize } from '../../base/localizable';
import { own } from '../../base/untrusted';
import type { OwnCode, OwnText, OwnTexts, TurnNote } from '../../session/events/ownText';
import type { GapEntry, NoticeEntry } from '../../session/model/state';
import { gapSentence, isGapReason } from '../ports/resources';

export interface NoticeTexts {
  readonly title: string;
  readonly text?: string;
  readonly action?: string;
}

type Texts = { readonly [Code in OwnCode]: (...args: OwnTexts[Code]) => string | NoticeTexts };

const TEXTS: Texts = {
  'new-session': (agent) => ({
    title: l10n.t('New session'),
    text: l10n.t('{0} started a new session. The transcript is sent with the first message in it.', agent),
  }),
  'forked-session': () => ({
    title: l10n.t('Forked session'),
    text: l10n.t("The messages above come from the original session. The messages below aren't part of it."),
  }),
  'forked-at': () => ({
    title: l10n.t('Forked session'),
    text: l10n.t('The agent knows the messages above. No transcript is sent.'),
  }),
  'joined-session': () => ({
    title: l10n.t('Joined a live session'),
    text: l10n.t("The agent already has the session open. Messages from before aren't shown."),
  }),
  'mcp-unavailable': () => l10n.t('Some MCP servers are unavailable'),
  'agent-awaits': () => ({
    title: l10n.t('The agent is waiting for you'),
    text: l10n.t('Your next message is the answer. Stop withdraws the question.'),
  }),
  'agent-awaits-answer': () => l10n.t('The agent is waiting for an answer.'),
  'question-withdrawn': () => l10n.t('The question was withdrawn'),
  'command-refused': (agent) => l10n.t('{0} rejected the command', agent),
  'agent-not-added': () => l10n.t("Couldn't add the agent"),
  'not-stopped': () => l10n.t("Couldn't stop the task"),
  'still-running': (agent) => ({
    title: l10n.t('A command of the stopped turn is still running'),
    text: l10n.t('{0} runs the command itself. Restarting the agent ends it.', agent),
    action: l10n.t('Restart agent'),
  }),
  'mode-not-changed': () => l10n.t("Couldn't change the mode"),
  'option-not-changed': () => l10n.t("Couldn't change the option"),
  'file-not-opened': () => l10n.t("Couldn't open the file"),
  'changes-not-opened': () => l10n.t("Couldn't open the changes"),
  'changes-not-kept': () => l10n.t("Couldn't keep the changes"),
  'changes-not-undone': () => l10n.t("Couldn't undo the changes"),
  'changes-not-redone': () => l10n.t("Couldn't redo the changes"),
  'files-restored': (files, ...leftAlone) => ({
    title: files === 1 ? l10n.t('Restored 1 file') : l10n.t('Restored {0} files', files),
    text: leftAlone.length > 0 ? `${l10n.t('These files are left as they are:')}\n${leftAlone.join('\n')}` : undefined,
    action: l10n.t('Undo restore'),
  }),
  'edited-from': (...commands) => ({
    title: l10n.t('Continued from an earlier message'),
    text:
      commands.length > 0 ? `${l10n.t('Commands that ran since are not undone:')}\n${commands.join('\n')}` : undefined,
    action: l10n.t('Show session'),
  }),
  'restore-undone': (files) => ({
    title: files === 1 ? l10n.t('Undid the restore of 1 file') : l10n.t('Undid the restore of {0} files', files),
    action: l10n.t('Undo restore'),
  }),
  'in-worktree': (branch) => ({
    title: l10n.t('This session works in a worktree, on the branch {0}', branch),
    text: l10n.t('Your folder stays as it is until you apply the changes of this session.'),
  }),
  'files-not-restored': () => l10n.t("Couldn't restore the files"),
  'new-problems': (count) => ({
    title: count === 1 ? l10n.t('1 new problem') : l10n.t('{0} new problems', count),
    action: l10n.t('Fix'),
  }),
  'output-not-opened': () => l10n.t("Couldn't open the output"),
  'file-not-saved': () => l10n.t("Couldn't save the file"),
  'message-not-loaded': () => l10n.t("Couldn't load the message"),
  'link-not-opened': () => l10n.t("Couldn't open the link"),
  'page-not-opened': () => l10n.t("Couldn't open the page"),
  'session-not-opened': () => l10n.t("Couldn't open the session"),
  'branch-not-opened': () => l10n.t("Couldn't open the other fork"),
  'message-not-resent': () => l10n.t("Couldn't resend the message"),
  'form-answered': () => l10n.t('Answered by you:'),
  'page-done': () => l10n.t('Completed in the browser:'),
  'asked-withdrawn': () => l10n.t('Question withdrawn:'),
  'asked-lost': () => l10n.t('Question lost when the agent exited:'),
  'asked-closed': () => l10n.t('Question closed at the end of the turn:'),
  'asked-declined': () => l10n.t('Declined by you:'),
  'asked-dismissed': () => l10n.t('Dismissed by you:'),
  'compaction-in_progress': () => l10n.t('Compacting the conversation'),
  'compaction-completed': () => l10n.t('Conversation compacted'),
  'compaction-failed': () => l10n.t('Compaction failed'),
  'compaction-cancelled': () => l10n.t('Compaction canceled'),
  'compaction-other': (status) => l10n.t('Compaction: {0}', status),
  'session-moved': (agent, origin, count) => ({
    title: l10n.t('The session moved to {0} at {1}', agent, origin),
    text: l10n.t('{0} will be sent along with your next one.', messages(count)),
  }),
  'opened-from': openedFrom,
  'imported-from': (file, agent) => ({
    title: l10n.t('Imported from {0}', file),
    text: agent === '' ? '' : l10n.t('The messages below are from a session with {0}.', agent),
  }),
  'opened-end': openedEnd,
  'continued-from': (agent, count) => ({
    title: l10n.t('Continued from {0}, {1}', agent, messages(count)),
    action: l10n.t('Show session'),
  }),
  'continued-with': (agent) => ({
    title: l10n.t('Continued with {0}', agent),
    text: l10n.t('Messages you send here from now on form a fork.'),
    action: l10n.t('Show session'),
  }),
  'other-branch': (agent, common) => ({
    title: l10n.t('This session has another fork'),
    text: l10n.t('It continues differently with {0} after {1}. Both forks are kept.', agent, messages(common)),
    action: l10n.t('Show other fork'),
  }),
  'branch-of': (agent, common, count) => ({
    title: l10n.t('Another fork of the session with {0}', agent),
    text: l10n.t('The forks share the first {0} of {1}. They continue independently.', common, messages(count)),
    action: l10n.t('Show session'),
  }),
  'same-session': (agent, more) => ({
    title: l10n.t('This session is also open with {0}', agent),
    text:
      more > 0
        ? l10n.t('The other one has {0} more.', messages(more))
        : l10n.t('The other one has {0} fewer.', messages(-more)),
    action: l10n.t('Show session'),
  }),
  'server-took-over': (count) =>
    l10n.t('The agent server had {0} more for this session. The chat continues from there.', messages(count)),
  'agent-still-works': () => ({
    title: l10n.t('The agent is still working on your previous message.'),
    text: l10n.t("Your message is sent when the agent is done. Stop ends the agent's work."),
  }),
  'server-forgot': (origin, count) => ({
    title: l10n.t('The agent server at {0} no longer has this session.', origin),
    text: l10n.t('{0} will be sent again.', messages(count)),
  }),
  'server-answered-without': (origin, count) => ({
    title: l10n.t('The agent server at {0} responded without the earlier {1}.', origin, messages(count)),
    text: l10n.t('It no longer had them. They will be sent again with your next message.'),
  }),
  'server-branch': (origin, common, theirs) => ({
    title: l10n.t('The agent server at {0} has another fork of this session. Both are kept.', origin),
    text: l10n.t(
      'The forks share {0}. The other one continues with {1}. This chat continues from the messages shown here.',
      messages(common),
      messages(theirs),
    ),
    action: l10n.t('Show other fork'),
  }),
  'others-recorded': (count) => ({
    title: l10n.t('Another client added {0} to this session.', messages(count)),
    text: l10n.t("The server didn't keep your last message and its answer. They will be sent with your next message."),
  }),
  'not-comparable': () => l10n.t("The session can't be compared with the agent server's copy."),
  'left-out': (count) => ({
    title:
      count === 1
        ? l10n.t("The oldest message that isn't on a server can't be sent along.")
        : l10n.t("The {0} oldest messages that aren't on a server can't be sent along.", count),
    text: l10n.t('Together, the messages exceed the maximum request size.'),
  }),
  'state-stays': (origin) => ({
    title: l10n.t("The agent server at {0} can't read this session's state.", origin),
    text: l10n.t('The state stays on this machine. The agent continues without it.'),
  }),
  'server-not-stopped': () => l10n.t("Couldn't stop the run on the agent server."),
  'parts-not-shown': (parts) =>
    parts === 1
      ? l10n.t("1 more part of this message isn't shown.")
      : l10n.t("{0} more parts of this message aren't shown.", parts),
  'turn-cancelled': () => l10n.t('The turn was canceled.'),
  'turn-ended-early': (reason) => l10n.t('The turn ended early ({0}).', reason),
  'events-lost': (count) => ({
    title: l10n.t("Part of this session wasn't saved"),
    text: l10n.t('There was no room on disk or in memory. Missing events: {0}', count),
  }),
  'event-not-kept': (type, characters) => ({
    title: l10n.t("Part of this session wasn't saved"),
    text:
      characters === 0
        ? l10n.t("An event of type {0} can't be written as JSON.", type)
        : l10n.t('An event of type {0} is too large ({1} characters).', type, characters),
  }),
  loading: () => l10n.t('Loading…'),
  'history-loading': () => l10n.t('Loading this message…'),
  'history-stopped': () => l10n.t('This message is missing because loading was stopped.'),
  'empty-message': () => l10n.t('Empty message'),
  'message-missing': (number, reason, host) =>
    sentences(l10n.t('Message {0} is missing.', number), ...whyMissing(reason, host)),
  'message-loading': (number, host) =>
    host === '' ? l10n.t('Loading message {0}…', number) : l10n.t('Loading message {0} from {1}…', number, host),
  'part-unloaded': (name, host) => l10n.t('{0} is stored on {1}.', name, serverName(host)),
  'part-loading': (name, host) => l10n.t('Loading {0} from {1}…', name, serverName(host)),
  'part-missing': (name, reason, host) => {
    const what = name === '' ? l10n.t('Part of this message is missing.') : l10n.t('{0} is missing.', name);
    return sentences(what, ...whyMissing(reason, host));
  },
};

function openedFrom(...[count, hosts, ...origins]: OwnTexts['opened-from']): NoticeTexts {
  const [first] = origins;
  const title =
    first === undefined
      ? l10n.t('Opened an empty session')
      : hosts === 1
        ? l10n.t('Opened from {0}', first)
        : hosts === 2
          ? l10n.t('Opened from {0} and 1 more server', first)
          : l10n.t('Opened from {0} and {1} more servers', first, hosts - 1);
  if (hosts < 2) return { title, text: messages(count) };
  const named = origins.flatMap((host, at) =>
    at % 2 === 0 ? [l10n.t('{0} from {1}', origins[at + 1] ?? 0, host)] : [],
  );
  const others = hosts - named.length;
  if (others > 0) named.push(others === 1 ? l10n.t('1 more server') : l10n.t('{0} more servers', others));
  return { title, text: `${messages(count)}: ${named.join(', ')}` };
}

function openedEnd(...[agent, missing, state, knows]: OwnTexts['opened-end']): NoticeTexts {
  const pastText = knows
    ? l10n.t('{0} gets the session with your next message.', agent)
    : l10n.t('{0} starts a new session. The transcript will be sent with your next message.', agent);
  const leftBehind = l10n.t("Running tool calls and queued messages aren't transferred.");
  const keptText =
    state === 'other'
      ? [l10n.t("The session contains another agent's state, which {0} can't replace.", agent)]
      : state === 'missing'
        ? [l10n.t("The agent's saved state can't be loaded. Its address is kept.")]
        : [];
  return {
    title:
      missing === 0
        ? l10n.t('{0} continues from here', agent)
        : missing === 1
          ? l10n.t("1 message couldn't be loaded")
          : l10n.t("{0} messages couldn't be loaded", missing),
    text: sentences(pastText, leftBehind, ...keptText),
  };
}

function whyMissing(reason: string, host: string): readonly string[] {
  const why = isGapReason(reason) ? [gapSentence(reason, host)] : [];
  return reason === 'unauthorized' ? [...why, l10n.t('Select Retry to enter it.')] : why;
}

function messages(count: number): string {
  return count === 1 ? l10n.t('1 message') : l10n.t('{0} messages', count);
}

function serverName(host: string): string {
  return host === '' ? l10n.t('a server') : host;
}

function sentences(...parts: readonly string[]): string {
  return parts.join(' ');
}

/** Unknown codes of newer versions are shown as they are. */
function textsOf({ code, args }: OwnText): NoticeTexts {
  const make = own(TEXTS, code) as ((...args: readonly unknown[]) => string | NoticeTexts) | undefined;
  const made = make?.(...args) ?? String(code);
  return typeof made === 'string' ? { title: made } : made;
}

/** Stored texts are shown as they are. */
export function noticeTexts({ said, title, text, action }: NoticeEntry): {
  readonly title: string;
  readonly text: string;
  readonly action?: { readonly id: string; readonly label: string };
} {
  const words = said && textsOf(said);
  const label = words?.action ?? action?.label;
  return {
    title: words?.title ?? title,
    text: [localize(text), words?.text].filter(Boolean).join('\n'),
    action: action && label !== undefined ? { id: action.id, label } : undefined,
  };
}

export function gapText({ said, text }: GapEntry): string {
  return said ? textsOf(said).title : text;
}

const TURN_NOTES: Readonly<Record<TurnNote, () => string>> = {
  'window-ended': () => l10n.t('the window was closed or reloaded'),
  'in-other-window': () => l10n.t('it continues in another window'),
  'awaits-answer': () => l10n.t('waiting for your answer'),
  'barrier-missed': () => l10n.t("the agent didn't send turn_complete"),
  'session-closed': () => l10n.t('the session was closed'),
  'session-opened': () => l10n.t('another session was opened'),
  'recording-ended': () => l10n.t('the recording ends here'),
  'agent-restarted': () => l10n.t('the agent was restarted'),
  'taken-over': () => l10n.t('another window took over the session'),
  'agent-idle': () => l10n.t('the agent was idle'),
  'signed-in': () => l10n.t('you signed in'),
  'signed-out': () => l10n.t('you signed out'),
};

export function turnNoteText(note: LocalizableText): string {
  return (typeof note === 'string' ? own(TURN_NOTES, note)?.() : undefined) ?? localize(note);
}
