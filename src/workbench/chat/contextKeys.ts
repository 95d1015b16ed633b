// Context keys for the `when` clauses in package.json.
import { at } from '../../base/untrusted';
import type { Conversation } from '../../client/conversation/conversation';
import type { Workbench } from '../core/workbench';

/** Values without a session; each key is `parley.NAME` in package.json. */
export const NO_SESSION = {
  hasSession: false,
  isRunning: false,
  hasModes: false,
  hasModels: false,
  hasOptions: false,
  canFork: false,
  canHaveBranches: false,
  usesBucket: false,
  /** The side bar shows the session that commands are about. */
  isSideBarCurrent: false,
};

export type ContextKeys = Readonly<Record<keyof typeof NO_SESSION, boolean>>;

export type KeySource = Pick<Conversation, 'connection' | 'isWorking' | 'sessionId' | 'model' | 'ops'> & {
  readonly agent: { readonly type: string };
};

/** @param resources the setting `parley.resources`, not validated */
export function contextKeysOf(
  conversation: KeySource | undefined,
  resources: unknown,
  isInSideBar = false,
): ContextKeys {
  const usesBucket = at(resources, 'type') === 's3';
  if (!conversation) return { ...NO_SESSION, usesBucket };
  const { connection, model, ops } = conversation;
  const { modes, config } = model.state;
  return {
    hasSession: true,
    isRunning: conversation.isWorking || connection.kind === 'starting',
    hasModes: modes.length > 0 || config.some(({ category }) => category === 'mode'),
    hasModels: config.some(({ category }) => category === 'model'),
    hasOptions: config.length > 0,
    canFork: conversation.sessionId !== undefined && ops.can('fork'),
    // An agent of the Agent Communication Protocol may have another branch of the session.
    canHaveBranches: conversation.agent.type === 'communication',
    usesBucket,
    isSideBarCurrent: isInSideBar,
  };
}

export class ContextKeyPublisher {
  readonly #workbench: Pick<Workbench, 'setContext'>;
  #published: ContextKeys = NO_SESSION;

  constructor(workbench: Pick<Workbench, 'setContext'>) {
    this.#workbench = workbench;
  }

  update(conversation: KeySource | undefined, resources: unknown, isInSideBar?: boolean): void {
    const keys = contextKeysOf(conversation, resources, isInSideBar);
    for (const name of Object.keys(keys) as (keyof ContextKeys)[])
      if (keys[name] !== this.#published[name]) this.#workbench.setContext(name, keys[name]);
    this.#published = keys;
  }
}
