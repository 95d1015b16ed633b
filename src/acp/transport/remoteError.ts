// Errors of remote agents that can't be reached or were lost: the host, what it did, and what
// helps. Never contain a path, query string or header.
import { STATUS_CODES } from 'node:http';
import { messageOf, ParleyError } from '../../base/errors';
import { framed, type Localizable, type LocalizableText, localizable } from '../../base/localizable';
import { redact } from '../../base/redact';
import { oneLine } from '../../base/text';

/** The connection was lost; a new one may work. */
export const REMOTE_LOST = 'remote-lost';

interface RemoteFailure {
  readonly code: string;
  readonly message: (host: string) => Localizable;
  readonly hint: () => Localizable;
}

const BY_STATUS: Readonly<Record<number, RemoteFailure>> = {
  401: {
    code: 'remote-unauthorized',
    message: (host) => localizable('{0} requires valid credentials', host),
    hint: () =>
      localizable(
        'Check the “headers” of the agent in parley.agents. To enter their secrets again, clear the saved credentials with “Parley: Manage Agents…”.',
      ),
  },
  403: {
    code: 'remote-forbidden',
    message: (host) => localizable('{0} denied access', host),
    hint: () =>
      localizable('Check that these credentials may use the agent, and the “headers” of the agent in parley.agents.'),
  },
  404: {
    code: 'remote-not-found',
    message: (host) => localizable('{0} has no agent at this address', host),
    hint: () => localizable('Check the path in the “url” of the agent in parley.agents. It often ends with /acp.'),
  },
  407: {
    code: 'remote-proxy',
    message: (host) => localizable("{0} can't be reached because the proxy requires credentials", host),
    hint: () => localizable('Check the proxy in the settings of VS Code (http.proxy).'),
  },
  410: {
    code: 'remote-not-found',
    message: (host) => localizable('{0} no longer has an agent at this address', host),
    hint: () => localizable('Ask the operator for the new address and change the “url” in parley.agents.'),
  },
  426: {
    code: 'remote-rejected',
    message: (host) => localizable('{0} requires another protocol', host),
    hint: () => localizable('Try the same “url” with ws:// or wss://, or with http:// or https://.'),
  },
  429: {
    code: 'remote-rejected',
    message: (host) => localizable('{0} received too many requests', host),
    hint: () => localizable('Wait a moment, then try again.'),
  },
};

const BY_NETWORK: Readonly<Record<string, RemoteFailure>> = {
  ECONNREFUSED: {
    code: 'remote-unreachable',
    message: (host) => localizable('{0} refuses connections', host),
    hint: () => localizable('Check that the agent is running and that host and port in parley.agents are correct.'),
  },
  ENOTFOUND: {
    code: 'remote-unreachable',
    message: (host) => localizable('the host {0} is unknown', host),
    hint: () => localizable('Check the host in the “url” of the agent in parley.agents, and the network.'),
  },
  EAI_AGAIN: {
    code: 'remote-unreachable',
    message: (host) => localizable("the name {0} can't be resolved", host),
    hint: () => localizable('Check the network, then try again.'),
  },
};

const SERVER_FAILED: RemoteFailure = {
  code: 'remote-rejected',
  message: (host) => localizable('{0} reported a server error', host),
  hint: () => localizable('Try again later.'),
};

const REJECTED: RemoteFailure = {
  code: 'remote-rejected',
  message: (host) => localizable('{0} rejected the request', host),
  hint: () => localizable('Check the “url” of the agent in parley.agents.'),
};

/** Redirects are never followed, because the headers are for this host only. */
export function statusError(url: URL, status: number, words = ''): ParleyError {
  const answer = `${status}${STATUS_CODES[status] ? ` ${STATUS_CODES[status]}` : ''}`;
  if (status >= 300 && status < 400) {
    const message = localizable(
      "{0} redirects to another address ({1}), which Parley doesn't follow",
      url.host,
      answer,
    );
    return new ParleyError('remote-redirect', message, {
      hint: localizable('If you trust the new address, set it as the “url” of the agent in parley.agents.'),
    });
  }
  const { code, message, hint } = BY_STATUS[status] ?? (status >= 500 ? SERVER_FAILED : REJECTED);
  const refused = framed('{0} ({1})', message(url.host), answer);
  // A refusal of credentials may repeat them.
  const isIncluded = words !== '' && status !== 401 && status !== 407;
  return new ParleyError(code, isIncluded ? framed('{0}: {1}', refused, redact(words)) : refused, { hint: hint() });
}

export function networkError(url: URL, error: unknown): ParleyError {
  if (error instanceof ParleyError) return error;
  const code = codeOf(error);
  const failure = BY_NETWORK[code];
  if (failure) return new ParleyError(failure.code, failure.message(url.host), { hint: failure.hint(), cause: error });
  if (code === 'ERR_INVALID_CHAR' || code === 'ERR_INVALID_HTTP_TOKEN') {
    return new ParleyError('remote-headers', localizable('a header for {0} contains an invalid character', url.host), {
      hint: localizable('Check the “headers” of the agent in parley.agents, and the secrets in them.'),
    });
  }
  if (/CERT|SIGNATURE|^ERR_TLS|^ERR_SSL|^EPROTO$|SELF_SIGNED/.test(code)) {
    const message = localizable('the secure connection to {0} failed: {1}', url.host, tlsReason(code, error));
    return new ParleyError('remote-tls', message, {
      hint:
        code === 'EPROTO' || code.startsWith('ERR_SSL')
          ? localizable('Check that the server supports TLS.')
          : localizable('Have the certificate renewed, or trust its issuer in the certificates of the system.'),
      cause: error,
    });
  }
  return lostError(
    code === 'ECONNRESET'
      ? localizable('{0} dropped the connection', url.host)
      : localizable("{0} can't be reached ({1})", url.host, reasonOf(error)),
  );
}

export function lostError(message: Localizable): ParleyError {
  return new ParleyError(REMOTE_LOST, message, {
    hint: localizable('Check the network and the agent, then reconnect.'),
  });
}

export function asLost({ texts: { message, ...hint }, cause }: ParleyError): ParleyError {
  return new ParleyError(REMOTE_LOST, message, { ...hint, cause });
}

export function answerError(message: Localizable): ParleyError {
  return new ParleyError('remote-answer', message, {
    hint: localizable('Check that the “url” in parley.agents is the address of an Agent Client Protocol agent.'),
  });
}

export function tooLargeError(url: URL, maxBytes: number): ParleyError {
  const limit = Math.ceil(maxBytes / 1024);
  const message = localizable('{0} sent a message that exceeds the maximum size of {1} KiB', url.host, limit);
  return new ParleyError('message-too-large', message);
}

function codeOf(error: unknown): string {
  // Node tries all addresses of a host and combines the failures.
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const { code } = (first ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

function reasonOf(error: unknown): string {
  return codeOf(error) || oneLine(messageOf(error));
}

function tlsReason(code: string, error: unknown): LocalizableText {
  if (code === 'CERT_HAS_EXPIRED') return localizable('the certificate has expired');
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return localizable('the certificate is for another host');
  if (/SELF_SIGNED/.test(code)) return localizable('the certificate is self-signed');
  if (/SIGNATURE|ISSUER/.test(code)) return localizable('the issuer of the certificate is unknown');
  return reasonOf(error);
}
