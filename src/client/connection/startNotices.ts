// Notices in the transcript about a start that succeeded with limits: a new session in place of the
// old one, or MCP servers that the agent did not get.
import { inEnglish, type LocalizableText, lines } from '../../base/localizable';
import type { Log } from '../../base/log';
import type { SessionEvent } from '../../session/events/event';
import { ownText } from '../../session/events/ownText';
import type { Entry } from '../../session/model/state';

export class StartNotices {
  readonly #apply: (event: SessionEvent) => void;
  readonly #log: Log;
  readonly #told = new Set<string>();

  constructor(apply: (event: SessionEvent) => void, log: Log) {
    this.#apply = apply;
    this.#log = log;
  }

  /** The agent doesn't know the transcript. Said once per opened session. */
  beganAnew(agentName: string, entries: readonly Entry[]): void {
    const atEnd = entries.slice(entries.findLastIndex(({ kind }) => kind !== 'notice') + 1);
    if (atEnd.some((entry) => entry.kind === 'notice' && entry.beginsAnew)) return;
    const said = ownText('new-session', agentName);
    this.#apply({ type: 'notice', own: true, severity: 'info', title: '', said, beginsAnew: true });
  }

  notHandedOver(problems: readonly LocalizableText[]): void {
    for (const problem of problems) this.#log.warn(`MCP servers: ${inEnglish(problem)}`);
    const news = problems.filter((problem) => !this.#told.has(inEnglish(problem)));
    for (const problem of news) this.#told.add(inEnglish(problem));
    if (news.length === 0) return;
    const said = ownText('mcp-unavailable');
    this.#apply({ type: 'notice', own: true, severity: 'warning', title: '', said, description: lines(news) });
  }
}
