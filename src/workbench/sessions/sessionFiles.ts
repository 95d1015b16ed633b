// Exports sessions to files and imports them.
import { basename, join } from 'node:path';
import { commands, env, l10n, Uri, workspace } from 'vscode';
import { messageOf, ParleyError } from '../../base/errors';
import { redact } from '../../base/redact';
import { Slices } from '../../changes/lines/slices';
import type { Conversation } from '../../client/conversation/conversation';
import { exportSession } from '../../client/export/exportSession';
import { readSessionFile, SESSION_FILE } from '../../client/export/sessionFile';
import type { SessionHead } from '../../client/export/sessionItems';
import { openedEnd } from '../../client/sharing/provenanceNotices';
import type { SessionEvent } from '../../session/events/event';
import { ownText } from '../../session/events/ownText';
import type { AgentCatalog } from '../config/agentCatalog';
import { fileNameOfTitle } from '../editor/fileName';
import { saveFile } from '../editor/saveFile';
import { pick } from '../ui/input';
import { type ReportProgress, showInfo, showProgress } from '../ui/messages';
import { pickFiles, pickTarget } from '../ui/places';
import type { Conversations } from './conversations';
import { titleOf } from './sessionLabels';
import { sessionMarkdown } from './sessionMarkdown';

export type ExportFormat = 'html' | 'markdown' | 'json';

const ENDINGS: Readonly<Record<ExportFormat, string>> = { html: 'html', markdown: 'md', json: 'json' };

export interface ExportArgument {
  readonly session?: string;
  readonly format?: ExportFormat;
  readonly path?: string;
}

export async function exportToFile(
  conversation: Conversation,
  { format, path }: Omit<ExportArgument, 'session'>,
): Promise<string | undefined> {
  const chosen = format ?? (await pickFormat());
  if (chosen === undefined || !(chosen in ENDINGS)) return undefined;
  const target = path === undefined ? await askTarget(conversation, chosen) : Uri.file(path);
  if (!target) return undefined;
  const bytes = await unlessStopped(l10n.t('Exporting the session…'), (signal, report) =>
    bytesOf(conversation, chosen, signal, report),
  );
  if (!bytes) return undefined;
  await saveFile(target, bytes);
  if (path === undefined) void tellExported(target);
  return target.fsPath;
}

async function bytesOf(
  conversation: Conversation,
  format: ExportFormat,
  signal: AbortSignal,
  report: ReportProgress,
): Promise<Uint8Array> {
  if (format === 'markdown') return Buffer.from(redact(await sessionMarkdown(conversation)));
  await conversation.whole;
  const { state } = conversation.model;
  return exportSession({ state, head: headOf(conversation) }, format, { language: env.language, report }, signal);
}

function headOf(conversation: Conversation): SessionHead {
  const { agent, cwd, model } = conversation;
  const { usage } = model.state;
  return {
    format: SESSION_FILE.format,
    version: SESSION_FILE.version,
    title: titleOf(conversation),
    agent: { id: agent.id, name: agent.name },
    cwd,
    exported: new Date().toISOString(),
    ...(usage && {
      usage: { used: usage.used, size: usage.size, cost: usage.cost },
    }),
  };
}

async function pickFormat(): Promise<ExportFormat | undefined> {
  const id = await pick(
    [
      { id: 'html', label: l10n.t('Web Page'), description: l10n.t('HTML, to read and print') },
      { id: 'markdown', label: l10n.t('Markdown') },
      { id: 'json', label: l10n.t('JSON'), description: l10n.t('can be imported again') },
    ],
    l10n.t('Export the session as'),
  );
  return id === 'html' || id === 'markdown' || id === 'json' ? id : undefined;
}

function askTarget(conversation: Conversation, format: ExportFormat): Promise<Uri | undefined> {
  const name = `${fileNameOfTitle(titleOf(conversation))}.${ENDINGS[format]}`;
  return pickTarget(l10n.t('Export Session'), Uri.file(join(conversation.roots[0] ?? conversation.cwd, name)));
}

async function tellExported(target: Uri): Promise<void> {
  const open = l10n.t('Open');
  const text = l10n.t(
    'Exported {0} without the secrets that Parley knows. Review the file before you share it.',
    basename(target.path),
  );
  if ((await showInfo(text, open)) === open) await commands.executeCommand('vscode.open', target);
}

export interface ImportArgument {
  readonly path?: string;
  readonly agent?: string;
}

export interface ImportServices {
  readonly conversations: Pick<Conversations, 'create'>;
  readonly catalog: Pick<AgentCatalog, 'find'>;
}

/** @throws ParleyError as {@link readSessionFile} does, `session-unreadable`, `no-such-agent` */
export async function importFromFile(
  { conversations, catalog }: ImportServices,
  { path, agent }: ImportArgument,
): Promise<Conversation | undefined> {
  const uri = path === undefined ? (await pickFiles(l10n.t('Import Session')))[0] : Uri.file(path);
  if (!uri) return undefined;
  const file = await unlessStopped(l10n.t('Reading the session…'), async (signal) =>
    readSessionFile(await readBounded(uri), Date.now(), signal),
  );
  if (!file) return undefined;
  const { head, events, skipped } = file;
  const known = agent ?? (head.agent && catalog.find(head.agent.id) ? head.agent.id : undefined);
  const conversation = conversations.create({ agent: known, opening: { kind: 'new' } });
  const now = (event: SessionEvent): void => conversation.note([{ at: Date.now(), event }]);
  const from = ownText('imported-from', basename(uri.path), head.agent?.name ?? '');
  now({ type: 'notice', own: true, severity: 'info', title: '', said: from, opens: true });
  const slices = new Slices();
  for (let at = 0; at < events.length; at += AT_ONCE) {
    conversation.note(events.slice(at, at + AT_ONCE));
    await slices.pause();
  }
  now({ type: 'info', title: head.title ?? basename(uri.path) });
  now(openedEnd(conversation.agent.name, [], 'none', false));
  if (skipped > 0) void showInfo(l10n.t('{0} entries of the session could not be read and were left out.', skipped));
  return conversation;
}

const AT_ONCE = 100;

/** Checks the size first, so that a file that is too large is not read. */
async function readBounded(uri: Uri): Promise<Uint8Array> {
  let size: number;
  try {
    ({ size } = await workspace.fs.stat(uri));
    if (size <= SESSION_FILE.maxBytes) return await workspace.fs.readFile(uri);
  } catch (error) {
    const why = messageOf(error).replace(/\.$/, '');
    throw new ParleyError('session-unreadable', l10n.t("The file couldn't be read: {0}.", why));
  }
  throw new ParleyError('session-too-large', l10n.t('The file is too large.'));
}

function unlessStopped<T>(
  text: string,
  work: (signal: AbortSignal, report: ReportProgress) => Promise<T>,
): Promise<T | undefined> {
  return showProgress(text, async (signal, report) => {
    try {
      return await work(signal, report);
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  });
}
