// What the extension exports: the same conversations that the panel shows, for programs and tests
// (interface of the extension, `ParleyApi`).

import { type Event, EventEmitter } from 'vscode';
import { livenessOf } from '../client/connection/livenessProbe';
import { type SessionSnapshot, snapshotOf } from '../client/view/snapshot';
import type { SessionDescriptor } from '../distributed/model/model';
import { ChatHome } from './chat/chatHome';
import type { Workbench } from './core/workbench';
import { Conversations } from './sessions/conversations';
import { Descriptors } from './sharing/descriptors';

export interface ParleyApi {
  readonly version: 1;
  /**
   * Starts an agent and opens a session, a new one or the one that the agent knows by the id
   * `resume`; resolves with our key when it can be used.
   * @throws ParleyError with why it cannot.
   */
  openSession(options: { agent?: string; cwd?: string; resume?: string }): Promise<string>;
  /** Sends a message, after what is queued already; resolves when its turn has ended. */
  send(key: string, text: string): Promise<{ turnId: string; stopReason: string }>;
  /** Queues a message; returns the queue item's id. */
  enqueue(key: string, text: string): string;
  cancel(key: string): Promise<void>;
  checkStatus(key: string): Promise<{ status: 'live' | 'not_found' | 'unknown' }>;
  snapshot(key: string): SessionSnapshot;
  /**
   * What others need to continue the session; its links can be read until they end.
   * @throws ParleyError with why it cannot be shared.
   */
  exportDescriptor(key: string): Promise<SessionDescriptor>;
  /**
   * Opens a session of elsewhere: its descriptor, the text of it, a link or an address. Resolves
   * with our key when all of its messages are there, or are gaps.
   */
  openDescriptor(descriptor: SessionDescriptor | string, options?: { agent?: string }): Promise<string>;
  /** A session changed; its key. */
  readonly onDidChange: Event<string>;
}

export function createApi(workbench: Workbench): ParleyApi {
  const conversations = workbench.get(Conversations);
  const descriptors = workbench.get(Descriptors);
  const chat = workbench.get(ChatHome);
  const changed = workbench.own(new EventEmitter<string>());
  workbench.own(conversations.onDidChange((key) => changed.fire(key)));
  return {
    version: 1,
    async openSession(options) {
      const { agent, cwd, resume } = options;
      const conversation = conversations.create({
        agent,
        cwd,
        activates: !chat.hasPages, // what a program opens isn't what the user is in
        opening: resume !== undefined ? { kind: 'reopen', sessionId: resume, transcript: 'replay' } : undefined,
      });
      await conversation.start();
      const { connection } = conversation;
      if (connection.kind === 'failed' || connection.kind === 'exited') throw connection.error;
      return conversation.key;
    },
    send: (key, text) => conversations.get(key).send(text).done,
    enqueue: (key, text) => conversations.get(key).send(text).id,
    async cancel(key) {
      conversations.get(key).cancel();
    },
    async checkStatus(key) {
      return { status: livenessOf(await conversations.get(key).checkStatus()) };
    },
    snapshot: (key) => asJson(snapshotOf(conversations.get(key))),
    exportDescriptor: async (key) => asJson(await descriptors.exports.forOthers(key)),
    async openDescriptor(descriptor, options) {
      const { key } = await descriptors.open(await descriptors.read(descriptor), {
        agent: options?.agent,
        activates: !chat.hasPages,
      });
      return key;
    },
    onDidChange: changed.event,
  };
}

/** Returns a copy without undefined members. */
function asJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
