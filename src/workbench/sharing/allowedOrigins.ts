// The servers that messages may be fetched from, for the user and for callers of the local server.
import { type ExtensionContext, l10n, workspace } from 'vscode';
import { Part } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import { originsOf, parseAllow, parseResources } from '../../client/sharing/resourcesSetting';
import type { AgentCatalog } from '../config/agentCatalog';
import { userValue } from '../config/folderSettings';
import { isNewUse, type RememberedAnswer, type RememberedAnswers } from '../config/rememberedAnswers';
import { openSettings, resourcesSetting } from '../config/settings';
import { showWarning } from '../ui/messages';

const ANSWERS = 'parley.resources.origins';
const TIMES = 'parley.resources.originTimes';
const MAX_ANSWERS = 200;

interface AllowedOriginsOptions {
  readonly context: Pick<ExtensionContext, 'globalState'>;
  readonly catalog: Pick<AgentCatalog, 'own'>;
  readonly served: () => readonly string[];
  readonly log: Log;
}

type Times = Readonly<Record<string, { readonly at?: number; readonly used?: number }>>;

/**
 * Allowed without asking: the configured bucket, servers of HTTP agents in the user's settings,
 * `parley.resources.allow`, “Always Allow” answers, and this window's own server. Never from
 * workspace files.
 */
export class AllowedOrigins extends Part<AllowedOriginsOptions> implements RememberedAnswers {
  /** Cached until a setting changes: long histories check every message. */
  #configured: ReadonlySet<string> | undefined;
  /** Problems are reported once, until they change. */
  #reportedProblems = '';

  constructor(options: AllowedOriginsOptions) {
    super(options);
    this.own(
      workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('parley')) this.#configured = undefined;
        if (change.affectsConfiguration('parley.resources')) this.#reportProblems();
      }),
    );
    this.#reportProblems();
  }

  /** @param origin `scheme://host[:port]`, as in `URL.origin` */
  has(origin: string): boolean {
    this.#configured ??= this.#readConfigured();
    if (this.#configured.has(origin) || this.options.served().includes(origin)) return true;
    if (!this.#answers().includes(origin)) return false;
    this.#noteUse(origin);
    return true;
  }

  /** Beyond 200 origins, the oldest answers are forgotten. */
  async allowAlways(origins: readonly string[]): Promise<void> {
    const others = this.#answers().filter((one) => !origins.includes(one));
    const now = Date.now();
    await this.#writeTimes(Object.fromEntries(origins.map((origin) => [origin, { at: now, used: now }])));
    await this.options.context.globalState.update(ANSWERS, [...others, ...origins].slice(-MAX_ANSWERS));
  }

  list(): readonly RememberedAnswer[] {
    const times = this.#times();
    return this.#answers()
      .map((origin) => {
        const { at, used } = times[origin] ?? {};
        return { id: origin, isAllowed: true, subject: origin, answeredAt: at, usedAt: used };
      })
      .reverse();
  }

  async remove(origin: string): Promise<void> {
    const others = this.#answers().filter((one) => one !== origin);
    await this.options.context.globalState.update(ANSWERS, others);
    await this.#writeTimes({});
  }

  #readConfigured(): ReadonlySet<string> {
    const agents = this.options.catalog.own().flatMap((agent) => (agent.type === 'communication' ? [agent.url] : []));
    const ofAgents = agents.filter((url) => URL.canParse(url)).map((url) => new URL(url).origin);
    return new Set([...bucketOrigins(), ...ofAgents, ...allowSetting().origins]);
  }

  #noteUse(origin: string): void {
    const times = this.#times()[origin];
    const now = Date.now();
    if (!isNewUse(times?.used, now)) return;
    this.#writeTimes({ [origin]: { ...times, used: now } }).catch((error: unknown) =>
      this.options.log.debug(`use of an answer not noted: ${messageOf(error)}`),
    );
  }

  async #writeTimes(changed: Times): Promise<void> {
    const validOrigins = [...this.#answers(), ...Object.keys(changed)];
    const times = Object.entries({ ...this.#times(), ...changed }).filter(([origin]) => validOrigins.includes(origin));
    await this.options.context.globalState.update(TIMES, Object.fromEntries(times));
  }

  #times(): Times {
    return this.options.context.globalState.get<Times>(TIMES, {});
  }

  #answers(): readonly string[] {
    return this.options.context.globalState.get<string[]>(ANSWERS, []);
  }

  #reportProblems(): void {
    const problems = allowSetting().problems.join(' ');
    if (problems === this.#reportedProblems) return;
    this.#reportedProblems = problems;
    if (problems === '') return;
    const text = l10n.t(
      'The setting parley.resources.allow has invalid entries. {0} Use https://host or http://host:port.',
      problems,
    );
    this.options.log.warn(text);
    const open = l10n.t('Open Settings');
    void showWarning(`Parley: ${text}`, open).then(async (choice) => {
      if (choice === open) await openSettings('parley.resources.allow');
    });
  }
}

function allowSetting(): ReturnType<typeof parseAllow> {
  return parseAllow(userValue('resources.allow'));
}

/** Empty if the setting is invalid, which opening the stores reports. */
function bucketOrigins(): readonly string[] {
  try {
    const setting = parseResources(resourcesSetting());
    return setting.type === 's3' ? originsOf(setting.place) : [];
  } catch {
    return [];
  }
}
