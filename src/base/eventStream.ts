// Server-sent events as they arrive: bytes in, cut anywhere, the data of whole events out. Bounded, and read no faster than somebody takes them.
import { createParser } from 'eventsource-parser';
import { ParleyError } from './errors';

/** Characters of one event, its lines together; the largest message in base64 with all its siblings fits. */
const MAX_EVENT_CHARS = 16 * 1024 * 1024;

/**
 * The `data` of each event of an event stream (HTML standard, "Server-sent events"): any line ends, a byte order mark, comments, data of many lines, characters cut between
 * chunks. What is not yet complete when the stream ends was no event.
 * @param bytes the body, in chunks of any size @param maxChars of one event
 * @param onAlive called for each chunk, also where it holds no event: a comment is a sign of life
 * @throws ParleyError `event-too-large`; whatever the body throws
 */
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
      throw new ParleyError('event-too-large', `The server sent an event of more than ${maxChars} characters.`);
    }
  }
}
