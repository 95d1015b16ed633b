// Sessions of a window for tests of their list: models without agents, and timers that are held.

import type { PermissionAsk } from '../../../src/acp/protocol/dialect';
import { Emitter } from '../../../src/base/event';
import type { Conversation } from '../../../src/client/conversation/conversation';
import { PermissionRequestHandler } from '../../../src/client/requests/permissionRequestHandler';
import type { SessionEvent } from '../../../src/session/events/event';
import { SessionModel } from '../../../src/session/model/model';

export class PlainSession {
  readonly key: string;
  readonly model = new SessionModel();
  readonly agent;
  readonly cwd: string;
  readonly queue = { items: [] };
  readonly changes = { review: undefined };
  connection: { kind: string; error?: { code: string } } = { kind: 'ready' };
  readonly waitsForUser = false;
  readonly ignoresStop = false;
  readonly isSuspended = false;
  readonly isAsked = false;
  readonly stages = { current: undefined };
  failedTurnId: string | undefined;
  readonly elicitations = { submit: () => undefined };
  readonly answers: string[] = [];
  readonly #permissions = new PermissionRequestHandler((event) => this.apply(event));
  readonly #changed: (key: string) => void;
  #at = 1000;

  constructor(key: string, agentId: string, changed: (key: string) => void, cwd = '/work') {
    this.key = key;
    this.agent = { id: agentId, name: agentId.toUpperCase() };
    this.cwd = cwd;
    this.#changed = changed;
  }

  get isWorking(): boolean {
    return this.model.state.turn !== undefined;
  }

  apply(event: SessionEvent): void {
    this.model.apply(event, this.#at++);
    this.#changed(this.key);
  }

  begin(turnId: string): void {
    this.apply({ type: 'turn_started', turnId, origin: 'user', at: this.#at });
    this.say(`begins ${turnId}`);
  }

  say(text: string): void {
    this.apply({ type: 'message_chunk', role: 'agent', block: { type: 'text', text } });
  }

  end(turnId: string, ranMs = 1): void {
    this.#at += ranMs;
    this.apply({ type: 'turn_ended', turnId, stopReason: 'end_turn', barrier: 'response', at: this.#at });
  }

  ask(title: string, line = 'npm test'): () => void {
    return this.askFor({ title, command: { line } });
  }

  askFor(request: Partial<PermissionAsk>): () => void {
    const options = [
      { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
      { optionId: 'no', name: 'Reject', kind: 'reject_once' },
    ];
    const abort = new AbortController();
    const asked: PermissionAsk = { title: '', options, ...request };
    void this.#permissions.ask(asked, false, abort.signal).then(({ outcome }) => {
      this.answers.push(outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome);
    });
    return () => abort.abort();
  }

  answerPermission(id: string, optionId: string | null): boolean {
    return this.#permissions.answer(id, optionId);
  }

  get conversation(): Conversation {
    return this as unknown as Conversation;
  }
}

export class PlainSessions {
  readonly #sessions = new Map<string, PlainSession>();
  readonly #changed = new Emitter<string>();
  readonly #none = new Emitter<never>();
  readonly onDidChange = this.#changed.event;
  readonly onDidActivate = this.#none.event;
  readonly onDidAdd = this.#none.event;
  readonly onDidRemove = this.#none.event;

  add(key: string, agentId = 'demo', cwd = '/work'): PlainSession {
    const session = new PlainSession(key, agentId, (changed) => this.#changed.fire(changed), cwd);
    this.#sessions.set(key, session);
    return session;
  }

  remove(key: string): void {
    this.#sessions.delete(key);
    this.#changed.fire(key);
  }

  list(): Conversation[] {
    return [...this.#sessions.values()].map(({ conversation }) => conversation);
  }

  find(key: string): Conversation | undefined {
    return this.#sessions.get(key)?.conversation;
  }
}

/** A secret store of VS Code that windows share. */
export class SharedSecrets {
  readonly #values = new Map<string, string>();

  async get(key: string): Promise<string | undefined> {
    return this.#values.get(key);
  }

  async store(key: string, value: string): Promise<void> {
    this.#values.set(key, value);
  }
}
