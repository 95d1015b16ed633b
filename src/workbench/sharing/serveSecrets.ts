// The secrets of the local server, one of each for an installation: the token that callers show, and what signs the links to messages. Both live in VS Code's secret store.
import { randomBytes } from 'node:crypto';
import type { SecretStorage } from 'vscode';
import { mintToken } from '../../distributed/server/serverAuth';

const TOKEN = 'parley.server.token';
const SIGNING = 'parley.server.resourceSecret';

/** The bearer token of the server; made when it is first needed. */
export function serverToken(secrets: SecretStorage): Promise<string> {
  return keptOrMade(secrets, TOKEN, mintToken);
}

/** What signs the URLs of messages: 32 bytes, the same over restarts, so that a link of yesterday is known as ours. */
export async function signingSecret(secrets: SecretStorage): Promise<Uint8Array> {
  return Buffer.from(await keptOrMade(secrets, SIGNING, () => randomBytes(32).toString('base64')), 'base64');
}

async function keptOrMade(secrets: SecretStorage, key: string, make: () => string): Promise<string> {
  const known = await secrets.get(key);
  if (known) return known;
  const made = make();
  await secrets.store(key, made);
  // Another window may have made one at the same time; the store decides.
  return (await secrets.get(key)) ?? made;
}
