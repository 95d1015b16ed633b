// Reads server-sent events from bytes. Bounded; reads only as fast as events are consumed.

import { createParser } from 'eventsource-parser';
import { ParleyError } from './errors';
import { localizable } from './localizable';

/** Maximum characters of one event. Fits the largest message in base64. */
const MAX_EVENT_CHARS = 16 * 1024 * 1024;

/** Yields `data` (HTML standard, "Server-sent events"). Throws ParleyError `event-too-large`. */
export async function* readEventStream(
  bytes: AsyncIterable<Uint8Array>,
  maxChars = MAX_EVENT_CHARS,
  onAlive: () => void = () => {},
): AsyncGenerator<string, void, undefined> {
  const ready: string[] = [];
  let tooLarge = false;
  const parser = createParser({
    maxBufferSize: maxChars,
    onEvent: ({ data }) => ready.push(data),
    onError: ({ type }) => {
      tooLarge ||= type === 'max-buffer-size-exceeded';
    },
  });
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for await (const chunk of bytes) {
    onAlive();
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* ready.splice(0);
    if (tooLarge) {
      throw new ParleyError(
        'event-too-large',
        localizable('The server sent an event of more than {0} characters.', maxChars),
      );
    }
  }
}
