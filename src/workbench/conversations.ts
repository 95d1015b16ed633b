// The conversations of this window, by key, and which one the user is in.

import type { Disposable } from '../base/disposable';
import { ParleyError } from '../base/errors';
import type { Event } from '../base/event';
import { Emitter } from '../base/event';
import { Conversation } from '../client/conversation';
import type { ConversationServices } from '../client/services';
import { Changes } from '../session/changes';
import type { AgentCatalog } from './agentCatalog';
import { sessionFolders } from './sessionFolders';

export class Conversations implements Disposable {
  readonly #catalog: AgentCatalog;
  readonly #services: ConversationServices;
  readonly #byKey = new Map<string, { conversation: Conversation; watching: Disposable }>();
  readonly #didChange = new Emitter<string>();
  readonly #scratch: string;
  #sequence = 0;
  #activeKey: string | undefined;

  /** @param scratch the folder of sessions in a window without one. */
  constructor(catalog: AgentCatalog, services: ConversationServices, scratch: string) {
    this.#catalog = catalog;
    this.#services = { ...services, currentAgent: (id) => catalog.find(id) };
    this.#scratch = scratch;
  }

  /** A conversation changed; its key. At most once per turn of the event loop for each. */
  get onDidChange(): Event<string> {
    return this.#didChange.event;
  }

  /** The one that commands are about; made, not started, where there is none. */
  active(): Conversation {
    const known = this.#activeKey === undefined ? undefined : this.#byKey.get(this.#activeKey);
    return known?.conversation ?? this.create();
  }

  peek(): Conversation | undefined {
    return this.#activeKey === undefined ? undefined : this.#byKey.get(this.#activeKey)?.conversation;
  }

  list(): Conversation[] {
    return [...this.#byKey.values()].map(({ conversation }) => conversation);
  }

  /** @throws ParleyError `no-such-session` */
  get(key: string): Conversation {
    const known = this.#byKey.get(key);
    if (!known) throw new ParleyError('no-such-session', `There is no session ${key} in this window.`);
    return known.conversation;
  }

  setActive(key: string): void {
    this.get(key);
    this.#activeKey = key;
  }

  /** Makes a conversation and makes it the active one. Nothing is started. @throws ParleyError `no-such-agent` */
  create(options: { agent?: string | undefined; cwd?: string | undefined } = {}): Conversation {
    const agent = options.agent === undefined ? this.#catalog.preferred() : this.#catalog.find(options.agent);
    if (!agent) {
      throw new ParleyError('no-such-agent', `There is no agent “${options.agent}”.`, {
        hint: 'Add it to the setting parley.agents.',
      });
    }
    const { cwd, roots } = sessionFolders(options.cwd, this.#scratch);
    const key = `s${++this.#sequence}-${process.pid}`;
    const conversation = new Conversation({ key, agent, cwd, roots, services: this.#services });
    let told = false;
    const changes = new Changes(() => {
      if (told) return;
      told = true;
      setImmediate(() => {
        told = false;
        changes.reset();
        this.#didChange.fire(key);
      });
    });
    this.#byKey.set(key, { conversation, watching: conversation.model.observe(changes) });
    this.#activeKey = key;
    return conversation;
  }

  /** The workspace is trusted now: what could not start for that reason starts. */
  onTrusted(): void {
    for (const conversation of this.list()) {
      const { connection } = conversation;
      if (connection.kind === 'failed' && connection.error.code === 'untrusted-workspace') void conversation.start();
    }
  }

  /** Ends a conversation and its agent. */
  async close(key: string): Promise<void> {
    const known = this.#byKey.get(key);
    if (!known) return;
    this.#byKey.delete(key);
    if (this.#activeKey === key) this.#activeKey = [...this.#byKey.keys()].at(-1);
    known.watching.dispose();
    await known.conversation.close();
    this.#didChange.fire(key);
  }

  /** Ends all agents and waits until they are gone. */
  async closeAll(): Promise<void> {
    await Promise.all([...this.#byKey.keys()].map((key) => this.close(key)));
  }

  dispose(): void {
    for (const { conversation, watching } of this.#byKey.values()) {
      watching.dispose();
      conversation.dispose();
    }
    this.#byKey.clear();
    this.#didChange.dispose();
  }
}
