// Writes the log to VS Code's output panel, without values that look like secrets.
import type { LogOutputChannel } from 'vscode';
import type { Log } from '../../base/log';
import { redact } from '../../base/redact';

/**
 * Writes to a log output channel, at VS Code's own levels. Never throws: VS Code closes the channel
 * before the last line.
 */
export function vscodeLog(channel: LogOutputChannel): Log {
  const writer =
    (level: keyof Log) =>
    (message: string): void => {
      try {
        channel[level](redact(message));
      } catch {
        // The window is closing, and the log cannot be read any more.
      }
    };
  return {
    trace: writer('trace'),
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
  };
}
