// What the user changes in the running agent: its mode and options, and one thing of it that is
// stopped.
import { required } from '../../acp/protocol/dialect';
import type { StopTarget } from '../../panel/contract';
import type { SessionEvent } from '../../session/events/event';
import type { OpenedSession } from '../ports/agentLink';
import type { Subagents } from '../requests/subagents';

export interface AgentControlsOptions {
  /** The session that is ready. @throws ParleyError `no-session` */
  readonly ready: () => OpenedSession;
  readonly subagents: Pick<Subagents, 'stop' | 'callOf'>;
  readonly apply: (event: SessionEvent) => void;
}

/** Each method throws ParleyError `no-session`, and what the agent answers. */
export class AgentControls {
  readonly #options: AgentControlsOptions;
  /** Called when the user has set an option. */
  onChoose: ((id: string, value: string | boolean) => void) | undefined;

  constructor(options: AgentControlsOptions) {
    this.#options = options;
  }

  /** Asks the agent to stop one tool call, one terminal or one subagent. */
  async stopOne({ kind, id }: StopTarget): Promise<void> {
    const { link, sessionId } = this.#options.ready();
    if (kind === 'subagent') return this.#options.subagents.stop(id);
    const controls = required(link.dialect.controls);
    const ofSubagent = kind === 'tool' ? this.#options.subagents.callOf(id) : undefined;
    if (ofSubagent) return controls.cancelTool(ofSubagent.sessionId, ofSubagent.toolCallId);
    return kind === 'tool' ? controls.cancelTool(sessionId, id) : controls.cancelTerminal(sessionId, id);
  }

  async setMode(modeId: string): Promise<void> {
    const { link, sessionId } = this.#options.ready();
    await required(link.dialect.controls).setMode(sessionId, modeId);
    this.#options.apply({ type: 'mode', current: modeId });
  }

  /** @param isRestored the user has not just chosen it */
  async setConfigOption(id: string, value: string | boolean, isRestored = false): Promise<void> {
    const { link, sessionId } = this.#options.ready();
    const options = await required(link.dialect.controls).setConfigOption(sessionId, id, value);
    if (options) this.#options.apply({ type: 'config', options });
    if (!isRestored) this.onChoose?.(id, value);
  }
}
