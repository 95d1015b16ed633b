// Our server with the agents of the tests, and requests as no client would send them.
import { request } from 'node:http';
import { readMessage } from '../../../../src/distributed/model/model';
import { removeScratch } from '../../../support/scratch';
import {
  artifact,
  awaiting,
  echo,
  endless,
  failing,
  type RunningServer,
  serve,
  slowWords,
  stopServers,
  textIn,
} from '../../../support/servers/servedAgents';

export const AGENTS = [echo, awaiting, failing, artifact, endless, slowWords];

export function eachServer(take: (running: RunningServer) => void): void {
  beforeEach(async () => take(await serve(AGENTS)));
  afterEach(async () => {
    await stopServers();
    await removeScratch();
  });
}

export async function textAt(url: string | URL): Promise<string> {
  return textIn(readMessage(await (await fetch(url)).json()));
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/**
 * A request with nothing added: `fetch` would set a content type, and refuses to forge Host and
 * Origin.
 */
export function raw(
  { baseUrl, token }: RunningServer,
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: string } = {},
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(baseUrl);
    const sent = { authorization: `Bearer ${token}`, ...headers };
    const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== ''));
    const outgoing = request({ host: '127.0.0.1', port, method, path, headers: given }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    outgoing.on('error', reject).end(body);
  });
}

export const runBody = (agent: string, fields: object = {}) =>
  JSON.stringify({ agent_name: agent, input: [{ parts: [{ content: 'x' }] }], ...fields });
