// The sessions of the scripted agent on disk: a file for each, to which everything is added before
// it is said, so that what a client has seen is there for the next process, however this one ends.
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { at } from '../../../../src/base/untrusted';
import { AgentWire, now } from '../agentWire';
import type { AgentProgram } from '../program';

const ENDING = '.session';

export interface SessionFacts {
  readonly cwd?: string;
  /** Milliseconds since 1970, with a fraction. */
  readonly made?: number;
  readonly title?: string;
  readonly archived?: boolean;
}

export interface Update {
  readonly sessionUpdate: string;
  readonly [more: string]: unknown;
}

export interface KeptSession extends SessionFacts {
  readonly id: string;
  readonly turns: readonly (readonly Update[])[];
}

export class KeptSessions {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  all(): readonly KeptSession[] {
    return readdirSync(this.#folder)
      .filter((name) => name.endsWith(ENDING))
      .flatMap((name) => this.find(decodeURIComponent(name.slice(0, -ENDING.length))) ?? [])
      .sort((one, other) => (one.made ?? 0) - (other.made ?? 0));
  }

  find(id: string): KeptSession | undefined {
    const file = this.#fileOf(id);
    if (!existsSync(file)) return undefined;
    let facts: SessionFacts = {};
    const turns: Update[][] = [];
    for (const line of readFileSync(file, 'utf8').split('\n').slice(0, -1)) {
      const { update, ...more } = JSON.parse(line) as SessionFacts & { readonly update?: Update };
      facts = { ...facts, ...more };
      if (update?.sessionUpdate === 'user_message_chunk') turns.push([]);
      if (update) turns.at(-1)?.push(update);
    }
    return { ...facts, id, turns };
  }

  make(id: string, facts: SessionFacts): void {
    this.change(id, { ...facts, made: now() });
  }

  change(id: string, facts: SessionFacts): void {
    this.#add(id, facts);
  }

  keep(id: string, update: object): void {
    if (existsSync(this.#fileOf(id))) this.#add(id, { update });
  }

  copy({ turns, cwd, title }: KeptSession, id: string): void {
    this.make(id, { ...(cwd !== undefined && { cwd }), ...(title !== undefined && { title }) });
    for (const update of turns.flat()) this.keep(id, update);
  }

  remove(id: string): void {
    rmSync(this.#fileOf(id), { force: true });
  }

  #add(id: string, line: object): void {
    appendFileSync(this.#fileOf(id), `${JSON.stringify(line)}\n`);
  }

  #fileOf(id: string): string {
    return join(this.#folder, encodeURIComponent(id) + ENDING);
  }
}

export class KeepingWire extends AgentWire {
  readonly #sessions: KeptSessions | undefined;
  readonly #countsIds: boolean;
  #count = 0;
  #kind = '';

  constructor(program: AgentProgram, noise: boolean, sessions: KeptSessions | undefined, countsIds: boolean) {
    super(program, noise);
    this.#sessions = sessions;
    this.#countsIds = countsIds;
  }

  override send(message: Record<string, unknown>): Promise<void> | undefined {
    const update = at(message, 'params', 'update');
    if (typeof update === 'object' && update !== null)
      this.#sessions?.keep(String(at(message, 'params', 'sessionId')), update);
    return this.repeat(message);
  }

  repeat(message: Record<string, unknown>): Promise<void> | undefined {
    const kind = at(message, 'params', 'update', 'sessionUpdate');
    if (!this.#countsIds || typeof kind !== 'string' || !kind.endsWith('message_chunk')) return super.send(message);
    const { params } = message as { readonly params: { readonly update: object } };
    if (kind !== this.#kind) this.#count++;
    this.#kind = kind;
    return super.send({
      ...message,
      params: { ...params, update: { ...params.update, messageId: `m${this.#count}` } },
    });
  }

  endMessage(): void {
    this.#kind = '';
  }
}
