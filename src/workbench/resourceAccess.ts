// What sessions from elsewhere may fetch: the public internet, the user's own servers, and what the user allows, asked for one origin at a time.
import { type ExtensionContext, l10n, window, workspace } from 'vscode';
import type { Log } from '../base/log';
import type { NetworkPolicy } from '../distributed/guard';
import type { AgentCatalog } from './agentCatalog';
import type { ResourceStores } from './resourceStores';

const ALLOWED = 'parley.resources.origins';
const MAX_ALLOWED = 200;

export interface ResourceAccessOptions {
  readonly context: ExtensionContext;
  readonly catalog: AgentCatalog;
  readonly stores: Pick<ResourceStores, 'origin'>;
  /** Of this window's own server, while it runs. */
  readonly ownOrigin: () => string | undefined;
  readonly log: Log;
}

export class ResourceAccess implements NetworkPolicy {
  readonly #options: ResourceAccessOptions;

  constructor(options: ResourceAccessOptions) {
    this.#options = options;
  }

  isAllowed(origin: string): boolean {
    const { stores, ownOrigin, catalog } = this.#options;
    if (origin === stores.origin || origin === ownOrigin() || this.#allowed().includes(origin)) return true;
    return catalog
      .list()
      .some(({ type, ...agent }) => type === 'communication' && 'url' in agent && originOf(agent.url) === origin);
  }

  async ask(origin: string, found: 'local' | 'private', signal: AbortSignal): Promise<boolean> {
    if (!workspace.isTrusted || signal.aborted) return false;
    const once = l10n.t('Allow Once');
    const always = l10n.t('Always Allow');
    const where = found === 'local' ? l10n.t('this machine') : l10n.t('your network');
    const text = l10n.t('The session wants to load messages from {0}, which is on {1}.', origin, where);
    const detail = l10n.t('Only agree where you know that server: whoever made the session chose the address.');
    try {
      const choice = await window.showWarningMessage(text, { modal: true, detail }, once, always);
      if (choice === always) {
        const all = [...this.#allowed().filter((one) => one !== origin), origin].slice(-MAX_ALLOWED);
        await this.#options.context.globalState.update(ALLOWED, all);
      }
      return choice === once || choice === always;
    } catch (error) {
      // Nobody is there to ask.
      this.#options.log.debug(`no question about ${origin}: ${String(error)}`);
      return false;
    }
  }

  #allowed(): readonly string[] {
    return this.#options.context.globalState.get<string[]>(ALLOWED, []);
  }
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}
