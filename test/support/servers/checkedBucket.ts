// A bucket on loopback behind a judge of our own: it looks at each signature by the algorithm as
// Amazon publishes it ("Signature Version 4 for API requests"), and not by the library that signs,
// before a server of other people keeps the object.
import { createHash, createHmac } from 'node:crypto';
import { type IncomingMessage, request as send } from 'node:http';
import type { S3Keys } from '../../../src/distributed/stores/s3Signer';
import { BUCKET, BUCKET_KEYS, startBucketServer } from './bucketServer';
import { httpLoopback } from './loopback';

export interface CheckedBucket {
  readonly endpoint: string;
  /** An endpoint that can have the name of the bucket in front of its host. */
  readonly namedEndpoint: string;
  readonly bucket: string;
  readonly keys: S3Keys;
  close(): Promise<void>;
}

interface Claim {
  readonly accessKeyId: string;
  readonly scope: string;
  readonly time: string;
  readonly signedHeaders: readonly string[];
  readonly payload: string;
  readonly signature: string;
}

export async function checkedBucket(directory: string): Promise<CheckedBucket> {
  const store = await startBucketServer({ directory, takesAnySignature: true });
  const front = await httpLoopback(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const problem = judge(request, body, BUCKET_KEYS);
    if (problem !== undefined) {
      response.writeHead(403, { 'content-type': 'application/xml' });
      response.end(`<?xml version="1.0"?><Error><Code>${problem}</Code><Message>no</Message></Error>`);
      return;
    }
    const { method, url, headers } = request;
    const onward = send({ host: '127.0.0.1', port: store.port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    onward.end(body);
  });
  return {
    endpoint: `http://${front.host}`,
    bucket: BUCKET,
    keys: BUCKET_KEYS,
    namedEndpoint: `http://s3.localhost:${front.host.split(':')[1]}`,
    async close() {
      await front.close();
      await store.close();
    },
  };
}

function judge(request: IncomingMessage, body: Buffer, keys: S3Keys): string | undefined {
  const url = new URL(request.url ?? '', 'http://host');
  const claim = claimIn(request, url);
  if (!claim) return 'AccessDenied';
  if (claim.accessKeyId !== keys.accessKeyId) return 'InvalidAccessKeyId';
  if (claim.payload !== 'UNSIGNED-PAYLOAD' && claim.payload !== sha256(body)) return 'XAmzContentSHA256Mismatch';
  const canonical = [
    request.method,
    url.pathname
      .split('/')
      .map((part) => encode(decodeURIComponent(part)))
      .join('/'),
    [...url.searchParams]
      .filter(([name]) => name !== 'X-Amz-Signature')
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .sort()
      .join('&'),
    ...claim.signedHeaders.map(
      (name) =>
        `${name}:${String(request.headers[name] ?? '')
          .trim()
          .replace(/ +/g, ' ')}`,
    ),
    '',
    claim.signedHeaders.join(';'),
    claim.payload,
  ].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', claim.time, claim.scope, sha256(canonical)].join('\n');
  const key = claim.scope
    .split('/')
    .reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${keys.secretAccessKey}`);
  return hmac(key, toSign).toString('hex') === claim.signature ? undefined : 'SignatureDoesNotMatch';
}

function claimIn({ headers }: IncomingMessage, { searchParams }: URL): Claim | undefined {
  const parts = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+),\s*SignedHeaders=([^,]+),\s*Signature=([0-9a-f]+)$/.exec(
    headers.authorization ?? '',
  );
  const [, accessKeyId = '', scope = '', names = '', signature = ''] = parts ?? [];
  if (parts) {
    const payload = String(headers['x-amz-content-sha256'] ?? '');
    const time = String(headers['x-amz-date'] ?? '');
    return { accessKeyId, scope, time, signedHeaders: names.split(';'), payload, signature };
  }
  const credential = searchParams.get('X-Amz-Credential');
  if (credential === null) return undefined;
  const at = credential.indexOf('/');
  return {
    accessKeyId: credential.slice(0, at),
    scope: credential.slice(at + 1),
    time: searchParams.get('X-Amz-Date') ?? '',
    signedHeaders: (searchParams.get('X-Amz-SignedHeaders') ?? '').split(';'),
    payload: 'UNSIGNED-PAYLOAD',
    signature: searchParams.get('X-Amz-Signature') ?? '',
  };
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex');
}

function hmac(key: string | Buffer, data: string): Buffer {
  return createHmac('sha256', key).update(data).digest();
}
