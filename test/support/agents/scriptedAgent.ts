// The agent of most tests: it speaks ACP v1 and v2 as it is told, keeps sessions on disk where it is told to, and watches the client strictly.
// Usage: node scriptedAgent.js [preset or JSON] [--login]; $AGENT_LOG: its log.
// The script (script.ts) says how it introduces itself; the lines of a prompt (plays.ts, in v2 v2Steps.ts) say what a turn does.
// When the client breaks a MUST it exits with status 9 and a line "VIOLATION …" on stderr.
// With --login it is the sign-in that a terminal runs: it leaves the mark of a signed-in user and exits.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { at } from '../../../src/demo/input';
import { readClientLine } from './clientLine';
import { type AgentScript, readScript } from './script';
import { floodLog } from './scripted/flood';
import type { Asking, AskObserver, ScriptedHost, ScriptedSide } from './scripted/host';
import { KeepingWire, KeptSessions } from './scripted/keptSessions';
import { ScriptedV1 } from './scripted/scriptedV1';
import { ScriptedV2 } from './scripted/scriptedV2';

class ScriptedAgent implements ScriptedHost {
  readonly script: AgentScript;
  readonly sessions: KeptSessions | undefined;
  readonly wire: KeepingWire;
  readonly #answers = new Map<unknown, (message: Record<string, unknown>) => void>();
  #side: ScriptedSide;
  #nextId = 0;

  constructor(script: AgentScript) {
    this.script = script;
    this.sessions = script.sessions && new KeptSessions(script.sessions.store);
    this.wire = new KeepingWire(script.noise === 'among', this.sessions, script.countsIds === true);
    this.#side = new ScriptedV1(this);
  }

  start(): void {
    const { script } = this;
    const { LOGIN_TOKEN: token } = process.env;
    if (process.argv.includes('--login')) this.#login(token);
    this.wire.log({ ev: 'start', argv: process.argv.slice(2), cwd: process.cwd(), token });
    floodLog({ ev: 'start', argv: process.argv.slice(2) });
    for (const line of script.stderr ?? []) this.wire.say(line);
    if (script.exitAtStart !== undefined) process.exit(script.exitAtStart);
    if (script.child) this.#startChild();
    process.on('SIGTERM', () => {
      this.wire.log({ ev: 'sigterm' });
      if (!script.ignoreSigterm) process.exit(143);
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
        if (!script.ignoreStdinEnd) process.exit(0);
        setInterval(() => {}, 60_000); // something has to keep the process
      },
    );
  }

  #login(token: string | undefined): never {
    this.wire.log({ ev: 'login', argv: process.argv.slice(3), token });
    if (token === undefined) process.exit(3);
    if (this.script.signedIn !== undefined) writeFileSync(this.script.signedIn, '');
    process.exit(0);
  }

  /** A child that outlives the agent unless the whole process group is ended. */
  #startChild(): void {
    const stay = this.script.childIgnoresSigterm ? 'process.on("SIGTERM", () => {});' : '';
    const child = spawn(process.execPath, ['-e', `${stay} setInterval(() => {}, 60000)`], {
      stdio: ['ignore', 'ignore', this.script.childHoldsStderr ? 'inherit' : 'ignore'],
    });
    this.wire.log({ ev: 'child', child: child.pid });
  }

  violation(reason: string): void {
    this.wire.log({ ev: 'violation', reason });
    if (this.script.strict === false) return;
    this.wire.say(`VIOLATION ${reason}`);
    process.exit(9);
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

  /** Chooses the version that is spoken from now on. @returns false where the offer was refused */
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

new ScriptedAgent(readScript(process.argv[2] ?? process.env.AGENT_SCRIPT)).start();
