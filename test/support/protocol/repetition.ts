// A session as it really was, as a client has it, and as an agent repeats it: in one of the many
// ways in which agents do.
import type { SessionEvent } from '../../../src/session/events/event';
import { SessionModel } from '../../../src/session/model/model';

export type Random = (below: number) => number;

type Part =
  | { readonly kind: 'agent' | 'thought'; readonly text: string }
  | { readonly kind: 'tool'; readonly id: string; readonly title: string; readonly input: string };

export interface PastTurn {
  readonly prompt: string;
  readonly parts: readonly Part[];
}

export interface RepeatManners {
  readonly messageIds: 'none' | 'same' | 'anew';
  readonly toolIds: 'same' | 'anew';
  readonly texts: 'joined' | 'pieces' | 'same';
  readonly tools: 'completed' | 'announced' | 'updated' | 'none';
  readonly placeholders: number;
  readonly preface: boolean;
  readonly thoughts: boolean;
  readonly otherSpace: boolean;
  readonly from: number;
}

export function randomManners(random: Random, turns: number): RepeatManners {
  const one = <T>(...all: readonly T[]): T => all[random(all.length)] as T;
  return {
    messageIds: one('none', 'same', 'anew'),
    toolIds: one('same', 'same', 'anew'),
    texts: one('joined', 'pieces', 'same'),
    tools: one('completed', 'announced', 'updated', 'none'),
    placeholders: random(3) === 0 ? turns - 1 : 0,
    preface: random(3) === 0,
    thoughts: random(3) > 0,
    otherSpace: random(3) === 0,
    from: random(4) === 0 ? random(turns) : 0,
  };
}

export function randomPast(random: Random, count: number): PastTurn[] {
  let number = 0;
  const words = (role: string): string =>
    Array.from({ length: 1 + random(8) }, () => `${role}${++number};`).join(random(3) === 0 ? '\n\n' : ' ');
  let tools = 0;
  return Array.from({ length: count }, (_, turn): PastTurn => {
    // Each turn says something: agents join messages of the user that nothing follows.
    const parts = Array.from({ length: 1 + random(6) }, (_part, index): Part => {
      const kind = index === 0 ? 2 : random(10);
      if (kind < 2) return { kind: 'thought', text: `${words('thought')} ` };
      if (kind < 6) return { kind: 'agent', text: `${words('agent')} ` };
      const id = ++tools;
      return { kind: 'tool', id: `call-${id}`, title: random(2) === 0 ? 'Shell' : `Read ${id}`, input: `input ${id}` };
    });
    return { prompt: turn > 0 && random(4) === 0 ? 'go on' : `prompt ${turn} ${words('user')}`, parts };
  });
}

const chunk = (role: 'user' | 'agent' | 'thought', text: string, messageId?: string): SessionEvent => ({
  type: 'message_chunk',
  role,
  block: { type: 'text', text },
  ...(messageId !== undefined && { messageId }),
});

const call = (part: Part & { kind: 'tool' }, id: string, status: 'pending' | 'completed'): SessionEvent => ({
  type: 'tool_call',
  toolCallId: id,
  patch: { title: part.title, kind: 'execute', status, rawInput: { of: part.input } },
  announced: status === 'pending',
});

/**
 * The transcript of a client that was there for the first turns, and lost the agent in the midst of
 * the last of them.
 * @param cut how many characters and calls of the last turn it has heard; undefined: all, and its
 * end
 */
export function knownTranscript(
  turns: readonly PastTurn[],
  random: Random,
  cut: number | undefined,
  ids: boolean,
): SessionModel {
  const model = new SessionModel();
  let message = 0;
  for (const [index, { prompt, parts }] of turns.entries()) {
    const turnId = `t${index + 1}`;
    let left = index === turns.length - 1 ? (cut ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
    model.apply({ type: 'turn_started', turnId, origin: 'user', at: 0 }, 0);
    model.apply({ type: 'prompt_sent', turnId, promptId: `q${index}`, content: [{ type: 'text', text: prompt }] }, 0);
    for (const part of parts) {
      const id = ids ? `m${++message}` : undefined;
      if (left <= 0) break;
      if (part.kind === 'tool') {
        model.apply(call(part, part.id, 'pending'), 0);
        if (--left > 0) model.apply(call(part, part.id, 'completed'), 0);
        left--;
      } else {
        for (const piece of pieces(part.text.slice(0, Math.min(part.text.length, left)), random))
          model.apply(chunk(part.kind, piece, id), 0);
        left -= part.text.length;
      }
    }
    const wasLost = index === turns.length - 1 && cut !== undefined;
    const end = wasLost
      ? ({ stopReason: 'error', barrier: 'exit' } as const)
      : ({ stopReason: 'end_turn', barrier: 'response' } as const);
    model.apply({ type: 'turn_ended', turnId, at: 0, ...end }, 0);
    if (wasLost) model.apply({ type: 'error', code: 'agent-exited', message: 'The agent exited.' }, 0);
  }
  return model;
}

export function repetition(turns: readonly PastTurn[], manners: RepeatManners, random: Random): SessionEvent[] {
  const events: SessionEvent[] =
    manners.preface && manners.from === 0
      ? [chunk('user', '<session_context>\nThis is the agent.', idOf(manners, 'preface'))]
      : [];
  const spaced = (text: string): string =>
    manners.otherSpace ? text.replaceAll(/\s+/g, (space) => (space === ' ' ? '\n' : ' ')) : text;
  let message = 0;
  let tools = 0;
  for (const [index, { prompt, parts }] of turns.entries()) {
    if (index < manners.from) continue;
    events.push(chunk('user', spaced(prompt), idOf(manners, `user ${prompt} ${++message}`)));
    const said = manners.texts === 'joined' ? joined(parts) : parts;
    for (const part of said) {
      if (part.kind === 'thought' && !manners.thoughts) continue;
      if (part.kind !== 'tool') {
        const list = manners.texts === 'pieces' ? pieces(part.text, random) : [part.text];
        const id = `${part.kind} ${++message}`;
        for (const [at, piece] of list.entries())
          events.push(
            chunk(part.kind, spaced(piece), idOf(manners, manners.messageIds === 'anew' ? `${id} ${at}` : id)),
          );
        continue;
      }
      const id = manners.toolIds === 'same' ? part.id : `call-${100 + ++tools}`;
      if (manners.tools === 'announced' || manners.tools === 'updated') events.push(call(part, id, 'pending'));
      if (manners.tools === 'completed' || manners.tools === 'updated') events.push(call(part, id, 'completed'));
      if (index < manners.placeholders)
        events.push(chunk('user', '[Function Response: run_shell]', idOf(manners, `response ${++message}`)));
    }
  }
  return events;
}

function idOf({ messageIds }: RepeatManners, name: string): string | undefined {
  return messageIds === 'none' ? undefined : `${messageIds} ${name}`;
}

function joined(parts: readonly Part[]): Part[] {
  const seen = new Set<string>();
  return parts.flatMap((part): Part[] => {
    if (part.kind === 'tool') return [part];
    if (seen.has(part.kind)) return [];
    seen.add(part.kind);
    const text = parts.map((one) => (one.kind === part.kind ? (one as { text: string }).text : '')).join('');
    return [{ kind: part.kind, text }];
  });
}

function pieces(text: string, random: Random): string[] {
  const list: string[] = [];
  for (let at = 0; at < text.length; ) {
    const length = 1 + random(30);
    list.push(text.slice(at, at + length));
    at += length;
  }
  return list;
}
