// Computes the marks of turns from captured messages.
import type { TrafficEntry, WireMessage } from '../../traffic/trafficLog';
import type { MarkReader, TimedMark } from '../../traffic/turnTrace';
import { RecordedSession } from './recordedSession';

export class WireMarks implements MarkReader {
  readonly #session: RecordedSession;
  #seq = 0;
  #marks: TimedMark[] = [];

  constructor() {
    this.#session = new RecordedSession({
      note: () => undefined,
      onMark: ({ mark, at, message }) =>
        this.#marks.push({ ...mark, at, seq: message !== undefined ? this.#seq : undefined }),
    });
  }

  get dueAt(): number | undefined {
    return this.#session.dueAt;
  }

  read({ kind, at, seq }: Pick<TrafficEntry, 'kind' | 'at' | 'seq'>, message: WireMessage): readonly TimedMark[] {
    this.#seq = seq;
    this.#session.take({ fromAgent: kind === 'in', at, message }, at);
    return this.#marks.splice(0);
  }

  tick(now: number): readonly TimedMark[] {
    this.#session.pass(now);
    return this.#marks.splice(0);
  }
}
