// One process or connection of an agent, read from the wire: who asked what, and how it was answered.
import { at } from '../../base/untrusted';
import type { WireLine } from './wireLog';

/** A request with its answer, in either direction. */
export interface Call {
  readonly line: WireLine;
  readonly id: unknown;
  readonly method: string;
  readonly params: unknown;
  readonly answer?: WireLine;
  /** The note that the answer did not come in time. */
  readonly late?: WireLine;
}

export interface Life {
  readonly lines: readonly WireLine[];
  /** Requests of the client. */
  readonly calls: readonly Call[];
  /** Requests of the agent. */
  readonly questions: readonly Call[];
  /** Set if the agent ended without being asked to. */
  readonly ended?: WireLine;
  /** Answers of the agent to no request, or to one that was answered already. */
  readonly strayAnswers: readonly WireLine[];
}

/** Returns the processes of an agent. */
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
    // The newest: a client may use an id again once it is answered. "1" for 1 is noticed by its own rule.
    const call = answered.findLast((one) => String(one.id) === String(id));
    if (call && !call.answer) call.answer = line;
    else if (dir === 'received') strayAnswers.push(line);
  }
  return { lines, calls, questions, strayAnswers, ended };
}

type MutableCall = { -readonly [K in keyof Call]: Call[K] };

/** Returns the result of a call that succeeded; undefined if it failed or has no answer. */
export function resultOf({ answer }: Call): unknown {
  return at(answer?.message, 'error') === undefined ? at(answer?.message, 'result') : undefined;
}

/** Returns whether a call was answered with a result. */
export function succeeded({ answer }: Call): boolean {
  return answer !== undefined && at(answer.message, 'error') == null;
}

/** Returns the code of the error that a call was answered with; undefined if it was none. */
export function errorCode({ answer }: Call): number | undefined {
  const code = at(answer?.message, 'error', 'code');
  return typeof code === 'number' ? code : undefined;
}

/** Returns the session that a call is about, or that it has opened. */
export function sessionOfCall(call: Call): string | undefined {
  const id = at(call.params, 'sessionId') ?? at(resultOf(call), 'sessionId');
  return typeof id === 'string' ? id : undefined;
}
