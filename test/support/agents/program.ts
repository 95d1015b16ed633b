// What the program of an agent needs from its process, so that it also runs inside the process of a
// test (sessions/memoryAgents.ts).
import { closeSync, writeSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export interface AgentProgram {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly pid: number;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly hasExited: boolean;
  warn(line: string): void;
  onSigterm(listener: () => void): void;
  exit(code: number): void;
  kill(signal: NodeJS.Signals): void;
  stay(): void;
  closeStdin(): void;
  closeStdout(): void;
}

export function processProgram(): AgentProgram {
  return {
    args: process.argv.slice(2),
    env: process.env,
    cwd: process.cwd(),
    pid: process.pid,
    stdin: process.stdin,
    stdout: process.stdout,
    hasExited: false,
    warn(line) {
      try {
        writeSync(2, `${line}\n`);
      } catch {
        // stderr is not read; the log has it.
      }
    },
    onSigterm: (listener) => void process.on('SIGTERM', listener),
    exit: (code) => process.exit(code),
    kill: (signal) => void process.kill(process.pid, signal),
    stay: () => void setInterval(() => {}, 60_000),
    closeStdin() {
      process.stdin.removeAllListeners('end').destroy();
      closeSync(0);
    },
    closeStdout: () => closeSync(1),
  };
}
