// Everything around the transcript as the webview shows it, field by field, so that a change sends only its own fields.

import { head } from '../../base/text';
import type {
  ActionView,
  ErrorView,
  PermissionView,
  QueueItemView,
  SessionPhase,
  SessionView,
} from '../../panel/contract';
import type { SessionPart } from '../../session/model/changes';
import { canStart, guidanceOf } from '../connection/signIn';
import type { Conversation } from '../conversation/conversation';
import { endedLabel, waitingLabel, workingLabel } from './livenessLabels';
import { projectTurn } from './projectItem';
import { backgroundOf, elicitationsOf, waitsForAnswer } from './projectQuestions';
import { waitReasonLabel } from './waitReasonLabels';

type Field = keyof SessionView;

/** Characters of what a question says beside its title. */
const MAX_DESCRIPTION = 10_000;
const MAX_COMMAND = 20_000;

/** The fields that a change of each part may change. */
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
    'agentName',
    'queue',
    'queuePaused',
  ],
  queue: ['queue', 'queuePaused', 'failedTurnId'],
  attachments: ['attachments'],
  turn: ['turn', 'turnCount', 'phase', 'status', 'queue', 'error', 'permissions', 'failedTurnId'],
  permissions: ['permissions', 'phase', 'status', 'queue'],
  elicitations: ['elicitations', 'phase', 'status', 'queue'],
  background: ['background'],
  commands: ['commands'],
  modes: ['modes', 'mode'],
  config: ['config'],
  usage: ['usage'],
  info: ['title'],
};

const READ: { readonly [K in Field]: (conversation: Conversation) => SessionView[K] | undefined } = {
  key: (c) => c.key,
  agentId: (c) => c.agent.id,
  agentName: (c) => c.agent.name,
  title: (c) => c.model.state.title,
  phase: phaseOf,
  status: statusOf,
  liveness: (c) => c.liveness,
  // While it waits to start again, those of its last start say nothing.
  stages: (c) => (c.connection.kind === 'recovering' ? [] : [...c.stages.view]),
  error: errorOf,
  turn: (c) => (c.model.state.turn ? projectTurn(c.model.state.turn) : undefined),
  failedTurnId: (c) => c.failedTurnId,
  turnCount: (c) => c.model.state.turns.length,
  queue: queueOf,
  queuePaused: (c) => (c.queue.paused === undefined ? undefined : waitReasonLabel(c.queue.paused)),
  permissions: permissionsOf,
  elicitations: elicitationsOf,
  background: backgroundOf,
  commands: (c) => c.model.state.commands,
  modes: (c) => c.model.state.modes,
  mode: (c) => c.model.state.mode,
  config: (c) => c.model.state.config,
  usage: (c) => c.model.state.usage,
  attachments: (c) =>
    c.unsent.attachments.map(({ id, kind, label, detail, thumbnail }) => ({
      id,
      kind,
      label,
      ...(detail && { detail }),
      ...(thumbnail && { thumbnail }),
    })),
  canAttachImages: (c) => c.promptCapabilities.image,
  canAttachAudio: (c) => c.promptCapabilities.audio,
  canAttachFiles: (c) => c.promptCapabilities.embeddedContext,
  banner: (c) =>
    c.agent.id === 'demo' ? 'A scripted demo, not a model. Choose a real agent with “Select Agent”.' : undefined,
};

/** The whole view. */
export function projectSession(conversation: Conversation): SessionView {
  const view: Record<string, unknown> = {};
  for (const field in READ) {
    const value = READ[field as Field](conversation);
    if (value !== undefined) view[field] = value;
  }
  return view as unknown as SessionView;
}

/** The fields that the changed parts touch; a field that has no value any more travels as null. */
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

