// The S3 server of the stories, on a machine of its own.
import './clock';
import { mkdtempSync } from 'node:fs';
import { type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUCKET, BUCKET_KEYS, startBucketServer } from '../servers/bucketServer';
import { answerCalls } from './program';
import { weatheredServer } from './weather';

const { port } = await startBucketServer({ directory: mkdtempSync(join(tmpdir(), 'bucket-')) });
let puts = 0;

const front = await weatheredServer((request: IncomingMessage, response: ServerResponse) => {
  const { method, url, headers } = request;
  if (method === 'PUT') puts++;
  const onward = send({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  request.pipe(onward);
});

answerCalls({
  place: () => ({ port: front.port, bucket: BUCKET, keys: BUCKET_KEYS }),
  setWeather: front.setWeather,
  setConnected: front.setConnected,
  puts: () => puts,
});
