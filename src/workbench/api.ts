// The API that the extension exports (`ParleyApi`), for other extensions and tests.

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
   * Starts an agent and opens a session, or the agent's session `resume`. Resolves with its key
   * once usable.
   * @throws ParleyError
   */
  openSession(options: { agent?: string; cwd?: string; resume?: string }): Promise<string>;
  /** Sends a message after all queued ones. Resolves when its turn has ended. */
  send(key: string, text: string): Promise<{ turnId: string; stopReason: string }>;
  enqueue(key: string, text: string): string;
  cancel(key: string): Promise<void>;
  checkStatus(key: string): Promise<{ status: 'live' | 'not_found' | 'unknown' }>;
  snapshot(key: string): SessionSnapshot;
  /** Returns what others need to continue the session; its links expire. @throws ParleyError */
  exportDescriptor(key: string): Promise<SessionDescriptor>;
  /**
   * Opens a shared session, given its descriptor, the descriptor's text, a link or an address.
   * Resolves with its key once all messages are loaded or marked as gaps.
   */
  openDescriptor(descriptor: SessionDescriptor | string, options?: { agent?: string }): Promise<string>;
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
        activates: !chat.hasPages, // must not activate what a program opens
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

function asJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
