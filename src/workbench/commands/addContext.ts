// Commands that add files, selections, problems and terminal output to the next message.
import { l10n, type Terminal, type TestItem, type TestMessage, Uri, window, workspace } from 'vscode';
import * as z from 'zod/mini';
import { plainOutput } from '../../base/ansi';
import { ParleyError } from '../../base/errors';
import type { QueuedAttachment } from '../../session/queue/queue';
import { fileAttachment, linesAttachment, selectionAttachment } from '../chat/attachments';
import { ChatHome } from '../chat/chatHome';
import type { ChatSurface } from '../chat/chatSurface';
import { TerminalCommands } from '../chat/terminalCommands';
import type { Workbench } from '../core/workbench';
import { Conversations } from '../sessions/conversations';
import { listedTitleOf } from '../sessions/sessionLabels';
import { pick } from '../ui/input';
import { pickFiles } from '../ui/places';
import { onlyOf } from './commandSession';

const MAX_PROBLEM = 1000;

const problemsArgument = z.object({
  uri: z.string().check(z.maxLength(10_000)),
  first: z.int().check(z.positive()),
  last: z.int().check(z.positive()),
  problems: z.array(z.string().check(z.maxLength(MAX_PROBLEM))).check(z.minLength(1), z.maxLength(20)),
});

export function addCommands(workbench: Workbench): void {
  const chat = workbench.get(ChatHome);
  const conversations = workbench.get(Conversations);
  const terminalCommands = workbench.get(TerminalCommands);
  const attach = (attachments: readonly QueuedAttachment[], surface = chat.open()): ChatSurface => {
    for (const attachment of attachments) surface.conversation.unsent.attach(attachment);
    surface.focus();
    return surface;
  };
  const terminalOutput = async (given: readonly unknown[]): Promise<readonly QueuedAttachment[]> => {
    const found = await Promise.all(terminalsOf(given).map((terminal) => terminalCommands.attachmentOf(terminal)));
    const attachments = found.filter((one) => one !== undefined);
    if (attachments.length === 0) throw new ParleyError('no-terminal-output', noOutput());
    return attachments;
  };
  /** Returns what a menu names, otherwise the selection, the editor's file, or files to choose. */
  const attachmentsOf = async (given: readonly unknown[]): Promise<readonly QueuedAttachment[]> => {
    const [one] = given;
    if (window.terminals.includes(one as Terminal)) return terminalOutput(given);
    const editor = one === undefined ? window.activeTextEditor : undefined;
    const selection = editor && selectionAttachment(editor);
    if (selection) return [selection];
    const uri = editor?.document.uri;
    return filesOf(uri?.scheme === 'file' ? [uri] : given);
  };
  const askAbout = async (argument: unknown, words: (place: string, count: number) => string): Promise<void> => {
    const { uri, first, last, problems } = z.parse(problemsArgument, failureOf(argument) ?? argument);
    const document = await workspace.openTextDocument(fileUri(uri));
    const end = Math.min(last, document.lineCount);
    const range = document.lineAt(Math.min(first, end) - 1).range.union(document.lineAt(end - 1).range);
    const attachment = linesAttachment(document, Math.min(first, end), end, document.getText(range));
    const text = `${words(attachment.label, problems.length)}\n\n${problems.map(listItem).join('\n')}\n`;
    await attach([attachment]).insertWhenPainted(text);
  };
  workbench.register('addSelection', () => {
    const editor = window.activeTextEditor;
    const attachment = editor && selectionAttachment(editor);
    if (!attachment) throw new ParleyError('nothing-selected', l10n.t('Select some text in an editor first.'));
    attach([attachment]);
  });
  workbench.register('addFile', async (...given: readonly unknown[]) => {
    const attachments = await filesOf(given);
    if (attachments.length > 0) attach(attachments);
  });
  workbench.register('addTerminalOutput', async (...given: readonly unknown[]) => {
    attach(await terminalOutput(given));
  });
  workbench.register('addToSession', async (...given: readonly unknown[]) => {
    const attachments = await attachmentsOf(given);
    const key = attachments.length > 0 ? await pickTarget(conversations, chat) : undefined;
    if (key === undefined) return;
    attach(attachments, chat.present(key === '' ? conversations.create() : conversations.get(key)));
  });
  workbench.register('fixProblem', (argument: unknown) =>
    askAbout(argument, (place, count) =>
      count === 1 ? l10n.t('Fix this problem in {0}:', place) : l10n.t('Fix these problems in {0}:', place),
    ),
  );
  workbench.register('explainProblem', (argument: unknown) =>
    askAbout(argument, (place, count) =>
      count === 1 ? l10n.t('Explain this problem in {0}:', place) : l10n.t('Explain these problems in {0}:', place),
    ),
  );
}

