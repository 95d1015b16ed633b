// An S3-compatible server of other people on loopback, from npm: it keeps objects as files and, unless told otherwise, refuses signatures that are wrong.
import { createRequire } from 'node:module';

type S3rver = new (
  options: object,
) => {
  run(): Promise<{ readonly port: number }>;
  close(): Promise<void>;
};

export interface BucketServerOptions {
  /** For the objects; the caller removes it. */
  readonly directory: string;
  /** A free one by default. */
  readonly port?: number;
  /** Takes any signature of a key that it knows. Its own check is wrong for buckets in the host name. */
  readonly takesAnySignature?: boolean;
}

export interface BucketServer {
  readonly port: number;
  close(): Promise<void>;
}

/** The bucket that the server has. */
export const BUCKET = 'acp';
/** The only keys that the server knows. */
export const BUCKET_KEYS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

/** Starts the server; it has the bucket at `http://127.0.0.1:port/acp` and at `http://acp.s3.localhost:port`. */
export async function startBucketServer({
  directory,
  port: wanted = 0,
  takesAnySignature = false,
}: BucketServerOptions): Promise<BucketServer> {
  const Server = createRequire(import.meta.url)('@20minutes/s3rver') as S3rver;
  const server = new Server({
    port: wanted,
    address: '127.0.0.1',
    serviceEndpoint: 'localhost',
    silent: true,
    directory,
    configureBuckets: [{ name: BUCKET }],
    allowMismatchedSignatures: takesAnySignature,
  });
  const { port } = await server.run();
  return { port, close: () => server.close() };
}
