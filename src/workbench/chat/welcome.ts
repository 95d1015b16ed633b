// What an empty conversation shows about its folder.
import { basename } from 'node:path';
import { messageOf } from '../../base/errors';
import { head } from '../../base/text';
import { branchOf } from '../../changes/git/repository';
import type { Conversation } from '../../client/conversation/conversation';
import type { WelcomeView } from '../../panel/contract';
import { AgentCatalog } from '../config/agentCatalog';
import type { Workbench } from '../core/workbench';
import { Archive } from '../sessions/archive';
import { Conversations } from '../sessions/conversations';
import { nameOf } from '../sessions/keptSessions';

const MOST_SESSIONS = 3;
const MAX_READ = 12;
const MAX_TITLE = 120;

export class Welcome {
  readonly #workbench: Workbench;

  constructor(workbench: Workbench) {
    this.#workbench = workbench;
  }

  async of({ key, cwd }: Conversation): Promise<WelcomeView> {
    const branch = await branchOf(cwd);
    // The user doesn't know the folder for sessions without a workspace.
    const isScratch = cwd === this.#workbench.folder('no-folder');
    return {
      folder: isScratch ? undefined : basename(cwd) || cwd,
      isSelectable: this.#workbench.get(Conversations).folders.length > 1,
      branch,
      sessions: this.#sessionsIn(cwd, key),
    };
  }

  #sessionsIn(cwd: string, but: string): WelcomeView['sessions'] {
    const catalog = this.#workbench.get(AgentCatalog);
    try {
      return this.#workbench
        .get(Archive)
        .marks.list({ cwd, archived: false, limit: MAX_READ })
        .filter(({ key, title, preview }) => key !== but && (title ?? preview) !== undefined)
        .slice(0, MOST_SESSIONS)
        .map((record) => ({
          key: record.key,
          title: head(nameOf(record), MAX_TITLE),
          agent: catalog.nameOf(record.agentId),
          at: record.updatedAt,
          files: record.marks.files,
        }));
    } catch (error) {
      this.#workbench.log.debug(`sessions of ${cwd}: ${messageOf(error)}`);
      return [];
    }
  }
}
