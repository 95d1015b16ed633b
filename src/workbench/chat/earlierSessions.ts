// Mentions of earlier sessions, attached as a transcript that is read in small steps.

import { setImmediate } from 'node:timers/promises';
import { Configured } from '../../base/disposable';
import { formatTime } from '../../base/localFormat';
import { oneLine } from '../../base/text';
import { folded } from '../../mentions/rank';
import type { MentionView } from '../../panel/contract';
import { transcriptText } from '../../session/model/transcriptText';
import type { QueuedAttachment } from '../../session/queue/queue';
import type { SessionName } from '../../store/sessions/sessionMarks';
import type { Archive } from '../sessions/archive';
import { isForeign, short } from '../sessions/sessionLabels';
import { embeddedAttachment } from './attachments';

const PAGE = 250;
const MAX_TITLE = 60;
const MAX_ROWS = 20_000;
const MAX_OFFERED = 100;

interface EarlierSessionsOptions {
  readonly archive: Pick<Archive, 'marks' | 'endOf'>;
  readonly agentName: (id: string) => string;
}

export interface MentionPlace {
  readonly key: string;
  readonly roots: readonly string[];
}

export class EarlierSessions extends Configured<EarlierSessionsOptions> {
  readonly #offered = new Map<string, SessionName>();

  /**
   * Finds sessions by title: exact titles, then those of the place's folders, then others, newest
   * first. Ignores spaces and hyphens. Without letters, returns the newest.
   * @throws the reason of `signal`
   */
  async named(
    letters: string,
    { key, roots }: MentionPlace,
    most: number,
    signal: AbortSignal,
  ): Promise<readonly MentionView[]> {
    const wanted = folded(letters);
    if (wanted === '' && letters !== '') return [];
    const { marks } = this.options.archive;
    const exact: SessionName[] = [];
    const inFolders: SessionName[] = [];
    const inOtherFolders: SessionName[] = [];
    for (let before: SessionName | undefined; wanted !== '' || inFolders.length < most; ) {
      const page = marks.names({ limit: PAGE, before });
      for (const session of page) {
        const name = folded(session.name);
        if (session.key === key || !name.includes(wanted)) continue;
        if (name === wanted && exact.length < most) exact.push(session);
        else if (!isForeign(session.cwd, roots)) inFolders.push(session);
        else if (inOtherFolders.length < most) inOtherFolders.push(session);
      }
      before = page.at(-1);
      if (page.length < PAGE) break;
      await setImmediate();
      signal.throwIfAborted();
    }
    return [...exact, ...inFolders, ...inOtherFolders].slice(0, most).flatMap((session) => this.#offer(session) ?? []);
  }

  async attachment(id: string): Promise<QueuedAttachment | undefined> {
    const offered = this.#offered.get(id);
    if (!offered) return undefined;
    const end = await this.options.archive.endOf(offered.key, MAX_ROWS);
    const transcript = end && transcriptText(end.model.state.entries, !end.isWhole);
    if (!end || transcript === undefined) return undefined;
    const label = titleOf(offered);
    const agent = oneLine(this.options.agentName(end.session.agentId));
    const when = formatTime(end.session.updatedAt);
    const text = [
      `Transcript of an earlier session of the user with ${agent}, “${label}”, last used on ${when}.`,
      'It is context; what is asked of you now is the message that it comes with.',
      `\n${transcript}`,
    ].join('\n');
    return embeddedAttachment('transcript', 'transcript', label, text, 'text/markdown');
  }

  #offer(session: SessionName): MentionView | undefined {
    const { key, agentId, updatedAt } = session;
    const label = titleOf(session);
    if (label === '') return undefined;
    const id = `session:${key}`;
    this.#offered.delete(id);
    this.#offered.set(id, session);
    for (const oldest of this.#offered.keys()) {
      if (this.#offered.size <= MAX_OFFERED) break;
      this.#offered.delete(oldest);
    }
    const description = `${short(this.options.agentName(agentId))} · ${formatTime(updatedAt)}`;
    return { id, kind: 'session', label, description };
  }
}

/** Returns a well-formed title: it becomes part of a URI. */
function titleOf({ name }: SessionName): string {
  return oneLine(name, MAX_TITLE).toWellFormed();
}
