// An S3-compatible server of other people on loopback, from npm: it keeps objects as files and,
// unless told otherwise, refuses signatures that are wrong.
import { createRequire } from 'node:module';

type S3rver = new (
  options: object,
) => {
  run(): Promise<{ readonly port: number }>;
  close(): Promise<void>;
};

export interface BucketServerOptions {
  readonly directory: string;
  readonly port?: number;
  readonly takesAnySignature?: boolean;
}

export interface BucketServer {
  readonly port: number;
  close(): Promise<void>;
}

export const BUCKET = 'acp';
export const BUCKET_KEYS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

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
