// Reads descriptors from JSON, links and servers, and writes them as JSON and as links that open
// the session in an editor.

import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { MAX_DESCRIPTOR_BYTES, parseBounded, readSession, type SessionDescriptor } from '../model/model';
import { carriesSignature, expiryOf, isOnThisMachine } from '../model/resourceUrl';
import { type Guard, guardedGet } from './guard';

export type DescriptorSource =
  | { readonly kind: 'descriptor'; readonly descriptor: SessionDescriptor }
  | { readonly kind: 'address'; readonly url: string };

/** `vscode://parley.parley/session?d=…`; other editors have other schemes. */
const LINK = /^[a-z][a-z0-9+.-]*:\/\/parley\.parley\/session\?(.*)$/is;

/** @throws ParleyError `bad-descriptor`, `too-large`, `not-json`, `too-deep`, `invalid-data` */
export function parseDescriptor(input: unknown): DescriptorSource {
  if (typeof input !== 'string') return readDescriptor(input);
  const text = input.trim();
  if (text.startsWith('{')) return readDescriptor(parseBounded(text, MAX_DESCRIPTOR_BYTES));
  const query = LINK.exec(text)?.[1];
  if (query !== undefined) return readDescriptor(parseBounded(unpack(query), MAX_DESCRIPTOR_BYTES));
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return { kind: 'address', url: text };
  throw new ParleyError('bad-descriptor', localizable("This isn't a session link or a session descriptor."), {
    hint: localizable('Paste the text from Copy Session Link, or the address of a session on a server.'),
  });
}

/**
 * @throws as {@link parseDescriptor} and `guardedGet`; `session-not-found`, `session-locked` (401),
 * `session-denied` (403), `session-unavailable`
 */
export async function openDescriptor(input: unknown, guard: Guard, signal: AbortSignal): Promise<SessionDescriptor> {
  const source = parseDescriptor(input);
  if (source.kind === 'descriptor') return source.descriptor;
  const options = { guard, maxBytes: MAX_DESCRIPTOR_BYTES, timeoutMs: 10_000 };
  const { status, body } = await guardedGet(source.url, options, signal);
  const { host } = new URL(source.url);
  if (status === 404) throw new ParleyError('session-not-found', localizable("{0} doesn't have this session.", host));
  if (status === 401)
    throw new ParleyError('session-locked', localizable('{0} requires a token for this session.', host));
  if (status === 403) throw new ParleyError('session-denied', localizable('{0} denied access to this session.', host));
  if (status < 200 || status >= 300) {
    throw new ParleyError(
      'session-unavailable',
      localizable("{0} can't provide this session right now ({1}).", host, status),
    );
  }
  return readSession(parseBounded(body, MAX_DESCRIPTOR_BYTES), 'The descriptor');
}

export interface ExportedDescriptor {
  readonly text: string;
  readonly link: string;
  /** The link grants access to the messages without a sign-in: warn before copying. */
  readonly carriesSignatures: boolean;
  /** Number of URLs that work only on this machine. */
  readonly onThisMachine: number;
  /** Earliest expiry of the signed URLs, in milliseconds since 1970. */
  readonly expiresAt?: number;
}

export function exportDescriptor(descriptor: SessionDescriptor, scheme = 'vscode'): ExportedDescriptor {
  const urls = descriptor.state === undefined ? descriptor.history : [...descriptor.history, descriptor.state];
  const ends = urls.map(expiryOf).filter((end) => end !== undefined);
  const packed = deflateRawSync(JSON.stringify(descriptor)).toString('base64url');
  return {
    text: JSON.stringify(descriptor, undefined, 2),
    link: `${scheme}://parley.parley/session?d=${packed}`,
    carriesSignatures: urls.some(carriesSignature),
    onThisMachine: urls.filter(isOnThisMachine).length,
    expiresAt: ends.length > 0 ? Math.min(...ends) : undefined,
  };
}

function readDescriptor(value: unknown): DescriptorSource {
  return { kind: 'descriptor', descriptor: readSession(value, 'The descriptor') };
}

function unpack(query: string): Uint8Array {
  const packed = new URLSearchParams(query).get('d') ?? '';
  if (packed.length > 2 * MAX_DESCRIPTOR_BYTES)
    throw new ParleyError('too-large', localizable('The session link is too long.'));
  try {
    return inflateRawSync(Buffer.from(packed, 'base64url'), { maxOutputLength: MAX_DESCRIPTOR_BYTES });
  } catch {
    throw new ParleyError('bad-descriptor', localizable('The session link is damaged or incomplete.'), {
      hint: localizable('Copy the descriptor as text instead.'),
    });
  }
}
