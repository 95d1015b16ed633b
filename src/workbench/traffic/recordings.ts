// Saves traffic as a recording, and opens recordings as read-only sessions.
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { l10n, Uri, workspace } from 'vscode';
import { messageOf, ParleyError } from '../../base/errors';
import { playRecording } from '../../client/replay/playRecording';
import { WireMarks } from '../../client/replay/wireMarks';
import { cleanMessages } from '../../traffic/cleanMessages';
import { RECORDING_LIMITS, type RecordedMessage, readRecording, writeRecording } from '../../traffic/recording';
import { TrafficLog } from '../../traffic/trafficLog';
import { lanesOf } from '../../traffic/turnTrace';
import { ChatHome } from '../chat/chatHome';
import type { Workbench } from '../core/workbench';
import { saveFile } from '../editor/saveFile';
import { Conversations } from '../sessions/conversations';
import { pick } from '../ui/input';
import { showInfo, showProgress } from '../ui/messages';
import { pickFiles, pickTarget } from '../ui/places';

export interface RecordingArgument {
  readonly path?: string;
  readonly pace?: 'at-once' | 'recorded';
}

export class Recordings {
  readonly #workbench: Workbench;
  readonly #labelOf: (key: string) => string;

  constructor(workbench: Workbench, labelOf: (key: string) => string) {
    this.#workbench = workbench;
    this.#labelOf = labelOf;
  }

  /** Saves the captured traffic of a session, without secrets. @param key default: asks */
  async save(key?: string): Promise<void> {
    const { version, log } = this.#workbench;
    const chosen = key ?? (await this.#pickSession());
    if (chosen === undefined) return;
    const name = `${
      this.#labelOf(chosen)
        .replace(/[^\p{L}\p{N}]+/gu, '-')
        .slice(0, 60) || 'parley'
    }.ndjson`;
    const folder = workspace.workspaceFolders?.[0]?.uri.fsPath ?? homedir();
    const target = await pickTarget(l10n.t('Export Recording'), Uri.file(join(folder, name)));
    if (!target) return;
    const agent = this.#workbench.get(Conversations).find(chosen)?.agent.name ?? this.#labelOf(chosen);
    const entries = [...this.#traffic.entries()].filter((entry) => entry.key === chosen);
    const text = await showProgress(l10n.t('Removing secrets…'), async (signal) => {
      const clean = await cleanMessages(entries, { signal });
      const lanes = await lanesOf(clean, new WireMarks(), signal);
      return writeRecording(clean, lanes, { agent, version });
    });
    await saveFile(target, Buffer.from(text));
    log.info(`a recording of ${entries.length} messages was saved`);
    void showInfo(
      l10n.t(
        'Saved {0} messages without the secrets that Parley knows. Review the file before you share it.',
        entries.length,
      ),
    );
  }

  /**
   * Opens a recording. Resolves with the session's key after playback; undefined if cancelled.
   * @throws ParleyError `recording-too-large`, `not-a-recording`, `recording-unreadable`
   */
  async open({ path, pace }: RecordingArgument = {}): Promise<string | undefined> {
    const conversations = this.#workbench.get(Conversations);
    const uri = path === undefined ? (await pickFiles(l10n.t('Open Recording')))[0] : Uri.file(path);
    if (!uri) return undefined;
    const how = pace ?? (path === undefined ? await pickPace() : 'at-once');
    if (how === undefined) return undefined;
    const bytes = await readBounded(uri);
    const recording = await showProgress(l10n.t('Reading the recording…'), (signal) => readRecording(bytes, signal));
    const conversation = conversations.openRecording(recording.agent ?? basename(uri.path));
    const { key } = conversation;
    this.#workbench.get(ChatHome).present(conversation);
    const stop = new AbortController();
    const watching = conversations.onDidRemove((removed) => removed === conversation && stop.abort());
    try {
      const options = {
        isPaced: how === 'recorded',
        note: conversation.note.bind(conversation),
        onMessage: ({ fromAgent, message }: RecordedMessage, at: number) =>
          this.#traffic.note(key, fromAgent ? 'in' : 'out', lineOf(message), at),
        log: this.#workbench.log,
        now: Date.now(),
      };
      await playRecording(recording, options, stop.signal);
    } finally {
      watching.dispose();
    }
    if (recording.skipped > 0)
      void showInfo(l10n.t('{0} lines of the recording could not be read and were left out.', recording.skipped));
    return key;
  }

  get #traffic(): TrafficLog {
    return this.#workbench.get(TrafficLog);
  }

  async #pickSession(): Promise<string | undefined> {
    const counts = new Map<string, number>();
    for (const { key } of this.#traffic.entries()) counts.set(key, (counts.get(key) ?? 0) + 1);
    const [first] = counts.keys();
    if (first === undefined) {
      void showInfo(l10n.t('There are no messages to export.'));
      return undefined;
    }
    if (counts.size === 1) return first;
    const items = [...counts].map(([id, count]) => ({
      id,
      label: this.#labelOf(id),
      description: l10n.t('{0} messages', count),
    }));
    return pick(items, l10n.t('Select the session to export'));
  }
}

function lineOf(message: RecordedMessage['message']): string {
  try {
    return JSON.stringify(message);
  } catch {
    return ''; // nested too deeply
  }
}

async function pickPace(): Promise<RecordingArgument['pace']> {
  const chosen = await pick(
    [
      { id: 'at-once', label: l10n.t('Show all at once') },
      { id: 'recorded', label: l10n.t('Play at the recorded pace'), description: l10n.t('without long pauses') },
    ],
    l10n.t('How should the recording be shown?'),
    // The view regains focus shortly after the file dialog has closed.
    { ignoreFocusOut: true },
  );
  return chosen === 'at-once' || chosen === 'recorded' ? chosen : undefined;
}

/** Checks the size before reading. */
async function readBounded(uri: Uri): Promise<Uint8Array> {
  try {
    const { size } = await workspace.fs.stat(uri);
    if (size <= RECORDING_LIMITS.bytes) return await workspace.fs.readFile(uri);
  } catch (error) {
    throw new ParleyError(
      'recording-unreadable',
      l10n.t("The recording couldn't be read: {0}.", messageOf(error).replace(/\.$/, '')),
    );
  }
  throw new ParleyError('recording-too-large', l10n.t('The recording is too large.'));
}
