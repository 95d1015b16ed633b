// Sends the next queued message of a session whose agent runs without a window: attaches, sends,
// and leaves the agent running.
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { Changes } from '../../session/model/changes';
import type { Conversation } from './conversation';
import type { ConversationServices } from './conversationOptions';

const LIMIT_MS = 30_000;

/** Returns services that start no agent, answer nothing by rules, and read no files. */
export function sendingServices(services: ConversationServices): ConversationServices {
  const {
    changes: _changes,
    permissionRules: _rules,
    mcpServers: _mcp,
    editorTools: _tools,
    signInTerminal: _terminal,
    ...rest
  } = services;
  const approve = async (): Promise<never> => {
    throw new ParleyError('start-cancelled', localizable('The agent has ended.'));
  };
  return { ...rest, approve, restarts: () => false };
}

/**
 * Sends the next message if it is due, and closes the conversation.
 * @param conversation made with `onlySends` and {@link sendingServices}
 * @returns whether the message was sent
 */
export async function sendNext(conversation: Conversation, signal: AbortSignal): Promise<boolean> {
  try {
    const item = conversation.queue.next();
    if (!item || !conversation.isAttaching) return false;
    void conversation.start();
    const hasLeft = () => conversation.turns.driver.requestIds.has(item.id);
    await untilChanged(conversation, signal, () => hasLeft() || isOver(conversation));
    return hasLeft();
  } finally {
    await conversation.close('window-ended');
  }
}

function isOver({ connection, isBusy, queue }: Conversation): boolean {
  if (connection.kind === 'ready') return !isBusy && queue.next() === undefined;
  return connection.kind !== 'idle' && connection.kind !== 'starting';
}

function untilChanged({ model }: Conversation, signal: AbortSignal, holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    let isLooking = false;
    const done = (): void => {
      clearTimeout(timer);
      watching.dispose();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const check = (): void => {
      isLooking = false;
      if (holds()) done();
    };
    // Changes are reported while they happen: a message is sent just after it was removed from the
    // queue.
    const changes = Changes.unrecorded(() => {
      if (!isLooking) setImmediate(check);
      isLooking = true;
    });
    const watching = model.observe(changes);
    const timer = setTimeout(done, LIMIT_MS);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}
