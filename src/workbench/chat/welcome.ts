// What an empty conversation says of its folder: the branch, and the sessions that were used there
// last.
import { basename } from 'node:path';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import { head } from '../../base/text';
import { branchOf } from '../../changes/git/branchOf';
import type { Conversation } from '../../client/conversation/conversation';
import type { WelcomeView } from '../../panel/contract';
import type { Archive } from '../sessions/archive';
import { nameOf } from '../sessions/keptSessions';

/** Sessions that are shown. */
const MOST_SESSIONS = 3;
/** Sessions that are looked at: those in which nothing happened are left out. */
const LOOKED_AT = 12;
const MAX_TITLE = 120;

export interface WelcomeOptions {
  readonly archive: Pick<Archive, 'marks'>;
  readonly agentName: (id: string) => string;
  /** The folder of sessions without a workspace, which says nothing to the user. */
  readonly scratch: string;
  readonly log: Log;
}

export class Welcome {
  readonly #options: WelcomeOptions;

  constructor(options: WelcomeOptions) {
    this.#options = options;
  }

  /** Returns what to say in a conversation in which nothing has happened. */
  async of({ key, cwd }: Conversation): Promise<WelcomeView> {
    const branch = await branchOf(cwd);
    return {
      folder: cwd !== this.#options.scratch ? basename(cwd) || cwd : undefined,
      branch,
      sessions: this.#sessionsIn(cwd, key),
    };
  }

  #sessionsIn(cwd: string, but: string): WelcomeView['sessions'] {
    const { archive, agentName, log } = this.#options;
    try {
      return archive.marks
        .list({ cwd, archived: false, limit: LOOKED_AT })
        .filter(({ key, title, preview }) => key !== but && (title ?? preview) !== undefined)
        .slice(0, MOST_SESSIONS)
        .map((record) => ({
          key: record.key,
          title: head(nameOf(record), MAX_TITLE),
          agent: agentName(record.agentId),
          at: record.updatedAt,
          files: record.marks.files,
        }));
    } catch (error) {
      log.debug(`sessions of ${cwd}: ${messageOf(error)}`);
      return [];
    }
  }
}
