// Starts the test agents inside the test's process, with streams in place of pipes: the client sees
// the same bytes, and nothing is spawned.
import { basename } from 'node:path';
import { Duplex, PassThrough } from 'node:stream';
import { StdioTransport } from '../../../src/acp/transport/stdioTransport';
import { type AgentExit, AgentProcess, checkFolder, StderrLog } from '../../../src/agents/agentProcess';
import { Deferred } from '../../../src/base/deferred';
import type { AgentTransport, ProcessStarter } from '../../../src/client/transport/agentTransport';
import type { AgentProgram } from '../agents/program';
import { runReferenceAgent } from '../agents/reference/referenceProgram';
import { runScriptedAgent } from '../agents/scripted/scriptedProgram';
import { memoryProcesses } from '../processes';

const PROGRAMS: Readonly<Record<string, (program: AgentProgram) => void>> = {
  'scriptedAgent.js': runScriptedAgent,
  'referenceAgent.js': runReferenceAgent,
};

/** What a pipe holds, in bytes. */
const PIPE_SIZE = 64 * 1024;
/** Above the ids of real processes, so that no signal reaches one. */
let nextPid = 2 ** 30;

export const startInMemory: ProcessStarter = async (options) => {
  const { command, args } = options;
  const run = command === process.execPath ? PROGRAMS[basename(args[0] ?? '')] : undefined;
  return run ? startProgram(run, options) : AgentProcess.start(options);
};

export async function startProgram(
  run: (program: AgentProgram) => void,
  { args, cwd, env, log, onStderr, signal }: Parameters<ProcessStarter>[0],
): Promise<AgentTransport> {
  await checkFolder(cwd);
  signal?.throwIfAborted();
  const program = new MemoryProgram(args.slice(1), env, cwd);
  const { pid, stdin, stdout, stderr } = program;
  const transport = new StdioTransport(stdin, stdout);
  const stderrLog = new StderrLog(stderr, log, onStderr);
  const exited = program.ended.promise.then(async (end): Promise<AgentExit> => {
    if (!stdout.closed) await new Promise((resolve) => stdout.once('close', resolve));
    transport.finish();
    stderrLog.finish();
    return { ...end, stderr: stderrLog.tail.lines(20) };
  });
  setImmediate(run, program);
  const close = (): Promise<AgentExit> => {
    program.end();
    return exited;
  };
  const started: AgentTransport = {
    pid,
    transport,
    exited,
    stderrTail: (lines = 20) => stderrLog.tail.lines(lines),
    close,
    dispose: () => void close(),
  };
  return started;
}

class MemoryProgram implements AgentProgram {
  readonly pid = nextPid++;
  readonly stdin = new Pipe();
  readonly stdout = new Pipe();
  readonly stderr = new PassThrough();
  readonly ended = new Deferred<Pick<AgentExit, 'code' | 'signal'>>();
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  hasExited = false;
  #sigterm: (() => void) | undefined;

  constructor(args: readonly string[], env: Readonly<Record<string, string>>, cwd: string) {
    this.args = args;
    this.env = env;
    this.cwd = cwd;
    memoryProcesses.set(this.pid, this);
  }

  warn(line: string): void {
    this.stderr.write(`${line}\n`);
  }

  onSigterm(listener: () => void): void {
    this.#sigterm = listener;
  }

  exit(code: number): void {
    this.#exit(code, null);
  }

  kill(signal: NodeJS.Signals): void {
    if (signal === 'SIGTERM' && this.#sigterm) this.#sigterm();
    else this.#exit(null, signal);
  }

  stay(): void {}

  closeStdin(): void {
    this.stdin.destroy();
  }

  closeStdout(): void {
    this.stdout.end();
  }

  end(): void {
    const force = (): void => {
      setImmediate(() => {
        this.kill('SIGTERM');
        this.kill('SIGKILL');
      });
    };
    if (this.stdin.closed) force();
    else this.stdin.once('close', force).end();
  }

  #exit(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.hasExited) return;
    this.hasExited = true;
    memoryProcesses.delete(this.pid);
    this.stdout.end();
    this.stderr.end();
    this.stdin.destroy();
    this.ended.resolve({ code, signal });
  }
}

class Pipe extends Duplex {
  #chunks: Buffer[] = [];
  #size = 0;
  #flush: NodeJS.Immediate | undefined;
  #full: (() => void) | undefined;

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    this.#flush ??= setImmediate(() => this.#deliver());
    if (this.#size < PIPE_SIZE) done();
    else this.#full = done;
  }

  override _final(done: () => void): void {
    setImmediate(() => {
      this.push(null);
      done();
    });
  }

  override _read(): void {
    const resume = this.#full;
    if (this.#flush) return;
    this.#full = undefined;
    resume?.();
  }

  #deliver(): void {
    this.#flush = undefined;
    const wantsMore = this.push(Buffer.concat(this.#chunks.splice(0)));
    this.#size = 0;
    if (wantsMore) this._read();
  }
}
