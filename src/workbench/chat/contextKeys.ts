// Context keys for the `when` clauses in package.json, so that a command is offered only where it
// can do something.
import { at } from '../../base/untrusted';
import type { Conversation } from '../../client/conversation/conversation';
import { isBelow } from '../../client/requests/roots';
import type { Workbench } from '../core/workbench';

/**
 * The keys without a session: each describes the active conversation or the settings, and package.json
 * uses it as `parley.NAME`.
 */
export const NO_SESSION = {
  hasSession: false,
  isRunning: false,
  hasQuestion: false,
  isQueued: false,
  isQueuePaused: false,
  canSteer: false,
  hasModes: false,
  hasModels: false,
  hasOptions: false,
  canFork: false,
  canCheckStatus: false,
  canSignIn: false,
  canSignOut: false,
  canHaveBranches: false,
  usesBucket: false,
  inWorktree: false,
  hasAway: false,
  hasPlan: false,
  /** The side bar shows the session that commands are about. */
  isSideBarCurrent: false,
};

export type ContextKeys = Readonly<Record<keyof typeof NO_SESSION, boolean>>;

export type KeySource = Pick<
  Conversation,
  'connection' | 'cwd' | 'isWorking' | 'sessionId' | 'queue' | 'model' | 'ops'
> & {
  readonly agent: { readonly type: string };
  readonly queueActions: Pick<Conversation['queueActions'], 'steerable'>;
};

export interface SeenState {
  readonly hasAway?: boolean;
  readonly isInSideBar?: boolean;
}

/**
 * @param resources the setting `parley.resources`, not validated
 * @param worktrees the folder of all worktrees; absolute
 */
export function contextKeysOf(
  conversation: KeySource | undefined,
  resources: unknown,
  worktrees: string,
  { hasAway = false, isInSideBar = false }: SeenState = {},
): ContextKeys {
  const usesBucket = at(resources, 'type') === 's3';
  if (!conversation) return { ...NO_SESSION, usesBucket };
  const { connection, model, ops, queue, queueActions } = conversation;
  const { modes, config, permissions, elicitations } = model.state;
  return {
    hasSession: true,
    isRunning: conversation.isWorking || connection.kind === 'starting',
    hasQuestion: permissions.size + elicitations.size > 0,
    isQueued: queue.items.length > 0,
    isQueuePaused: queue.paused !== undefined,
    canSteer: queueActions.steerable !== undefined,
    hasModes: modes.length > 0 || config.some(({ category }) => category === 'mode'),
    hasModels: config.some(({ category }) => category === 'model'),
    hasOptions: config.length > 0,
    canFork: conversation.sessionId !== undefined && ops.can('fork'),
    canCheckStatus: conversation.sessionId !== undefined && ops.can('status'),
    canSignIn: connection.kind === 'authRequired',
    canSignOut: ops.can('logout'),
    // An agent of the Agent Communication Protocol may hold another branch of the session.
    canHaveBranches: conversation.agent.type === 'communication',
    usesBucket,
    inWorktree: isBelow(worktrees, conversation.cwd),
    hasAway,
    hasPlan: model.planIndex !== undefined,
    isSideBarCurrent: isInSideBar,
  };
}

export class ContextKeyPublisher {
  readonly #workbench: Pick<Workbench, 'setContext' | 'folder'>;
  #published: ContextKeys = NO_SESSION;

  constructor(workbench: Pick<Workbench, 'setContext' | 'folder'>) {
    this.#workbench = workbench;
  }

  update(conversation: KeySource | undefined, resources: unknown, seen?: SeenState): void {
    const keys = contextKeysOf(conversation, resources, this.#workbench.folder('worktrees'), seen);
    for (const name of Object.keys(keys) as (keyof ContextKeys)[])
      if (keys[name] !== this.#published[name]) this.#workbench.setContext(name, keys[name]);
    this.#published = keys;
  }
}
