// A conversation as plain JSON for the extension's API (`SessionSnapshot`): everything that the
// panel can show.
import { localize } from '../../base/localizable';
import { textOfBlocks } from '../../base/text';
import type { Liveness, SessionPhase } from '../../panel/contract';
import type { Barrier, StopReason } from '../../session/events/event';
import type { Entry } from '../../session/model/state';
import type { Conversation } from '../conversation/conversation';
import { gapText, noticeTexts } from './ownTexts';
import { phaseOf } from './projectSession';
import { waitReasonLabel } from './waitReasonLabels';

export interface SnapshotEntry {
  readonly id: string;
  readonly kind: 'user' | 'agent' | 'thought' | 'tool' | 'plan' | 'notice' | 'error' | 'gap';
  readonly turnId?: string;
  readonly late?: true;
  readonly text?: string;
  readonly tool?: {
    readonly id: string;
    readonly title: string;
    readonly kind?: string;
    readonly status: string;
    readonly content: readonly { readonly type: string }[];
    readonly locations: readonly { readonly path: string; readonly line?: number }[];
  };
}

export interface SessionSnapshot {
  readonly key: string;
  readonly agent: string;
  readonly sessionId?: string;
  readonly protocol: 1 | 2 | 'communication';
  readonly title?: string;
  readonly state: SessionPhase;
  readonly liveness: Liveness;
  readonly error?: { readonly code: string; readonly message: string; readonly stderr?: string };
  readonly entries: readonly SnapshotEntry[];
  readonly turns: readonly {
    readonly id: string;
    readonly origin: 'user' | 'agent';
    readonly stopReason?: StopReason;
    readonly barrier?: Barrier;
  }[];
  readonly queue: readonly {
    readonly id: string;
    readonly text: string;
    readonly state: 'queued' | 'sending' | 'accepted' | 'failed' | 'paused';
    readonly reason?: string;
  }[];
  readonly permissions: readonly {
    readonly id: string;
    readonly title: string;
    readonly options: readonly { readonly optionId: string; readonly name: string; readonly kind: string }[];
  }[];
  readonly questions: readonly { readonly id: string; readonly mode: 'form' | 'url'; readonly message: string }[];
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly config: readonly { readonly id: string; readonly name: string; readonly value: string | boolean }[];
  readonly usage?: { readonly used: number; readonly size: number };
  /** Files changed by the agent: those waiting for review, and the outcome of the others. */
  readonly changes: readonly {
    readonly path: string;
    readonly added: number;
    readonly removed: number;
    readonly state: 'unreviewed' | 'kept' | 'undone' | 'conflict';
  }[];
}

/** Takes time proportional to the conversation's length; for programs. */
export function snapshotOf(conversation: Conversation): SessionSnapshot {
  const { model, connection, queue } = conversation;
  const { state } = model;
  const error = connection.kind === 'failed' || connection.kind === 'exited' ? connection.error : undefined;
  return {
    key: conversation.key,
    agent: conversation.agent.id,
    protocol: conversation.link?.description.protocol ?? 1,
    state: phaseOf(conversation),
    liveness: conversation.liveness,
    entries: state.entries.filter((entry) => entry.kind !== 'turn_end').map(toEntry),
    turns: state.turns.map(({ id, origin, stopReason, barrier }) => ({
      id,
      origin,
      stopReason,
      barrier,
    })),
    queue: queue.items.map(({ id, text, state: itemState, reason }) => {
      const isPaused = itemState === 'queued' && queue.paused !== undefined;
      const why = reason ?? (isPaused ? queue.paused : undefined);
      return { id, text, state: isPaused ? 'paused' : itemState, reason: why ? waitReasonLabel(why) : undefined };
    }),
    permissions: [...state.permissions.values()].map(({ id, title, options }) => ({ id, title, options })),
    questions: [...state.elicitations.values()].map(({ id, mode, message }) => ({ id, mode, message })),
    commands: state.commands.map(({ name, description }) => ({ name, description })),
    config: state.config.map(({ id, name, value }) => ({ id, name, value })),
    changes: conversation.changes.reviewed(),
    sessionId: conversation.sessionId,
    title: state.title,
    usage: state.usage ? { used: state.usage.used, size: state.usage.size } : undefined,
    error: error && { code: error.code, message: error.message, stderr: error.stderr || undefined },
  };
}

function toEntry(entry: Entry): SnapshotEntry {
  const base = {
    id: entry.id,
    turnId: entry.turnId,
    late: entry.late ? (true as const) : undefined,
  };
  switch (entry.kind) {
    case 'tool': {
      const { toolCallId, title, toolKind, status, content, locations } = entry;
      return {
        ...base,
        kind: 'tool',
        tool: {
          id: toolCallId,
          title,
          kind: toolKind,
          status,
          content: content.map((part) => ({ ...part })),
          locations,
        },
      };
    }
    case 'plan':
      return {
        ...base,
        kind: 'plan',
        text: entry.markdown ?? entry.uri ?? entry.entries.map((item) => `[${item.status}] ${item.content}`).join('\n'),
      };
    case 'notice': {
      const { title, text } = noticeTexts(entry);
      return { ...base, kind: 'notice', text: [title, text, entry.detail].filter(Boolean).join('\n') };
    }
    case 'error':
      return { ...base, kind: entry.kind, text: localize(entry.text) };
    case 'gap':
      return { ...base, kind: entry.kind, text: gapText(entry) };
    case 'turn_end':
      return { ...base, kind: 'notice' };
    default: {
      const text = textOfBlocks(entry.content);
      return { ...base, kind: entry.kind, text };
    }
  }
}
