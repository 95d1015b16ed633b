// Error answers of the server, in the protocol's error shape (release 1.0.3 "Error").
import { ParleyError } from '../../base/errors';

export type RefusalCode = 'server_error' | 'invalid_input' | 'not_found';

/** Thrown behind a route, becomes the answer. Its message goes to the client. */
export class ServerRefusal extends ParleyError {
  readonly status: number;
  readonly wireCode: RefusalCode;
  /** Seconds, for `Retry-After`. */
  readonly retryAfter: number | undefined;

  constructor(status: number, wireCode: RefusalCode, message: string, retryAfter?: number) {
    super(`refused-${status}`, message);
    this.status = status;
    this.wireCode = wireCode;
    this.retryAfter = retryAfter;
  }
}

export function notFound(what: string): ServerRefusal {
  return new ServerRefusal(404, 'not_found', `${what} not found`);
}

export function invalidInput(message: string, status = 422): ServerRefusal {
  return new ServerRefusal(status, 'invalid_input', message);
}
