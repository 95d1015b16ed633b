// Opens the session of the turn that last wrote the line at the cursor.
import { l10n, window } from 'vscode';
import { ParleyError } from '../../base/errors';
import { Slices } from '../../changes/lines/slices';
import { type PastTurn, turnOfLine } from '../../client/changes/lineOrigin';
import { bytesOf } from '../changes/documents/documentEdits';
import { ChatHome } from '../chat/chatHome';
import type { Workbench } from '../core/workbench';
import { Archive } from '../sessions/archive';
import { Conversations } from '../sessions/conversations';
import { isForeign } from '../sessions/sessionLabels';
import { showProgress } from '../ui/messages';
import { mayOpen } from './foreignFolders';

const MAX_TURNS = 300;
const ROWS_AT_ONCE = 1_000;

interface FoundTurn extends PastTurn {
  readonly key: string;
  readonly turnId: string;
  readonly at: number;
}

/** @returns the key; undefined if the user doesn't open it @throws ParleyError `no-turn` */
export async function showTurnOfLine(workbench: Workbench): Promise<string | undefined> {
  const chat = workbench.get(ChatHome);
  const { document, selection } = window.activeTextEditor ?? {};
  const found =
    document?.uri.scheme === 'file' && selection
      ? await showProgress(l10n.t('Searching…'), async (signal) => {
          const place = { path: document.uri.fsPath, content: await bytesOf(document), line: selection.active.line };
          const turns = await turnsIn(workbench, place.path, signal);
          const newest = turns.sort((a, b) => b.at - a.at).slice(0, MAX_TURNS);
          // All sessions share the states of a folder.
          return turnOfLine(await workbench.get(Conversations).active().changes.states(), newest, place, signal);
        })
      : undefined;
  if (!found) throw new ParleyError('no-turn', l10n.t('No turn that Parley recorded wrote this line.'));
  const { key, turnId, at } = found;
  const record = workbench.get(Archive).find(key);
  if (record && !(await mayOpen(workbench, record))) return undefined;
  chat.showSession(key);
  chat.reveal(key, { at, event: { type: 'turn_started', turnId, origin: 'user', at } });
  return key;
}

async function turnsIn(workbench: Workbench, path: string, signal: AbortSignal): Promise<FoundTurn[]> {
  const archive = workbench.get(Archive);
  const conversations = workbench.get(Conversations);
  const found: FoundTurn[] = [];
  for (const { key, roots, model, whole, changes: recorded } of conversations.list()) {
    if (isForeign(path, roots)) continue;
    await Promise.all([whole, recorded.settled()]);
    signal.throwIfAborted();
    for (const { id: turnId, startedAt, endedAt = startedAt, changes } of model.state.turns)
      if (changes) found.push({ key, turnId, at: endedAt, changes });
  }
  const slices = new Slices();
  for (const { key, roots, lastSeq } of archive.all()) {
    if (isForeign(path, roots) || conversations.find(key)) continue;
    if (found.length >= MAX_TURNS) break;
    const read = archive.eventsOf(key);
    for (let to = lastSeq; to > 0; to -= ROWS_AT_ONCE) {
      for (const { at, event } of read(Math.max(1, to - ROWS_AT_ONCE + 1), to, ['turn_changes']))
        if (event.type === 'turn_changes') found.push({ key, turnId: event.turnId, at, changes: event });
      signal.throwIfAborted();
      await slices.pause();
    }
  }
  return found;
}
