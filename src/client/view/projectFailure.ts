// Projects the failure of a conversation's agent, and the actions that the panel offers for it.
import * as l10n from '@vscode/l10n';
import type { AuthMethod } from '../../acp/protocol/dialect';
import { localize } from '../../base/localizable';
import type { ActionView, ErrorView } from '../../panel/contract';
import { mayPass } from '../connection/failures';
import { canStart, guidanceOf, nameOf } from '../connection/signIn';
import type { Conversation } from '../conversation/conversation';

export function errorOf(conversation: Conversation): ErrorView | undefined {
  const { connection, agent } = conversation;
  if (conversation.ignoresStop) {
    return {
      code: 'stop-ignored',
      message: l10n.t("{0} isn't responding to Stop.", agent.name),
      hint: l10n.t('Wait, or restart the agent. The conversation is kept.'),
      actions: withPrimary(restart(), showLog()),
    };
  }
  if (connection.kind === 'authRequired') {
    const { methods, error } = connection;
    const starts = (method: AuthMethod): boolean => canStart(method, agent);
    const others = methods.filter((method) => !starts(method));
    // What a button runs in a terminal is shown before it is pressed.
    const guidance = methods
      .filter((method) => method.type === 'terminal' || !starts(method))
      .map((method) => localize(guidanceOf(method, agent)))
      .join(' ');
    const [firstSignIn, ...signIn] = methods
      .filter(starts)
      .map((method) => ({ id: `signIn:${method.id}`, label: nameOf(method) }));
    const more = [...(others.some(({ type }) => type === 'env_var') ? [editAgent()] : []), tryAgain(), otherAgent()];
    return {
      code: error ? 'sign-in-failed' : 'auth-required',
      stage: 'sign-in',
      message: error
        ? l10n.t("Couldn't sign in to {0}: {1}", agent.name, error)
        : l10n.t('Sign in to use {0}.', agent.name),
      hint: guidance || undefined,
      actions: firstSignIn ? withPrimary(firstSignIn, ...signIn, ...more) : more,
    };
  }
  if (connection.kind !== 'failed' && connection.kind !== 'exited' && connection.kind !== 'recovering')
    return undefined;
  const { code, message, hint, stderr } = connection.error;
  return {
    code,
    message,
    hint: hint || undefined,
    stderr: stderr || undefined,
    stage: connection.kind === 'failed' && connection.stage ? connection.stage : undefined,
    actions: withPrimary(...actionsFor(code, connection.kind)),
  };
}

const restart = (): ActionView => ({ id: 'restart', label: l10n.t('Restart agent') });
const reconnect = (): ActionView => ({ id: 'restart', label: l10n.t('Reconnect') });
const tryAgain = (): ActionView => ({ id: 'restart', label: l10n.t('Try again') });
const newSession = (): ActionView => ({ id: 'newSession', label: l10n.t('New session') });
const otherAgent = (): ActionView => ({ id: 'selectAgent', label: l10n.t('Select another agent…') });
const addAgent = (): ActionView => ({ id: 'installAgent', label: l10n.t('Add agent…') });
const showLog = (): ActionView => ({ id: 'showLog', label: l10n.t('Show log') });
const editAgent = (): ActionView => ({ id: 'editAgent', label: l10n.t('Edit agent…') });
const troubleshoot = (): ActionView => ({ id: 'troubleshoot', label: l10n.t('Troubleshoot') });

const NEEDS_SETTING: ReadonlySet<string> = new Set([
  'agent-unknown',
  'not-an-agent-server',
  'agent-server-unauthorized',
]);

/** The first is the one that helps most. */
function actionsFor(
  code: string,
  kind: 'failed' | 'exited' | 'recovering',
): readonly [ActionView, ...(readonly ActionView[])] {
  if (kind === 'recovering') return [mayPass({ code }) ? reconnect() : restart(), otherAgent(), showLog()];
  if (code === 'recording') return [newSession()];
  if (code === 'session-held') return [{ id: 'takeOver', label: l10n.t('Take over') }, newSession()];
  if (code === 'untrusted-workspace') return [{ id: 'trust', label: l10n.t('Manage workspace trust') }];
  // It may be in the registry, ready to be installed.
  if (code === 'agent-not-found') return [editAgent(), addAgent(), tryAgain(), otherAgent(), troubleshoot(), showLog()];
  if (code === 'agent-not-executable' || NEEDS_SETTING.has(code))
    return [editAgent(), tryAgain(), otherAgent(), troubleshoot(), showLog()];
  if (code === 'session-not-found' || code === 'session-not-opened' || code.startsWith('cannot-'))
    return [newSession(), tryAgain(), otherAgent(), showLog()];
  if (code === 'connection-lost') return [reconnect(), otherAgent(), showLog()];
  return kind === 'exited'
    ? [restart(), otherAgent(), troubleshoot(), showLog()]
    : [tryAgain(), otherAgent(), editAgent(), troubleshoot(), showLog()];
}

function withPrimary(first: ActionView, ...others: readonly ActionView[]): readonly ActionView[] {
  return [{ ...first, primary: true }, ...others];
}
