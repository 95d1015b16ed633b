// Server-sent events as bytes that arrive, cut anywhere: the data of whole events comes out, up to a limit for one event.
import { createParser } from 'eventsource-parser';

/** Thrown where one event is longer than it may be. */
export class EventTooLarge extends Error {
  constructor() {
    super('an event is too long');
    this.name = 'EventTooLarge';
  }
}

/**
 * The `data` of each event of a stream (HTML standard, 9.2). Comments count as life but give nothing; an event that is not complete when the stream ends was none.
 * @param maxChars of one event
 * @param onAlive called for each piece that comes, also those that hold no event
 * @throws EventTooLarge; what the stream throws
 */
export async function* sseEvents(
  bytes: AsyncIterable<Uint8Array>,
  maxChars: number,
  onAlive: () => void,
): AsyncGenerator<string, void, undefined> {
  const ready: string[] = [];
  let isTooLarge = false;
  const parser = createParser({
    maxBufferSize: maxChars,
    onEvent: ({ data }) => ready.push(data),
    onError: ({ type }) => {
      isTooLarge ||= type === 'max-buffer-size-exceeded';
    },
  });
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for await (const chunk of bytes) {
    onAlive();
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* ready.splice(0);
    if (isTooLarge) throw new EventTooLarge();
  }
}
