// The log of the extension in VS Code's output panel. Values that look like secrets never reach it.
import type { LogOutputChannel } from 'vscode';
import type { Log } from '../base/log';

/** Writes to a log output channel, at VS Code's own levels. Never throws: VS Code closes the channel before the last line. */
export function vscodeLog(channel: LogOutputChannel): Log {
  const writer =
    (level: keyof Log) =>
    (message: string): void => {
      try {
        channel[level](redact(message));
      } catch {
        // The window is closing, and nobody can read the log any more.
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

const SECRETS =
  /\b(sk-[A-Za-z0-9_-]{8,}|gh[pousr]_[A-Za-z0-9]{20,}|AIza[\w-]{30,}|xox[abpr]-[\w-]{10,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]+)|((?:api[_-]?key|token|secret|password|authorization)["']?\s*[:=]\s*["']?)(?:bearer\s+)?[^\s"',;]{6,}/gi;

/** Replaces what looks like a key or a token. */
export function redact(text: string): string {
  return text.replace(SECRETS, (_match, _whole, label: string | undefined) => `${label ?? ''}[redacted]`);
}