/** @returns a key; '' for a new session, undefined if cancelled */
function pickTarget(conversations: Conversations, chat: ChatHome): Promise<string | undefined> {
  const shown = onlyOf(chat.current);
  const open = conversations.list().map((conversation) => ({
    id: conversation.key,
    label: listedTitleOf(conversation),
    description: conversation.agent.name,
    picked: conversation === shown,
  }));
  return pick([...open, { id: '', label: [{ icon: 'add' }, ` ${l10n.t('New session')}`] }], l10n.t('Select a session'));
}

async function filesOf(given: readonly unknown[]): Promise<readonly QueuedAttachment[]> {
  const uris = given[0] === undefined ? await pickFiles(l10n.t('Add to Parley')) : urisOf(given);
  return Promise.all(uris.map(fileAttachment));
}

/** The Explorer passes the clicked file, then all selected; Source Control resource states. */
function urisOf(given: readonly unknown[]): readonly Uri[] {
  const [one, selected] = given;
  if (Array.isArray(selected) && selected.length > 0) return selected.filter((uri) => uri instanceof Uri);
  if (one instanceof Uri) return [one];
  return given.flatMap((state) => {
    const uri = (state as { readonly resourceUri?: unknown } | undefined)?.resourceUri;
    return uri instanceof Uri ? [uri] : [];
  });
}

function terminalsOf([one, selected]: readonly unknown[]): readonly Terminal[] {
  const wanted = Array.isArray(selected) && selected.length > 0 ? selected : [one];
  const given = window.terminals.filter((terminal) => wanted.includes(terminal));
  return given.length > 0 ? given : window.activeTerminal ? [window.activeTerminal] : [];
}

function noOutput(): string {
  return l10n.t(
    'No command of this terminal is known. Parley knows commands that begin while it runs, in shells with the shell integration of VS Code.',
  );
}

function fileUri(address: string): Uri {
  const uri = Uri.parse(address, true);
  if (uri.scheme !== 'file') throw new ParleyError('not-a-file', l10n.t('Only problems in files can be added.'));
  return uri;
}

function failureOf(argument: unknown): z.infer<typeof problemsArgument> | undefined {
  const { test, message } = (argument ?? {}) as { readonly test?: TestItem; readonly message?: TestMessage };
  if (!test || !message) return undefined;
  const uri = message.location?.uri ?? test.uri;
  if (!uri) throw new ParleyError('not-a-file', l10n.t('Only problems in files can be added.'));
  const isInTest = uri.toString() === test.uri?.toString();
  const lines = (isInTest ? test.range : undefined) ?? message.location?.range;
  const words = typeof message.message === 'string' ? message.message : message.message.value;
  return {
    uri: uri.toString(),
    first: (lines?.start.line ?? 0) + 1,
    last: (lines?.end.line ?? 0) + 1,
    problems: [plainOutput(`${test.label}: ${words}`).slice(0, MAX_PROBLEM)],
  };
}

function listItem(problem: string): string {
  return `- ${problem.replaceAll(/\s+/g, ' ').trim()}`;
}
