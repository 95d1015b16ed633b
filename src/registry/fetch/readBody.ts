// Reads the body of an answer within a limit.
import type { IncomingMessage } from 'node:http';

/**
 * Returns the body as UTF-8 text, and closes the connection.
 * @param maxBytes what it may take; more is not read
 * @throws the error of `tooLarge`; what the connection reports; an error where `signal` aborts
 */
export async function readBody(
  response: IncomingMessage,
  maxBytes: number,
  tooLarge: () => Error,
  signal: AbortSignal,
): Promise<string> {
  const abort = (): void => {
    response.destroy(new Error('aborted'));
  };
  signal.addEventListener('abort', abort, { once: true });
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
    return Buffer.concat(chunks, size).toString('utf8');
  } finally {
    signal.removeEventListener('abort', abort);
    response.destroy();
  }
}
