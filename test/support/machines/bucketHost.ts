// The S3 server of the stories, on a separate machine.
import './clock';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUCKET, BUCKET_KEYS, startBucketServer } from '../servers/bucketServer';
import { answerCalls } from './program';
import { forward, weatheredServer } from './weather';

const { port } = await startBucketServer({ directory: mkdtempSync(join(tmpdir(), 'bucket-')) });
let puts = 0;

const front = await weatheredServer((request, response) => {
  if (request.method === 'PUT') puts++;
  forward(port, request, response);
});

answerCalls({
  place: () => ({ port: front.port, bucket: BUCKET, keys: BUCKET_KEYS }),
  setWeather: front.setWeather,
  setConnected: front.setConnected,
  puts: () => puts,
});
