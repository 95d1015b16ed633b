// Projects everything around the transcript for the webview, field by field, so that a change sends
// only its own fields.

import * as l10n from '@vscode/l10n';
import type { AuthMethod, PromptCapabilities } from '../../acp/protocol/dialect';
import { localize } from '../../base/localizable';
import { head } from '../../base/text';
import type {
  ActionView,
  AttachmentView,
  ErrorView,
  PlanProgressView,
  QueueItemView,
  SessionPhase,
  SessionView,
  StageName,
} from '../../panel/contract';
import type { SessionPart } from '../../session/model/changes';
import { offeredModes } from '../../session/model/choices';
import { isAway, type QueuedAttachment } from '../../session/queue/queue';
import { isTransient } from '../connection/failures';
import { canStart, descriptionOf, guidanceOf, labelOf } from '../connection/signIn';
import type { Conversation } from '../conversation/conversation';
import { sentBytes } from '../prompts/promptContent';
import { endedLabel, waitingLabel, workingLabel } from './livenessLabels';
import { changesOfTurn, reviewOf, waitingFilesOf } from './projectChanges';
import { projectTurn } from './projectItem';
import { backgroundOf, elicitationsOf, permissionsOf, waitsForAnswer } from './projectRequests';
import { waitReasonLabel } from './waitReasonLabels';

type Field = keyof SessionView;

const MAX_STEP = 300;

const FIELDS: Record<SessionPart, readonly Field[]> = {
  connection: [
    'phase',
    'status',
    'liveness',
    'stages',
    'error',
    'canAttachImages',
    'canAttachAudio',
    'canAttachFiles',
    'canFork',
    'canCheckStatus',
    'agentName',
    'startMode',
    'attachments',
    'queue',
    'queuePaused',
    'canSteer',
  ],
  queue: ['queue', 'queuePaused', 'canSteer', 'failedTurnId'],
  attachments: ['attachments', 'canSteer'],
  turn: [
    'turn',
    'canSteer',
    'turnCount',
    'plan',
    'phase',
    'status',
    'queue',
    'error',
    'permissions',
    'failedTurnId',
    'suggestion',
  ],
  permissions: ['permissions', 'phase', 'status', 'queue'],
  elicitations: ['elicitations', 'phase', 'status', 'queue'],
  background: ['background'],
  commands: ['commands'],
  modes: ['modes', 'mode', 'startMode'],
  config: ['config', 'modes', 'startMode'],
  usage: ['usage'],
  limits: ['limits'],
  info: ['title'],
  plan: ['plan'],
  review: ['review', 'waitingFiles', 'changesWork'],
};

const READ: { readonly [K in Field]: (conversation: Conversation) => SessionView[K] | undefined } = {
  key: (c) => c.key,
  agentId: (c) => c.agent.id,
  agentName: (c) => c.agent.name,
  title: (c) => c.model.state.title,
  phase: phaseOf,
  status: statusOf,
  liveness: (c) => c.liveness,
  // Before a restart, those of the last start are outdated.
  stages: (c) => (phaseOf(c) === 'recovering' || c.isAttaching ? [] : [...c.stages.view]),
  error: errorOf,
  turn: (c) =>
    c.model.state.turn ? projectTurn(c.model.state.turn, changesOfTurn(c, c.model.state.turn.id)) : undefined,
  failedTurnId: (c) => c.failedTurnId,
  turnCount: (c) => c.model.state.turns.length,
  plan: planOf,
  queue: queueOf,
  queuePaused: (c) => (c.queue.paused === undefined ? undefined : waitReasonLabel(c.queue.paused)),
  canSteer: (c) => c.turns.steers({ text: '', attachments: c.unsent.attachments }) === true,
  permissions: permissionsOf,
  elicitations: elicitationsOf,
  background: backgroundOf,
  commands: (c) => c.model.state.commands,
  modes: (c) => offeredModes(c.model.state),
  mode: (c) => c.model.state.mode,
  config: (c) => c.model.state.config,
  usage: (c) => c.model.state.usage,
  limits: (c) => (c.model.state.limits.length > 0 ? c.model.state.limits : undefined),
  suggestion: suggestionOf,
  attachments: (c) =>
    c.unsent.attachments.map((attachment) => attachmentOf(attachment, c.link?.description.features.prompt)),
  canAttachImages: (c) => c.promptCapabilities.image,
  canAttachAudio: (c) => c.promptCapabilities.audio,
  canAttachFiles: (c) => c.promptCapabilities.embeddedContext,
  canFork: (c) => c.sessionId !== undefined && c.ops.can('fork'),
  canCheckStatus: (c) => c.sessionId !== undefined && c.ops.can('status'),
  review: reviewOf,
  waitingFiles: waitingFilesOf,
  changesWork: (c) => c.changes.work.view,
  startMode: (c) => (c.connection.kind === 'ready' && c.agent.id !== 'demo' ? c.choices.startMode.view : undefined),
  banner: (c) => (c.agent.id === 'demo' ? l10n.t('This is a scripted demo, not a model.') : undefined),
};

