// What the user changes in the running agent: its mode and options, and one thing of it that is
// stopped.
import { required } from '../../acp/protocol/dialect';
import type { StopTarget } from '../../panel/contract';
import type { OpenedSession } from '../ports/agentLink';
import type { Subagents } from '../requests/subagents';
import type { Choices } from './choices';

/** Each method throws ParleyError `no-session`, and what the agent answers. */
export class AgentControls {
  readonly #ready: () => OpenedSession;
  readonly #subagents: Pick<Subagents, 'stop' | 'callOf'>;
  readonly #choices: Pick<Choices, 'setMode' | 'setOption'>;

  /** @param ready returns the session that is ready. Throws ParleyError `no-session` */
  constructor(
    ready: () => OpenedSession,
    subagents: Pick<Subagents, 'stop' | 'callOf'>,
    choices: Pick<Choices, 'setMode' | 'setOption'>,
  ) {
    this.#ready = ready;
    this.#subagents = subagents;
    this.#choices = choices;
  }

  /** Asks the agent to stop one tool call, one terminal or one subagent. */
  async stopOne({ kind, id }: StopTarget): Promise<void> {
    const { link, sessionId } = this.#ready();
    if (kind === 'subagent') return this.#subagents.stop(id);
    const controls = required(link.dialect.controls);
    const ofSubagent = kind === 'tool' ? this.#subagents.callOf(id) : undefined;
    if (ofSubagent) return controls.cancelTool(ofSubagent.sessionId, ofSubagent.toolCallId);
    return kind === 'tool' ? controls.cancelTool(sessionId, id) : controls.cancelTerminal(sessionId, id);
  }

  setMode(modeId: string): Promise<void> {
    return this.#choices.setMode(modeId);
  }

  setConfigOption(id: string, value: string | boolean): Promise<void> {
    return this.#choices.setOption(id, value);
  }
}
