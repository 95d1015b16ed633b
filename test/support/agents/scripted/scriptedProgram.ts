// The agent of most tests: speaks ACP v1 and v2 as scripted, stores sessions on disk on request,
// and checks the client strictly.
// Arguments: [preset or JSON] [--login]; $AGENT_LOG: its log.
// The script (script.ts) says how it introduces itself; the lines of a prompt (plays.ts, in v2
// v2Steps.ts) say what a turn does.
// When the client breaks a MUST it exits with status 9 and a line "VIOLATION …" on stderr.
// With --login it is the sign-in that a terminal runs: it leaves the mark of a signed-in user and
// exits.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { at } from '../../../../src/base/untrusted';
import { readClientLine } from '../clientLine';
import type { AgentProgram } from '../program';
import { type AgentScript, readScript } from '../script';
import { floodLog } from './flood';
import type { Asking, AskObserver, ScriptedHost, ScriptedSide } from './host';
import { KeepingWire, KeptSessions } from './keptSessions';
import { ScriptedV1 } from './scriptedV1';
import { ScriptedV2 } from './scriptedV2';

class ScriptedAgent implements ScriptedHost {
  readonly script: AgentScript;
  readonly sessions: KeptSessions | undefined;
  readonly wire: KeepingWire;
  readonly #answers = new Map<unknown, (message: Record<string, unknown>) => void>();
  #side: ScriptedSide;
  #nextId = 0;

  constructor(program: AgentProgram, script: AgentScript) {
    this.script = script;
    this.sessions = script.sessions && new KeptSessions(script.sessions.store);
    this.wire = new KeepingWire(program, script.noise === 'among', this.sessions, script.countsIds === true);
    this.#side = new ScriptedV1(this);
  }

  start(): void {
    const { script } = this;
    const { program } = this.wire;
    const { args: argv, cwd, env } = program;
    const { LOGIN_TOKEN: token } = env;
    if (argv.includes('--login')) {
      this.#login(token);
      return;
    }
    this.wire.log({ ev: 'start', argv, cwd, token });
    floodLog({ ev: 'start', argv });
    for (const line of script.stderr ?? []) program.warn(line);
    if (script.exitAtStart !== undefined) {
      program.exit(script.exitAtStart);
      return;
    }
    if (script.child) this.#startChild();
    program.onSigterm(() => {
      this.wire.log({ ev: 'sigterm' });
      if (!script.ignoreSigterm) program.exit(143);
    });
    if (script.noise === 'before') {
      void this.wire.text(
        'npm warn config something unimportant\n\n   [agent] listening on stdio\n{"half": \n[1, 2\nnull\n"text"\n',
      );
    }
    this.wire.listen(
      (line) => this.#receive(line),
      () => {
        this.wire.log({ ev: 'stdin-end' });
        if (script.ignoreStdinEnd) program.stay();
        else program.exit(0);
      },
    );
  }

  #login(token: string | undefined): void {
    const { program } = this.wire;
    this.wire.log({ ev: 'login', argv: program.args.slice(1), token });
    if (token !== undefined && this.script.signedIn !== undefined) writeFileSync(this.script.signedIn, '');
    program.exit(token === undefined ? 3 : 0);
  }

  #startChild(): void {
    const stay = this.script.childIgnoresSigterm ? 'process.on("SIGTERM", () => {});' : '';
    const child = spawn(process.execPath, ['-e', `${stay} setInterval(() => {}, 60000)`], {
      stdio: 'ignore',
    });
    this.wire.log({ ev: 'child', child: child.pid });
  }

  violation(reason: string): void {
    this.wire.log({ ev: 'violation', reason });
    if (this.script.strict === false) return;
    this.wire.program.warn(`VIOLATION ${reason}`);
    this.wire.program.exit(9);
  }

  ask(method: string, params: object, observer?: AskObserver): Asking {
    const id = `agent-${++this.#nextId}`;
    observer?.asked(id, method, params);
    const answer = new Promise<Record<string, unknown>>((resolve) => this.#answers.set(id, resolve));
    void this.wire.send({ id, method, params });
    return {
      answer,
      withdraw: () => {
        observer?.withdrew(id);
        void this.wire.send({ method: '$/cancel_request', params: { requestId: id } });
      },
    };
  }

  #receive(line: string): void {
    const message = readClientLine(line, (reason) => this.violation(reason));
    this.wire.log(message === undefined ? { dir: 'in', raw: line.slice(0, 1000) } : { dir: 'in', msg: message });
    if (message === undefined) return;
    const { id, method, params } = message;
    if (method === 'initialize' && !this.#negotiate(id, params)) return;
    this.#side.judge(message);
    if (typeof method !== 'string') {
      const answer = this.#answers.get(id);
      this.#answers.delete(id);
      answer?.(message);
    } else if (id === undefined) this.#side.notified(method, params);
    else if (!this.script.mute?.includes(method)) void this.#side.respond(id, method, params);
  }

  #negotiate(id: unknown, params: unknown): boolean {
    const { versions = [1], refuses = !versions.includes(1) } = this.script;
    const requested = Number(at(params, 'protocolVersion'));
    if (requested === 2 && typeof at(params, 'info', 'version') !== 'string') this.violation('initialize without info');
    if (requested === 1 && at(params, 'clientCapabilities') === undefined)
      this.violation('initialize without clientCapabilities');
    const spoken = versions.includes(requested) ? requested : Math.max(...versions);
    if (spoken !== requested && refuses) {
      const data = { requested, supported: versions };
      void this.wire.send({ id, error: { code: -32022, message: 'Unsupported protocol version', data } });
      return false;
    }
    if (spoken === 2 && !(this.#side instanceof ScriptedV2)) this.#side = new ScriptedV2(this);
    return true;
  }
}

export function runScriptedAgent(program: AgentProgram): void {
  new ScriptedAgent(program, readScript(program.args[0] ?? program.env.AGENT_SCRIPT)).start();
}