function attachmentOf(attachment: QueuedAttachment, capabilities: PromptCapabilities | undefined): AttachmentView {
  const { id, kind, label, detail, thumbnail } = attachment;
  const bytes = sentBytes(attachment, capabilities);
  return { id, kind, label, detail: detail || undefined, bytes, thumbnail: thumbnail || undefined };
}

function suggestionOf({ model, services }: Conversation): SessionView['suggestion'] {
  const text = model.state.suggestion;
  const setting = services.suggestions?.() ?? 'off';
  return text !== undefined && setting !== 'off' ? { text, always: setting === 'on' } : undefined;
}

function planOf({ model }: Conversation): PlanProgressView | undefined {
  const index = model.planIndex;
  const entry = index === undefined ? undefined : model.state.entries[index];
  if (entry?.kind !== 'plan' || entry.removed) return undefined;
  const openSteps = entry.entries.filter(({ status }) => status !== 'completed' && status !== 'cancelled');
  const step = openSteps.find(({ status }) => status === 'in_progress') ?? openSteps[0];
  if (!step) return undefined;
  const done = entry.entries.filter(({ status }) => status === 'completed').length;
  return { index: entry.index, done, total: entry.entries.length, step: head(step.content, MAX_STEP) };
}

export function projectSession(conversation: Conversation): SessionView {
  const view: Record<string, unknown> = {};
  for (const field in READ) {
    const value = READ[field as Field](conversation);
    if (value !== undefined) view[field] = value;
  }
  return view as unknown as SessionView;
}

/** Null: the field no longer has a value. */
export function patchSession(
  conversation: Conversation,
  parts: Iterable<SessionPart>,
): { readonly [K in Field]?: SessionView[K] | null } {
  const fields = new Set<Field>();
  for (const part of parts) for (const field of FIELDS[part]) fields.add(field);
  const patch: Record<string, unknown> = {};
  for (const field of fields) patch[field] = READ[field](conversation) ?? null;
  return patch;
}

export function phaseOf(conversation: Conversation): SessionPhase {
  const { connection, model } = conversation;
  // The agent runs and will be attached in a moment.
  switch (conversation.isAttaching ? 'ready' : connection.kind) {
    case 'failed':
      // Nothing was tried, so nothing failed.
      return isHeld(conversation) || isRestricted(conversation) ? 'idle' : 'failed';
    case 'idle':
    case 'authRequired':
    case 'exited':
    case 'recovering':
      return connection.kind as SessionPhase;
    case 'starting': {
      if (connection.kind === 'starting' && connection.reconnects && !conversation.waitsForUser) return 'recovering';
      const stage = conversation.stages.current?.name;
      return stage === undefined || stage === 'resolve' || stage === 'spawn' || stage === 'connect'
        ? 'starting'
        : 'initializing';
    }
    case 'ready':
      if (conversation.ignoresStop) return 'unresponsive';
      if (model.state.permissions.size > 0 || waitsForAnswer(model.state)) return 'requiresAction';
      if (model.state.agentState === 'requires_action' && conversation.isBusy) return 'requiresAction';
      if (conversation.isAsked) return 'requiresAction';
      return conversation.isWorking ? 'running' : 'ready';
  }
}

export function statusOf(conversation: Conversation): string {
  const { model, connection } = conversation;
  switch (phaseOf(conversation)) {
    case 'idle':
      if (isHeld(conversation)) return l10n.t('Read-only');
      if (isRestricted(conversation)) return l10n.t('Restricted Mode');
      return conversation.isSuspended ? l10n.t('Stopped while idle') : l10n.t('Starts with your next message');
    case 'starting':
    case 'initializing': {
      if (conversation.waitsForUser) return l10n.t('Waiting for you');
      const { current } = conversation.stages;
      return current ? STAGES[current.name](conversation.agent.name) : l10n.t('Starting');
    }
    case 'authRequired':
      return l10n.t('Sign-in required');
    case 'ready':
      return conversation.liveness === 'not_found' ? l10n.t('The agent no longer has this session') : l10n.t('Ready');
    case 'running':
      if (conversation.isPreparing) return l10n.t('Checking session');
      return model.state.turn?.cancelRequested ? l10n.t('Stopping') : workingLabel(conversation.lifeSigns);
    case 'requiresAction':
      return l10n.t('Waiting for you');
    case 'unresponsive':
      return l10n.t("Isn't responding to Stop");
    case 'recovering':
      return recoveryLabel(conversation);
    case 'exited':
      return connection.kind === 'exited' ? endedLabel(connection.error.code) : endedLabel('');
    case 'failed':
      return l10n.t("Couldn't start");
  }
}

