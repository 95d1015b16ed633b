/** Log for developers, backed by VS Code's log output channel. */
export interface Log {
  trace(message: string): void;
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export const silentLog: Log = {
  trace() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
};
