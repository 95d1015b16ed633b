// Writes the log to VS Code's output channel, without values that look like secrets.
import type { LogOutputChannel } from 'vscode';
import type { Log } from '../../base/log';
import { redact } from '../../base/redact';

/** Never throws: VS Code closes the channel before the last line. */
export function vscodeLog(channel: LogOutputChannel): Log {
  const writer =
    (level: keyof Log) =>
    (message: string): void => {
      try {
        channel[level](redact(message));
      } catch {}
    };
  return {
    trace: writer('trace'),
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
  };
}
