// Sessions that the agent runs for ours: their updates arrive on the same connection and are shown
// under the subagent's entry; their requests are answered like our own (protocol,
// "subagent_update"). A subagent can be stopped if the agent offers it; everything else is up to
// its parent.
import type { Dialect, PermissionAsk } from '../../acp/protocol/dialect';
import type { UpdateRouter } from '../../acp/protocol/earlyUpdates';
import type { Log } from '../../base/log';
import type { SessionEvent } from '../../session/events/event';
import type { Entry } from '../../session/model/state';
import { subagentCallId } from '../../session/model/subagents';
import { isEnded } from '../../session/model/tools';

const MAX_SUBAGENTS = 200;

export interface ParentAgent {
  readonly link: { readonly router: UpdateRouter };
  readonly dialect: Dialect;
}

export interface SubagentOptions {
  readonly agent: () => ParentAgent | undefined;
  readonly ownId: () => string | undefined;
  readonly apply: (event: SessionEvent) => void;
  readonly log: Log;
}

function callIdOf(sessionId: string, toolCallId: string): string {
  return `${subagentCallId(sessionId)} ${toolCallId}`;
}

export function askedBySubagent(asked: PermissionAsk, sessionId: string): PermissionAsk {
  if (asked.toolCallId === undefined) return asked;
  const toolCallId = callIdOf(sessionId, asked.toolCallId);
  return { ...asked, toolCallId, patch: { ...asked.patch, parent: subagentCallId(sessionId) } };
}

export class Subagents {
  /** Least recently active first; aborting one withdraws its open questions. */
  readonly #questionScopes = new Map<string, AbortController>();
  readonly #options: SubagentOptions;

  constructor(options: SubagentOptions) {
    this.#options = options;
  }

  /** Returns false for our own session, which an agent may name by mistake. */
  isSubagent(sessionId: string): boolean {
    return sessionId !== this.#options.ownId();
  }

  /** Also shows updates received earlier. */
  register(sessionId: string): void {
    const agent = this.#options.agent();
    if (!agent) return;
    if (this.#questionScopes.has(sessionId)) {
      this.#markActive(sessionId);
      return;
    }
    const [leastActive] = this.#questionScopes.keys();
    if (this.#questionScopes.size >= MAX_SUBAGENTS && leastActive !== undefined) {
      this.#questionScopes.delete(leastActive);
      agent.link.router.unregister(leastActive);
    }
    this.#questionScopes.set(sessionId, new AbortController());
    agent.link.router.register(sessionId, (updates) => this.#onUpdates(sessionId, updates, agent.dialect));
  }

  resume(entries: readonly Entry[]): void {
    this.#questionScopes.clear();
    for (const entry of entries)
      if (entry?.kind === 'tool' && entry.subagentId !== undefined && !isEnded(entry.status))
        this.register(entry.subagentId);
  }

  stopSignal(sessionId: string): AbortSignal | undefined {
    return this.#questionScopes.get(sessionId)?.signal;
  }

  callOf(id: string): { readonly sessionId: string; readonly toolCallId: string } | undefined {
    for (const sessionId of this.#questionScopes.keys()) {
      const prefix = callIdOf(sessionId, '');
      if (id.startsWith(prefix)) return { sessionId, toolCallId: id.slice(prefix.length) };
    }
    return undefined;
  }

  /** Sends `session/cancel` for one subagent, and withdraws its questions. */
  async stop(sessionId: string): Promise<void> {
    const agent = this.#options.agent();
    const questions = this.#questionScopes.get(sessionId);
    if (!agent || !questions) return;
    this.#questionScopes.set(sessionId, new AbortController());
    await agent.dialect.cancel(sessionId);
    questions.abort();
  }

  onAgentEnded(): void {
    if (this.#questionScopes.size === 0) return;
    this.#questionScopes.clear();
    this.#options.apply({ type: 'subagents_ended' });
  }

  #markActive(sessionId: string): void {
    const scope = this.#questionScopes.get(sessionId);
    if (!scope) return;
    this.#questionScopes.delete(sessionId);
    this.#questionScopes.set(sessionId, scope);
  }

  #onUpdates(sessionId: string, updates: readonly unknown[], dialect: Dialect): void {
    this.#markActive(sessionId);
    dialect.readUpdates(updates, {
      emit: (event) => this.#show(sessionId, event),
      onTurnComplete() {},
      onState: ({ state }) => this.#options.apply({ type: 'subagent', sessionId, state }),
      log: this.#options.log,
    });
  }

  #show(sessionId: string, event: SessionEvent): void {
    const { apply } = this.#options;
    switch (event.type) {
      case 'message_chunk': {
        const { block, messageId, role } = event;
        if (role !== 'agent' || block.type !== 'text') return;
        apply({ type: 'subagent_said', sessionId, text: block.text, messageId });
        return;
      }
      case 'tool_call': {
        const patch = { ...event.patch, parent: subagentCallId(sessionId) };
        apply({ ...event, toolCallId: callIdOf(sessionId, event.toolCallId), patch });
        return;
      }
      case 'tool_content':
        apply({ ...event, toolCallId: callIdOf(sessionId, event.toolCallId) });
        return;
      case 'subagent':
        if (event.sessionId === sessionId || !this.isSubagent(event.sessionId)) return;
        apply({
          ...event,
          parent: event.parent === undefined ? subagentCallId(sessionId) : callIdOf(sessionId, event.parent),
        });
        this.register(event.sessionId);
        return;
      case 'session_message':
        apply({ ...event, session: sessionId });
        return;
      case 'terminal':
        apply(event);
        return;
    }
  }
}
