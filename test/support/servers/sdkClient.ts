// The client of the Agent Communication Protocol from npm, for tests of our server.
import { createRequire } from 'node:module';
import type { Client } from 'acp-sdk';
import type { RunningServer } from './servedAgents';

export const sdk = createRequire(`${process.cwd()}/package.json`)('acp-sdk') as typeof import('acp-sdk');

export function sdkClient({ baseUrl, token }: Pick<RunningServer, 'baseUrl' | 'token'>): Client {
  return new sdk.Client({
    baseUrl,
    fetch: (url, init) => {
      const headers = new Headers(init?.headers);
      headers.set('authorization', `Bearer ${token}`);
      return fetch(url, { ...init, headers });
    },
  });
}

export async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const event of events) list.push(event);
  return list;
}
