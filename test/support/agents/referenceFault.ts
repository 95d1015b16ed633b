// How the agents of the tests refuse a request.

/** Thrown to answer a request with an error. */
export class Fault extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}