/** The one word for where a session is. */
export function phaseOf(conversation: Conversation): SessionPhase {
  const { connection, model } = conversation;
  switch (connection.kind) {
    case 'failed':
      // Nothing was tried, so nothing failed.
      return isHeld(conversation) ? 'idle' : 'failed';
    case 'idle':
    case 'authRequired':
    case 'exited':
    case 'recovering':
      return connection.kind;
    case 'starting': {
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
      return conversation.isBusy ? 'running' : 'ready';
  }
}

/** Where a session is, in words. */
export function statusOf(conversation: Conversation): string {
  const { model, connection } = conversation;
  switch (phaseOf(conversation)) {
    case 'idle':
      if (isHeld(conversation)) return 'read only';
      return conversation.isSuspended ? 'stopped while idle' : 'not started';
    case 'starting':
    case 'initializing': {
      if (conversation.waitsForUser) return 'waiting for you';
      const stage = conversation.stages.current;
      return stage ? `starting: ${STAGE_WORDS[stage.name]}` : 'starting';
    }
    case 'authRequired':
      return 'sign in to go on';
    case 'ready':
      return conversation.liveness === 'not_found' ? 'the agent does not know this session' : 'ready';
    case 'running':
      if (conversation.isPreparing) return 'checking the session';
      return model.state.turn?.cancelRequested ? 'stopping' : workingLabel(conversation.lifeSigns);
    case 'requiresAction':
      return 'waiting for you';
    case 'unresponsive':
      return 'does not stop';
    case 'recovering':
      return recoveryLabel(conversation);
    case 'exited':
      return connection.kind === 'exited' ? endedLabel(connection.error.code) : 'ended';
    case 'failed':
      return 'could not start';
  }
}

/** Another window has it. */
function isHeld({ connection }: Conversation): boolean {
  return connection.kind === 'failed' && connection.error.code === 'session-held';
}

function recoveryLabel({ connection }: Conversation): string {
  if (connection.kind !== 'recovering') return 'recovering';
  const { attempt, of } = connection.attempt;
  const what = connection.error.code === 'connection-lost' ? 'connection lost, trying again' : 'ended, starting again';
  return `${what} (${attempt} of ${of})`;
}

const STAGE_WORDS = {
  resolve: 'looking for the agent',
  spawn: 'starting the process',
  connect: 'connecting',
  initialize: 'waiting for initialize',
  'sign-in': 'signing in',
  session: 'opening a session',
  ready: 'getting ready',
} as const;

const RESTART: ActionView = { id: 'restart', label: 'Start again', primary: true };
const NEW_SESSION: ActionView = { id: 'newSession', label: 'Start a new session', primary: true };
const RECONNECT: ActionView = { ...RESTART, label: 'Reconnect' };
const OTHER_AGENT: ActionView = { id: 'selectAgent', label: 'Choose another agent' };
const SHOW_LOG: ActionView = { id: 'showLog', label: 'Show log' };
const SETTINGS: ActionView = { id: 'openSettings', label: 'Open settings' };

function errorOf(conversation: Conversation): ErrorView | undefined {
  const { connection, agent } = conversation;
  if (conversation.ignoresStop) {
    return {
      code: 'stop-ignored',
      message: `${agent.name} was asked to stop and goes on.`,
      hint: 'You can wait, or end it and start it again. The conversation stays.',
      actions: [{ id: 'restart', label: 'End and start again', primary: true }, SHOW_LOG],
    };
  }
  if (connection.kind === 'authRequired') {
    const { methods, error } = connection;
    const signIn = methods.filter(canStart);
    const others = methods.filter((method) => !canStart(method));
    const guidance = others.map(guidanceOf).join(' ');
    const needsSetting = others.some(({ type }) => type === 'env_var');
    return {
      code: 'auth-required',
      stage: 'sign-in',
      message: error ? `Signing in to ${agent.name} failed: ${error}` : `${agent.name} wants you to sign in.`,
      ...(guidance && { hint: guidance }),
      actions: [
        ...signIn.map(({ id, name }, index) => ({
          id: `signIn:${id}`,
          label: name,
          ...(index === 0 && { primary: true as const }),
        })),
        ...(needsSetting ? [SETTINGS] : []),
        { id: 'restart', label: 'Try again' },
        OTHER_AGENT,
      ],
    };
  }
  if (connection.kind !== 'failed' && connection.kind !== 'exited' && connection.kind !== 'recovering')
    return undefined;
  const { code, message, hint, stderr } = connection.error;
  return {
    code,
    message,
    ...(hint && { hint }),
    ...(stderr && { stderr }),
    ...(connection.kind === 'failed' && connection.stage && { stage: connection.stage }),
    actions:
      connection.kind === 'recovering'
        ? [code === 'connection-lost' ? { ...RECONNECT, label: 'Reconnect now' } : RESTART, OTHER_AGENT, SHOW_LOG]
        : actionsFor(code, connection.kind === 'exited'),
  };
}

/** What an HTTP agent cannot be reached for until its entry is corrected. */
const NEEDS_SETTING: ReadonlySet<string> = new Set([
  'agent-unknown',
  'not-an-agent-server',
  'agent-server-unauthorized',
]);

function actionsFor(code: string, exited: boolean): ActionView[] {
  if (code === 'session-held')
    return [
      { id: 'takeOver', label: 'Take over', primary: true },
      { id: 'newSession', label: NEW_SESSION.label },
    ];
  if (code === 'untrusted-workspace') return [{ id: 'trust', label: 'Manage workspace trust', primary: true }];
  if (code === 'agent-not-found' || code === 'agent-not-executable' || NEEDS_SETTING.has(code)) {
    return [{ ...SETTINGS, primary: true }, { id: 'restart', label: 'Try again' }, OTHER_AGENT, SHOW_LOG];
  }
  if (code === 'session-not-found' || code === 'session-not-opened' || code.startsWith('cannot-'))
    return [NEW_SESSION, { id: 'restart', label: 'Try again' }, OTHER_AGENT, SHOW_LOG];
  if (code === 'connection-lost') return [RECONNECT, OTHER_AGENT, SHOW_LOG];
  return exited
    ? [RESTART, OTHER_AGENT, SHOW_LOG]
    : [{ ...RESTART, label: 'Try again' }, OTHER_AGENT, SETTINGS, SHOW_LOG];
}

function queueOf(conversation: Conversation): QueueItemView[] {
  const { queue } = conversation;
  const waits = waitReason(conversation);
  return queue.items.map(({ id, text, attachments, state, reason, held }, index) => {
    const why =
      (reason === undefined ? undefined : waitReasonLabel(reason)) ??
      (held
        ? 'being edited'
        : state === 'accepted'
          ? 'the agent has it and takes it in when it can'
          : queue.paused !== undefined
            ? 'paused'
            : index === 0
              ? waits
              : undefined);
    return {
      id,
      text,
      attachments: attachments.map(({ id, kind, label, detail }) => ({ id, kind, label, ...(detail && { detail }) })),
      state: state === 'queued' && queue.paused !== undefined ? 'paused' : state,
      ...(why && { reason: why }),
    };
  });
}

function waitReason(conversation: Conversation): string {
  switch (phaseOf(conversation)) {
    case 'running':
      return conversation.model.state.turn?.cancelRequested
        ? 'waits for the turn to stop'
        : waitingLabel(conversation.lifeSigns);
    case 'requiresAction':
      return 'waits for your answer';
    case 'authRequired':
      return 'waits for you to sign in';
    case 'starting':
    case 'initializing':
      return 'waits for the agent to start';
    case 'ready':
      return 'next';
    default:
      return 'waits for the agent';
  }
}

function permissionsOf(conversation: Conversation): PermissionView[] {
  return [...conversation.model.state.permissions.values()].map(
    ({ id, title, description, command, options, toolCallId }) => ({
      id,
      title,
      options,
      ...(description && { description: head(description, MAX_DESCRIPTION) }),
      ...(command && { command: { ...command, line: head(command.line, MAX_COMMAND) } }),
      index: (toolCallId === undefined ? undefined : conversation.model.toolIndex(toolCallId)) ?? -1,
      ...(toolCallId !== undefined && { toolCallId }),
    }),
  );
}
