// Explains why a remote agent cannot be reached or was lost: the host, what it did and what helps.
// Never contains a path, a query string or a header.
import { STATUS_CODES } from 'node:http';
import { messageOf, ParleyError } from '../../base/errors';
import { oneLine } from '../../base/text';

/**
 * The connection was there and is gone; a new one may work. Every other code of this file needs the
 * user first.
 */
export const REMOTE_LOST = 'remote-lost';

interface Explanation {
  readonly code: string;
  readonly did: string;
  readonly hint: string;
}

const BY_STATUS: Readonly<Record<number, Explanation>> = {
  401: {
    code: 'remote-unauthorized',
    did: 'does not accept the credentials, or wants some',
    hint: 'Check the “headers” of the agent in parley.agents. “Parley: Clear Saved Credentials” makes Parley ask for the secrets in them again.',
  },
  403: {
    code: 'remote-forbidden',
    did: 'refuses access',
    hint: 'Check that these credentials may use the agent, and the “headers” of the agent in parley.agents.',
  },
  404: {
    code: 'remote-not-found',
    did: 'has no agent at this address',
    hint: 'Check the path in the “url” of the agent in parley.agents; it often ends with /acp.',
  },
  407: {
    code: 'remote-proxy',
    did: 'cannot be reached because the proxy wants credentials',
    hint: 'Check the proxy in the settings of VS Code (http.proxy).',
  },
  410: {
    code: 'remote-not-found',
    did: 'no longer has an agent at this address',
    hint: 'Ask whoever runs it for the new address, and change the “url” in parley.agents.',
  },
  426: {
    code: 'remote-rejected',
    did: 'wants another protocol',
    hint: 'Try the same “url” with ws:// or wss://, or with http:// or https://.',
  },
  429: {
    code: 'remote-rejected',
    did: 'gets too many requests',
    hint: 'Wait a little, then try again.',
  },
};

const BY_NETWORK: Readonly<Record<string, Explanation>> = {
  ECONNREFUSED: {
    code: 'remote-unreachable',
    did: 'accepts no connections',
    hint: 'Check that the agent runs and that host and port in parley.agents are right.',
  },
  ENOTFOUND: {
    code: 'remote-unreachable',
    did: 'is not a known host',
    hint: 'Check the host in the “url” of the agent in parley.agents, and the network.',
  },
  EAI_AGAIN: {
    code: 'remote-unreachable',
    did: 'cannot be looked up now',
    hint: 'Check the network, then try again.',
  },
};

const UNTRUSTED_CERTIFICATE =
  'Have its certificate renewed, or trust the authority that signed it in the certificates of the system.';

/** The host, with its port, as errors and logs name it. */
export function hostOf(url: URL): string {
  return url.host;
}

/**
 * An answer with a status that ends the attempt. Redirects are never followed: the headers are for
 * this host only.
 */
export function statusError(url: URL, status: number): ParleyError {
  const answer = `${status}${STATUS_CODES[status] ? ` ${STATUS_CODES[status]}` : ''}`;
  if (status >= 300 && status < 400) {
    return new ParleyError(
      'remote-redirect',
      `${hostOf(url)} sends to another address (${answer}), which is not followed`,
      {
        hint: 'Put the address that it leads to into the “url” of the agent in parley.agents, if you trust it.',
      },
    );
  }
  const words = BY_STATUS[status];
  const did = words?.did ?? (status >= 500 ? 'has a problem of its own' : 'does not take the request');
  return new ParleyError(words?.code ?? 'remote-rejected', `${hostOf(url)} ${did} (${answer})`, {
    hint: words?.hint ?? (status >= 500 ? 'Try again later.' : 'Check the “url” of the agent in parley.agents.'),
  });
}

/** What the network or TLS said. An error that is told already is given back as it is. */
export function networkError(url: URL, error: unknown): ParleyError {
  if (error instanceof ParleyError) return error;
  const code = codeOf(error);
  const words = BY_NETWORK[code];
  if (words) return new ParleyError(words.code, `${hostOf(url)} ${words.did}`, { hint: words.hint, cause: error });
  if (code === 'ERR_INVALID_CHAR' || code === 'ERR_INVALID_HTTP_TOKEN') {
    return new ParleyError('remote-headers', `one of the headers for ${hostOf(url)} holds a character that none may`, {
      hint: 'Check the “headers” of the agent in parley.agents, and the secrets in them.',
    });
  }
  if (/CERT|SIGNATURE|^ERR_TLS|^ERR_SSL|^EPROTO$|SELF_SIGNED/.test(code)) {
    return new ParleyError('remote-tls', `the secure connection to ${hostOf(url)} failed: ${tlsWords(code, error)}`, {
      hint: code === 'EPROTO' || code.startsWith('ERR_SSL') ? 'Check whether it speaks TLS.' : UNTRUSTED_CERTIFICATE,
      cause: error,
    });
  }
  return lostError(url, code === 'ECONNRESET' ? 'broke off the connection' : `is out of reach (${reasonOf(error)})`);
}

/** The connection is gone. @param did what the server did, in words that follow its name */
export function lostError(url: URL, did: string): ParleyError {
  return new ParleyError(REMOTE_LOST, `${hostOf(url)} ${did}`, {
    hint: 'Check the network and the agent, then reconnect.',
  });
}

/** The same failure of a connection that was there before. */
export function asLost({ message, hint, cause }: ParleyError): ParleyError {
  return new ParleyError(REMOTE_LOST, message, { ...(hint && { hint }), cause });
}

/** What a server sent breaks the rules. @param did in words that follow its name */
export function answerError(url: URL, did: string): ParleyError {
  return new ParleyError('remote-answer', `${hostOf(url)} ${did}`, {
    hint: 'Check that the “url” in parley.agents is the address of an agent that speaks the Agent Client Protocol.',
  });
}

function codeOf(error: unknown): string {
  // Several addresses of one host: Node tries all and gives the failures together.
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const { code } = (first ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

function reasonOf(error: unknown): string {
  return codeOf(error) || oneLine(messageOf(error));
}

function tlsWords(code: string, error: unknown): string {
  if (code === 'CERT_HAS_EXPIRED') return 'its certificate has expired';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'its certificate is for another host';
  if (/SELF_SIGNED/.test(code)) return 'its certificate is signed by itself';
  if (/SIGNATURE|ISSUER/.test(code)) return 'nobody known has signed its certificate';
  return reasonOf(error);
}
