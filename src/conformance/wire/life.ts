// One process or connection of an agent, read from the wire: requests in both directions and their
// answers.
import { at } from '../../base/untrusted';
import type { WireLine } from './wireLog';

export interface Call {
  readonly line: WireLine;
  readonly id: unknown;
  readonly method: string;
  readonly params: unknown;
  readonly answer?: WireLine;
  readonly late?: WireLine;
}

export interface Life {
  readonly lines: readonly WireLine[];
  readonly calls: readonly Call[];
  readonly questions: readonly Call[];
  readonly ended?: WireLine;
  readonly strayAnswers: readonly WireLine[];
}

export function livesOf(lines: readonly WireLine[]): readonly Life[] {
  return [...Map.groupBy(lines, ({ life }) => life).values()].map(readLife);
}

function readLife(lines: readonly WireLine[]): Life {
  const calls: MutableCall[] = [];
  const questions: MutableCall[] = [];
  const strayAnswers: WireLine[] = [];
  let ended: WireLine | undefined;
  for (const line of lines) {
    const { message, note, dir } = line;
    if (note?.kind === 'ended') ended = line;
    else if (note) {
      const call = calls.find(({ id }) => id === note.id);
      if (call) call.late = line;
    }
    if (!message) continue;
    const [asked, answered] = dir === 'sent' ? [calls, questions] : [questions, calls];
    const { id, method, params } = message;
    if (typeof method === 'string') {
      if (id !== undefined) asked.push({ line, id, method, params });
      continue;
    }
    // The latest, because ids may be reused once answered. Another rule judges "1" for 1.
    const call = answered.findLast((one) => String(one.id) === String(id));
    if (call && !call.answer) call.answer = line;
    else if (dir === 'received') strayAnswers.push(line);
  }
  return { lines, calls, questions, strayAnswers, ended };
}

type MutableCall = { -readonly [K in keyof Call]: Call[K] };

export function resultOf({ answer }: Call): unknown {
  return at(answer?.message, 'error') === undefined ? at(answer?.message, 'result') : undefined;
}

export function succeeded({ answer }: Call): boolean {
  return answer !== undefined && at(answer.message, 'error') == null;
}

export function errorCode({ answer }: Call): number | undefined {
  const code = at(answer?.message, 'error', 'code');
  return typeof code === 'number' ? code : undefined;
}

export function sessionOfCall(call: Call): string | undefined {
  const id = at(call.params, 'sessionId') ?? at(resultOf(call), 'sessionId');
  return typeof id === 'string' ? id : undefined;
}
