// Errors of agent servers, for users. They quote only a short plain sentence of the protocol's
// error shape.

import { STATUS_CODES } from 'node:http';
import * as z from 'zod/mini';
import { errorText, ParleyError, type ParleyErrorOptions } from '../../base/errors';
import { type Localizable, type LocalizableText, localizable } from '../../base/localizable';
import { redact } from '../../base/redact';
import { isBrokenConnection, systemCode } from '../model/deadline';
import { errorSchema } from '../model/model';
import { redactSignatures } from '../model/resourceUrl';

const MAX_SENTENCE = 300;
const MAX_ISSUES_CHARS = 16 * 1024;
const MAX_RETRY_MS = 24 * 60 * 60 * 1000;

export interface AgentServerErrorOptions extends ParleyErrorOptions {
  readonly status?: number;
  /** `Retry-After` in milliseconds. */
  readonly retryAfterMs?: number;
  readonly isBroken?: boolean;
}

/** The agent server can't be reached, is late, or refuses. Codes begin with `agent-server-`. */
export class AgentServerError extends ParleyError {
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly isBroken: boolean;

  constructor(kind: string, message: LocalizableText, options: AgentServerErrorOptions = {}) {
    super(`agent-server-${kind}`, message, options);
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
    this.isBroken = options.isBroken === true;
  }

  /** Whether nothing was received: the server may or may not have the request. */
  get isSilence(): boolean {
    return this.status === undefined;
  }
}

export function errorOfAnswer(
  origin: string,
  status: number,
  headers: { get(name: string): string | null },
  body: unknown,
  now: number,
): AgentServerError {
  const errorBody = z.safeParse(errorSchema, body).data;
  const message =
    errorBody === undefined ? undefined : (validationSentence(errorBody.message) ?? plainSentence(errorBody.message));
  const answer = `${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();
  const sentence = message
    ? localizable('The agent server at {0} reports: {1}', origin, message)
    : localizable('The agent server at {0} responded with {1}.', origin, answer);
  const { kind, hint } = meaningOf(status, errorBody?.code);
  const retryAfterMs = retryAfter(headers.get('retry-after'), now);
  const wait =
    retryAfterMs === undefined ? undefined : localizable('Try again in {0} seconds.', Math.ceil(retryAfterMs / 1000));
  return new AgentServerError(kind, sentence, { status, hint: (kind === 'busy' && wait) || hint, retryAfterMs });
}

function meaningOf(status: number, code: string | undefined): { kind: string; hint?: Localizable } {
  switch (status) {
    case 401:
      return { kind: 'unauthorized', hint: localizable("Enter the server's token, or check that it's still valid.") };
    case 403:
      return { kind: 'forbidden', hint: code ? undefined : localizable('Check that the token may use this agent.') };
    case 404:
      return { kind: 'not-found', hint: code ? undefined : localizable('Check the address of the agent server.') };
    case 409:
      return { kind: 'conflict' };
    case 429:
    case 503:
      return { kind: 'busy', hint: localizable('Try again in a moment.') };
  }
  if (status >= 300 && status < 400) {
    return {
      kind: 'redirect',
      hint: localizable("Parley doesn't follow redirects. Enter the address that the server redirects to."),
    };
  }
  if (status >= 400 && status < 500) return { kind: 'invalid-input' };
  return { kind: 'failed', hint: localizable("Try again. If the problem persists, see the agent server's log.") };
}

export function errorOfSilence(origin: string, error: unknown): AgentServerError {
  if (error instanceof ParleyError && error.code === 'timeout') {
    return new AgentServerError('timeout', error.texts.message, {
      hint: localizable('Check that the agent server is running and not overloaded.'),
      cause: error,
    });
  }
  const code = systemCode(error);
  return new AgentServerError(
    'unreachable',
    code === ''
      ? localizable("The agent server at {0} can't be reached.", origin)
      : localizable("The agent server at {0} can't be reached ({1}).", origin, code),
    {
      hint: localizable("Check that it's running and that its address is correct."),
      isBroken: isBrokenConnection(error),
      cause: error,
    },
  );
}

/** A successful response that violates the protocol. */
export function errorOfContent(origin: string, status: number, error: unknown): AgentServerError {
  const reason = errorText(error);
  return new AgentServerError(
    'answer',
    localizable('The agent server at {0} sent an unexpected response. {1}', origin, reason),
    {
      status,
      hint: localizable('Check that the address is an Agent Communication Protocol server.'),
      cause: error,
    },
  );
}

/** An entry of a list of validation errors in Python notation, as written by pydantic. */
const ISSUE = /'loc': \(([^)]{0,500})\), 'msg': (?:'((?:[^'\\]|\\.){0,1000})'|"((?:[^"\\]|\\.){0,1000})")/g;
const MAX_ISSUES = 3;

function validationSentence(text: string): string | undefined {
  if (!text.startsWith("[{'type': ")) return undefined;
  const issues = [...text.slice(0, MAX_ISSUES_CHARS).matchAll(ISSUE)]
    .slice(0, MAX_ISSUES)
    .map(([, loc = '', single, double]) => {
      const path = [...loc.matchAll(/'([^']*)'|(\d+)/g)].map(([, name, index]) => name ?? index).join('.');
      const message = (single ?? double ?? '').replace(/^Value error, /, '').replaceAll('\\\\', '\\');
      return path === '' ? message : `${message} (${path})`;
    });
  return issues.length === 0 ? undefined : `${plainSentence(issues.join('; ')).replace(/\.$/, '')}.`;
}

export function plainSentence(text: string): string {
  const line = redact(redactSignatures(text.slice(0, MAX_SENTENCE * 4)))
    // pydantic quotes messages that it can't read.
    .replace(/input_value=.*?, input_type=\w+/gs, '…')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  return line.length <= MAX_SENTENCE ? line : `${line.slice(0, MAX_SENTENCE - 1).trimEnd()}…`;
}

/** Seconds or a date. */
function retryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const ms = /^\d{1,9}$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), MAX_RETRY_MS) : undefined;
}