/** Read-only: another window has the session, or it is a recording. */
function isHeld({ connection }: Conversation): boolean {
  return (
    connection.kind === 'failed' && (connection.error.code === 'session-held' || connection.error.code === 'recording')
  );
}

function isRestricted({ connection }: Conversation): boolean {
  return connection.kind === 'failed' && connection.error.code === 'untrusted-workspace';
}

function recoveryLabel({ connection }: Conversation): string {
  if (connection.kind !== 'recovering') return l10n.t('Reconnecting…');
  const { attempt, of } = connection.attempt;
  return isTransient(connection.error)
    ? l10n.t('Connection lost, reconnecting ({0} of {1})', attempt, of)
    : l10n.t('Agent ended, restarting ({0} of {1})', attempt, of);
}

const connecting = (agent: string): string => l10n.t('Connecting to {0}', agent);

const STAGES: Readonly<Record<StageName, (agent: string) => string>> = {
  resolve: () => l10n.t('Finding agent'),
  spawn: () => l10n.t('Starting process'),
  connect: connecting,
  initialize: connecting,
  'sign-in': () => l10n.t('Signing in'),
  session: () => l10n.t('Opening session'),
  ready: () => l10n.t('Preparing session'),
};

function queueOf(conversation: Conversation): QueueItemView[] {
  const { queue } = conversation;
  const waits = waitReason(conversation);
  return queue.items.map((item, index) => {
    const { id, text, attachments, state, reason, held } = item;
    const steer = isAway(item) ? undefined : conversation.turns.steers(item);
    const why =
      (reason === undefined ? undefined : waitReasonLabel(reason)) ??
      (held
        ? l10n.t('Being edited')
        : state === 'accepted'
          ? l10n.t('Accepted by agent')
          : // A paused queue is reported once, above its messages.
            index === 0 && queue.paused === undefined
            ? waits
            : undefined);
    return {
      id,
      text,
      attachments: attachments.map(({ id, kind, label, detail }) => ({ id, kind, label, detail: detail || undefined })),
      state: state === 'queued' && queue.paused !== undefined ? 'paused' : state,
      reason: why || undefined,
      steer: steer === true ? steer : steer && localize(steer),
    };
  });
}

function waitReason(conversation: Conversation): string {
  switch (phaseOf(conversation)) {
    case 'running':
      return conversation.model.state.turn?.cancelRequested
        ? l10n.t('Waiting for the turn to stop')
        : waitingLabel(conversation.lifeSigns);
    case 'requiresAction':
      return l10n.t('Waiting for your answer');
    case 'authRequired':
      return l10n.t('Waiting for you to sign in');
    case 'starting':
    case 'initializing':
      return l10n.t('Waiting for the agent to start');
    case 'ready':
      return l10n.t('Next');
    default:
      return l10n.t('Waiting for the agent');
  }
}

function errorOf(conversation: Conversation): ErrorView | undefined {
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
    const { methods, error, words } = connection;
    const starts = (method: AuthMethod): boolean => canStart(method, agent);
    const others = methods.filter((method) => !starts(method));
    // Shows what a button runs in a terminal before it is pressed.
    const guidance = methods
      .filter((method) => method.type === 'terminal' || !starts(method))
      .map((method) => localize(guidanceOf(method, agent)))
      .join(' ');
    const [firstSignIn, ...signIn] = methods.filter(starts).map((method) => ({
      id: `signIn:${method.id}`,
      label: localize(labelOf(method)),
      detail: descriptionOf(method),
    }));
    const more = [...(others.some(({ type }) => type === 'env_var') ? [editAgent()] : []), tryAgain(), otherAgent()];
    return {
      code: error ? 'sign-in-failed' : 'auth-required',
      stage: 'sign-in',
      message: error
        ? l10n.t("Couldn't sign in to {0}: {1}", agent.name, error)
        : l10n.t('Sign in to use {0}.', agent.name),
      hint: [words, guidance].filter(Boolean).join(' ') || undefined,
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

function actionsFor(
  code: string,
  kind: 'failed' | 'exited' | 'recovering',
): readonly [ActionView, ...(readonly ActionView[])] {
  if (kind === 'recovering') return [isTransient({ code }) ? reconnect() : restart(), otherAgent(), showLog()];
  if (code === 'recording') return [newSession()];
  if (code === 'session-held') return [{ id: 'takeOver', label: l10n.t('Take over') }, newSession()];
  if (code === 'untrusted-workspace') return [{ id: 'trust', label: l10n.t('Manage workspace trust') }];
  // It may be in the registry.
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
