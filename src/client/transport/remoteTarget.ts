// Resolves a remote agent's entry: validates its URL, fills in secret headers, and asks for consent
// if nothing is encrypted.

import { isIP } from 'node:net';
import type { CommunicationAgent, RemoteAgent } from '../../agents/agentDefinition';
import { ParleyError } from '../../base/errors';
import { isHeaderName, isHeaderValue } from '../../base/httpHeader';
import { localizable } from '../../base/localizable';
import type { Log } from '../../base/log';

export interface RemoteAccess {
  /**
   * Returns a secret for one origin, after asking for it if needed.
   * @param origin scheme, host and port: secrets never go to another one
   * @returns undefined if the user gives none
   */
  secret(origin: string, name: string, agent: string, signal: AbortSignal): Promise<string | undefined>;
  /** Returns whether messages to this origin may go unencrypted; asks once per origin. */
  allowCleartext(origin: string, agent: string, signal: AbortSignal): Promise<boolean>;
}

export interface RemoteTarget {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

const SECRET = /\$\{secret:([\w.-]{1,100})\}/g;
/** Headers of HTTP or the protocol; setting them would break the connection. */
const OWN =
  /^(host|connection|upgrade|content-length|content-type|transfer-encoding|accept|accept-encoding|acp-.*|sec-.*)$/i;

/**
 * Validates a remote agent's entry and fills in its secrets, without network access.
 * @throws ParleyError `remote-url`, `remote-headers`, `remote-secret`, `remote-cleartext`; none
 * contains a secret
 */
export async function resolveRemote(
  agent: RemoteAgent | CommunicationAgent,
  access: RemoteAccess | undefined,
  signal: AbortSignal,
): Promise<RemoteTarget> {
  const url = new URL(agent.url);
  if (url.username !== '' || url.password !== '') {
    throw new ParleyError('remote-url', localizable('its “url” contains a user name or a password'), {
      hint: localizable('Remove it, and add an “Authorization” header with a secret to the agent in parley.agents.'),
    });
  }
  url.hash = '';
  const isClear = url.protocol === 'ws:' || url.protocol === 'http:';
  if (isClear && !isLoopback(url.hostname) && !(await access?.allowCleartext(url.origin, agent.name, signal))) {
    throw new ParleyError(
      'remote-cleartext',
      localizable("messages to {0} would not be encrypted, and you didn't allow that", url.host),
      {
        hint: localizable(
          'Use {0} in the “url” of the agent in parley.agents, or try again and allow it.',
          url.protocol === 'ws:' ? 'wss://' : 'https://',
        ),
      },
    );
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(agent.headers)) {
    if (!isHeaderName(name) || OWN.test(name)) {
      throw new ParleyError('remote-headers', localizable("the header “{0}” can't be set", name.slice(0, 50)), {
        hint: localizable('Remove it from the “headers” of the agent in parley.agents.'),
      });
    }
    const whole = await filled(value, url, agent, access, signal);
    if (!isHeaderValue(whole)) {
      throw new ParleyError(
        'remote-headers',
        localizable("the header “{0}” contains a line break or another character that headers can't have", name),
        {
          hint: localizable(
            'Check the “headers” of the agent in parley.agents. To enter their secrets again, clear the saved credentials with “Parley: Manage Agents…”.',
          ),
        },
      );
    }
    headers[name] = whole;
  }
  return { url, headers };
}

export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) === 4) return host.startsWith('127.');
  return host === '::1' || host === 'localhost' || host.endsWith('.localhost');
}

/** Removes the values of these headers from a text, and what follows a scheme like `Bearer`. */
export function scrubber(headers: Readonly<Record<string, string>>): (text: string) => string {
  const secrets = Object.values(headers)
    .flatMap((value) => [value, value.slice(value.indexOf(' ') + 1)])
    .filter((value) => value.length >= 6)
    .sort((one, other) => other.length - one.length);
  return (text) => secrets.reduce((clean, secret) => clean.replaceAll(secret, '[redacted]'), text);
}

async function filled(
  value: string,
  { origin, host }: URL,
  { name: agentName }: RemoteAgent | CommunicationAgent,
  access: RemoteAccess | undefined,
  signal: AbortSignal,
): Promise<string> {
  const found = new Map<string, string>();
  for (const [, name = ''] of value.matchAll(SECRET)) {
    const secret = found.get(name) ?? (await access?.secret(origin, name, agentName, signal));
    signal.throwIfAborted();
    if (secret === undefined) {
      throw new ParleyError('remote-secret', localizable('the secret “{0}” for {1} is missing', name, host), {
        hint: localizable('Try again to enter it.'),
      });
    }
    found.set(name, secret);
  }
  return value.replace(SECRET, (_whole, name: string) => found.get(name) ?? '');
}

export function scrubbedLog(log: Log, scrub: (text: string) => string): Log {
  return {
    trace: (message) => log.trace(scrub(message)),
    debug: (message) => log.debug(scrub(message)),
    info: (message) => log.info(scrub(message)),
    warn: (message) => log.warn(scrub(message)),
    error: (message) => log.error(scrub(message)),
  };
}
