// The handlers of messages that a page of the chat sends about a session.
import { commands, env, l10n } from 'vscode';
import { errorText, messageOf } from '../../base/errors';
import type { Conversation } from '../../client/conversation/conversation';
import { carryOn } from '../../client/conversation/sendAgain';
import { START_MODE } from '../../client/conversation/startMode';
import { sessionHtml } from '../../client/export/exportSession';
import type { SessionFeed } from '../../client/view/feed';
import { changesPage } from '../../client/view/projectChanges';
import { SHOW_BRANCH } from '../../distributed/client/handOver';
import type { ElicitationAction, QueueAction, SessionMessage } from '../../panel/contract';
import { FIX_PROBLEMS, ownText, type PlainCode, UNDO_RESTORE } from '../../session/events/ownText';
import { textOfTurn } from '../../session/model/entryText';
import type { QueuedAttachment } from '../../session/queue/queue';
import { RestoreActions } from '../changes/restoreActions';
import { actOnChanges } from '../changes/reviewActions';
import type { Workbench } from '../core/workbench';
import { CodeBlocks } from '../editor/codeBlocks';
import { EditorContents } from '../editor/entryContents';
import { EditorLinks } from '../editor/linkOpener';
import { RealTerminals } from '../editor/realTerminal';
import { FirstUse } from '../registry/foundAgents';
import { ProblemsAfterTurn } from '../sessions/problemsAfterTurn';
import { sessionMarkdown } from '../sessions/sessionMarkdown';
import { Descriptors } from '../sharing/descriptors';
import { ACTIVE_EDITOR, ActiveEditor } from './activeEditor';
import { contentAttachment, imageAttachment } from './attachments';
import { Away } from './away';
import type { ChatSurface, MessageHandlers } from './chatSurface';
import { clearQueue } from './clearQueue';
import { FocusView } from './focusView';
import { Mentions } from './mentions';
import { SavedPrompts } from './savedPrompts';
import { saveRule } from './saveRule';

type MessageOf<T extends SessionMessage['type']> = Extract<SessionMessage, { type: T }>;

/** Buttons and menu entries of the webview; true if the command is about a session. */
const COMMANDS: Readonly<Record<Exclude<MessageOf<'command'>['command'], 'showKeys'>, boolean>> = {
  newSession: false,
  selectAgent: false,
  selectFolder: false,
  sessions: false,
  showLog: false,
  showTraffic: false,
  troubleshoot: false,
  attachFile: false,
  openSettings: false,
  openDocumentation: false,
  installAgent: false,
  renameSession: true,
  forkSession: true,
  checkStatus: true,
  sessionInfo: true,
  applyWorktree: true,
  commitWorktree: true,
  removeWorktree: true,
  compareSessions: true,
  continueWith: true,
  continueWithSummary: true,
  setModel: true,
  savePreset: true,
  openAsMarkdown: true,
  commentOnPlan: true,
  export: true,
};

const KEYS = 'workbench.action.openGlobalKeybindings';
const OWN_KEYS = '@ext:parley.parley';

/** In characters: programs paste less than this quickly. */
const MAX_RICH_CHARS = 5_000_000;

const NOT_DONE = {
  open: 'changes-not-opened',
  keep: 'changes-not-kept',
  undo: 'changes-not-undone',
  redo: 'changes-not-redone',
} as const;

const SHOW_SESSION = 'show:';

function onFeed<M>(run: (feed: SessionFeed, message: M) => void) {
  return (surface: ChatSurface, conversation: Conversation, message: M): void => {
    if (surface.shows(conversation)) run(surface.feed, message);
  };
}

/** Handles a message and shows a failure in the transcript. */
function reportingFailure<M>(what: PlainCode, run: (conversation: Conversation, message: M) => unknown) {
  return (_surface: ChatSurface, conversation: Conversation, message: M): Promise<void> =>
    tell(conversation, what, () => run(conversation, message));
}

/** Handles an action of the user, which makes commands about its session. */
function asUserAction<M>(run: (surface: ChatSurface, conversation: Conversation, message: M) => unknown) {
  return (surface: ChatSurface, conversation: Conversation, message: M): unknown => {
    surface.used(conversation);
    return run(surface, conversation, message);
  };
}

export function messageHandlers(workbench: Workbench): MessageHandlers {
  const links = workbench.get(EditorLinks);
  const contents = workbench.get(EditorContents);
  const terminals = workbench.get(RealTerminals);
  const firstUse = workbench.get(FirstUse);
  const mentions = workbench.get(Mentions);
  const { missing } = workbench.get(Descriptors);
  const restore = workbench.get(RestoreActions);

  return {
    ack: onFeed((feed, { revision }) => feed.acknowledge(revision)),
    page: onFeed((feed, { from, to }) => feed.page(from, to)),
    nested: onFeed((feed, message) => feed.nested(message)),
    find: onFeed((feed, message) => feed.find(message)),
    findIn: onFeed((feed, message) => feed.find(message)),
    endFind: onFeed((feed, message) => feed.find(message)),
    timeline: onFeed((feed, message) => feed.timeline(message)),
    details: onFeed((feed, { index }) => feed.details(index)),

    wake: asUserAction(async (_surface, conversation) => {
      conversation.changes.warm();
      if (conversation.connection.kind === 'idle') await conversation.start();
      firstUse.look();
    }),
    async send(surface, conversation, { clientId, text, revision, now }) {
      if (surface.attaching) await surface.attaching;
      surface.used(conversation);
      const isSent = trySending(surface, conversation, { clientId }, () => {
        const { id } = conversation.send(text, conversation.unsent.attachments);
        if (now) conversation.queueActions[now](id);
      });
      if (!isSent) return;
      // The composer keeps the text until the message is accepted.
      const left = conversation.unsent.sent(text, revision, surface);
      surface.post({ type: 'accepted', clientId, revision: left.revision });
    },
    sendCommand: asUserAction((surface, conversation, { name }) => {
      if (!conversation.model.state.commands.some((one) => one.name === name)) return;
      trySending(surface, conversation, {}, () => conversation.send(`/${name}`));
    }),
    sendAgain: asUserAction((surface, conversation, { turnId }) => {
      trySending(surface, conversation, {}, () => {
        if (!conversation.sendAgain(turnId)) surface.refuse({}, notResent());
      });
    }),
    unsent: queueUnsent,
    draft(surface, conversation, message) {
      conversation.changes.warm();
      if (!conversation.unsent.write(message, surface)) surface.postDraft(conversation);
    },
    scrolled(_surface, { unsent }, { anchor }) {
      unsent.anchor = anchor ?? undefined;
    },
    cancel: (_surface, conversation) => conversation.cancel(),
    queue: applyQueueAction,
    stopOne: reportingFailure('not-stopped', (conversation, message) => conversation.stopOne(message)),
    setMode: reportingFailure('mode-not-changed', ({ choices }, { modeId }) => choices.setMode(modeId)),
    setConfig: reportingFailure('option-not-changed', ({ choices }, { id, value }) =>
      choices.setConfigOption(id, value),
    ),

    permission(surface, conversation, message) {
      if (!answerPermission(conversation, message)) surface.refuse(message, tooLate());
    },
    showRule: asUserAction(async (_surface, { model }, { index }) => {
      const entry = model.state.entries[index];
      const rule = entry?.kind === 'tool' ? entry.decision?.rule : undefined;
      if (rule !== undefined) await commands.executeCommand('parley.managePermissions', { rule });
    }),
    async permissionRule(surface, conversation, message) {
      if (!(await saveRule(workbench, conversation, message.id))) surface.refuse(message, tooLate());
      // The dialog would return the focus to a removed card.
      if (!conversation.model.state.permissions.has(message.id))
        await commands.executeCommand('parley.toggleFocus', { to: 'question' });
    },
    elicitation: asUserAction((surface, conversation, { id, answer }) =>
      elicit(surface, conversation, id, answer, links),
    ),

    openLocation: reportingFailure('file-not-opened', ({ roots }, { path, line }) =>
      links.openLocation(path, line, roots),
    ),
    openLink: reportingFailure('link-not-opened', ({ roots }, { href }) => links.openLink(href, roots)),
    openDiff: reportingFailure('changes-not-opened', (conversation, { index, content }) =>
      contents.openDiff(conversation, index, content),
    ),
    editProposal: reportingFailure('changes-not-opened', (conversation, { id }) =>
      contents.editProposal(conversation, id),
    ),
    openWritten: reportingFailure('changes-not-opened', (conversation, { index, content }) =>
      contents.openWritten(conversation, index, content),
    ),
    openOutput: reportingFailure('output-not-opened', (conversation, { index, content }) =>
      contents.openOutput(conversation, index, content),
    ),
    saveResource: reportingFailure('file-not-saved', (conversation, { index, content }) =>
      contents.save(conversation, index, content),
    ),
    openTerminal: (_surface, { agent, model }, { terminalId }) =>
      terminals.show(terminalId, model.state.terminals.get(terminalId)?.command ?? agent.name),
    retryGap: reportingFailure('message-not-loaded', (conversation, { id }) => missing.retry(conversation, id)),
    retryGaps: reportingFailure('message-not-loaded', (conversation) => missing.retryAll(conversation)),

    copy: (_surface, _conversation, { text }) => env.clipboard.writeText(text),
    copyTurn: (_surface, { model }, { turnId }) => env.clipboard.writeText(textOfTurn(model.state, turnId)),
    copySession,
    useCode: asUserAction((surface, conversation, message) =>
      workbench
        .get(CodeBlocks)
        .use(message, conversation)
        .catch((error: unknown) => surface.refuse({}, messageOf(error))),
    ),

    attachImage: (_surface, { unsent }, { name, mimeType, data, thumbnail }) =>
      unsent.attach(imageAttachment(name, mimeType, data, thumbnail)),
    attachFile: (_surface, { unsent }, { name, mimeType, data }) =>
      unsent.attach(contentAttachment(name, mimeType, data)),
    detach: (_surface, { unsent }, { id }) => unsent.detach(id),
    mentions: (surface, conversation, { query }) => offerMentions(mentions, surface, conversation, query),
    mention: (surface, conversation, { id }) =>
      attach(surface, conversation, () =>
        id === ACTIVE_EDITOR ? workbench.get(ActiveEditor).attachments() : mentions.attachments(id, conversation.roots),
      ),
    prompts: async (surface) => surface.post({ type: 'prompts', prompts: await workbench.get(SavedPrompts).list() }),
    savePrompt: asUserAction((surface, _conversation, { text }) =>
      workbench
        .get(SavedPrompts)
        .save(text)
        .catch((error: unknown) => surface.refuse({}, messageOf(error))),
    ),
    attachUris: (surface, conversation, { uris }) => attach(surface, conversation, () => mentions.dropped(uris)),

    changes: showChanges,
    changesAction: asUserAction((_surface, conversation, message) =>
      tell(conversation, NOT_DONE[message.kind], () => actOnChanges(conversation, message)),
    ),
    cancelChanges: (_surface, { changes }) => changes.work.cancel(),
    restoreCheckpoint: asUserAction(
      reportingFailure('files-not-restored', (conversation, { turnId }) =>
        restore.restoreCheckpoint(conversation, turnId),
      ),
    ),
    continueFrom: asUserAction(
      reportingFailure('session-not-opened', ({ key }, { turnId, how }) =>
        workbench.run(how === 'review' ? 'reviewWith' : 'editAndResend', { session: key, turnId, how }),
      ),
    ),

    focusView: (_surface, _conversation, { on }) => workbench.get(FocusView).set(on),
    dismissAway: (_surface, { key }) => workbench.get(Away).dismiss(key),
    useAgent: asUserAction(reportingFailure('agent-not-added', (_conversation, { id }) => firstUse.use(id))),
    command: asUserAction((_surface, conversation, { command }) =>
      command === 'showKeys' ? commands.executeCommand(KEYS, OWN_KEYS) : runCommand(conversation, command),
    ),
    action: asUserAction((surface, conversation, { id }) => act(workbench, surface, conversation, id)),
  };
}

function trySending(
  surface: ChatSurface,
  conversation: Conversation,
  ids: { readonly clientId?: string },
  send: () => unknown,
): boolean {
  try {
    send();
    return true;
  } catch (error) {
    surface.refuse(ids, messageOf(error));
    void conversation.start(); // shows why, with possible actions
    return false;
  }
}

/** Shows failures to the user, as VS Code does for a webview menu. */
function runCommand({ key }: Conversation, command: keyof typeof COMMANDS): Thenable<unknown> {
  const id = command === 'attachFile' ? 'addFile' : command;
  const args = COMMANDS[command] ? [{ session: key, webview: 'parley' }] : [];
  return commands.executeCommand(`parley.${id}`, ...args);
}

function isCommand(id: string): id is keyof typeof COMMANDS {
  return Object.hasOwn(COMMANDS, id);
}

/** Queues messages sent while no host was listening. After a break, nothing is sent unasked. */
function queueUnsent(surface: ChatSurface, conversation: Conversation, message: MessageOf<'unsent'>): void {
  const { clientId, messages, text, revision } = message;
  const { unsent } = conversation;
  try {
    // With a newer draft they have already arrived, from another page or a closed one.
    if (unsent.draft.revision <= revision) {
      if (messages.length > 0) {
        conversation.queueActions.addUnsent(messages, unsent.attachments);
        unsent.sent('', revision, surface);
      }
      unsent.write({ text, revision: unsent.draft.revision + 1 }, surface);
    }
  } catch (error) {
    surface.refuse({ clientId }, messageOf(error));
    return;
  }
  surface.post({ type: 'accepted', clientId, revision: unsent.draft.revision });
  if (surface.shows(conversation)) surface.postDraft(conversation);
}

function applyQueueAction(
  surface: ChatSurface,
  conversation: Conversation,
  { action }: { readonly action: QueueAction },
): unknown {
  const { queue, queueActions, edits } = conversation;
  switch (action.kind) {
    case 'edit':
      queue.edit(action.id, action.text);
      return queueActions.pump();
    case 'hold':
      // A late message from a closed page would hold the item forever.
      if (!action.held) return edits.release(action.id, surface);
      return surface.shows(conversation) && surface.isVisible && edits.hold(action.id, surface);
    case 'move':
      return queue.move(action.id, action.to);
    case 'pause':
      return queue.pause('by-user');
    case 'resume':
      return queueActions.resume();
    case 'clear':
      return clearQueue(conversation);
    default:
      return queueActions[action.kind](action.id);
  }
}

/** Answers a permission request. The reason for a rejection becomes the next message. */
function answerPermission(conversation: Conversation, { id, optionId, reason = '' }: MessageOf<'permission'>): boolean {
  const options = conversation.model.state.permissions.get(id)?.options ?? [];
  const isRejection = options.some((option) => option.optionId === optionId && option.kind.startsWith('reject'));
  if (!conversation.answerPermission(id, optionId)) return false;
  if (isRejection && reason.trim() !== '') conversation.queueActions.sendNext(reason.trim());
  return true;
}

async function elicit(
  surface: ChatSurface,
  conversation: Conversation,
  id: string,
  answer: ElicitationAction,
  links: EditorLinks,
): Promise<void> {
  const { elicitations } = conversation;
  switch (answer.kind) {
    case 'submit': {
      const problems = await elicitations.submit(id, answer.values);
      if (!problems) surface.refuse({ id }, tooLate());
      else if (problems.size > 0) surface.post({ type: 'formRefused', id, problems: Object.fromEntries(problems) });
      return;
    }
    case 'open':
      await tell(conversation, 'page-not-opened', () => elicitations.open(id, (url) => links.openAddress(url)));
      return;
    default:
      if (!elicitations.refuse(id, answer.kind)) surface.refuse({ id }, tooLate());
  }
}

async function offerMentions(
  mentions: Mentions,
  surface: ChatSurface,
  conversation: Conversation,
  query: string,
): Promise<void> {
  surface.searching.abort();
  surface.searching = new AbortController();
  const { signal } = surface.searching;
  try {
    for await (const offers of mentions.offers(query, conversation, signal)) {
      if (signal.aborted || !surface.shows(conversation)) return;
      surface.post({ type: 'mentions', query, offers });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Attaches a mention; the next message waits for it. */
async function attach(
  surface: ChatSurface,
  { unsent }: Conversation,
  read: () => Promise<readonly QueuedAttachment[]>,
): Promise<void> {
  const before = surface.attaching;
  const run = async (): Promise<void> => {
    await before;
    const attachments = await read();
    if (attachments.length === 0)
      surface.refuse({}, l10n.t('Nothing could be attached. Use Attach File for files outside of the workspace.'));
    for (const attachment of attachments) unsent.attach(attachment);
  };
  const attaching = run().catch((error: unknown) => surface.refuse({}, messageOf(error)));
  surface.attaching = attaching;
  await attaching;
  if (surface.attaching === attaching) surface.attaching = undefined;
}

async function showChanges(
  surface: ChatSurface,
  conversation: Conversation,
  { scope, from, to }: MessageOf<'changes'>,
): Promise<void> {
  if (!surface.shows(conversation)) return;
  try {
    const page = await changesPage(conversation, scope, from, to);
    if (surface.shows(conversation)) surface.post(page);
  } catch (error) {
    surface.refuse({}, messageOf(error));
  }
}

async function copySession(
  surface: ChatSurface,
  conversation: Conversation,
  { part }: MessageOf<'copySession'>,
): Promise<void> {
  const text = await sessionMarkdown(conversation, part);
  if (part) {
    const parts = [part.before, text.trim(), part.after].filter((one) => one !== '');
    await env.clipboard.writeText(parts.join('\n\n'));
    return;
  }
  const { agent, model } = conversation;
  const html = text.length > MAX_RICH_CHARS ? '' : await sessionHtml(model.state, agent.name);
  if (html === '' || html.length > MAX_RICH_CHARS) await env.clipboard.writeText(text);
  else surface.post({ type: 'clipboard', text, html });
}

async function act(workbench: Workbench, surface: ChatSurface, conversation: Conversation, id: string): Promise<void> {
  const { key, agent } = conversation;
  if (id.startsWith('signIn:')) await conversation.signIn(id.slice('signIn:'.length));
  else if (id.startsWith(START_MODE))
    await tell(conversation, 'mode-not-changed', () => conversation.choices.setStartMode(id.slice(START_MODE.length)));
  else if (id === 'restart') await conversation.restart();
  else if (id === 'takeOver') surface.host.takeOver(key);
  else if (id.startsWith(SHOW_SESSION))
    await tell(conversation, 'session-not-opened', () => surface.host.showSession(id.slice(SHOW_SESSION.length)));
  else if (id.startsWith(SHOW_BRANCH))
    await tell(conversation, 'branch-not-opened', () =>
      commands.executeCommand('parley.showBranch', { session: key, branch: id.slice(SHOW_BRANCH.length) }),
    );
  else if (id.startsWith('continue:'))
    await tell(conversation, 'message-not-resent', async () => {
      if (!(await carryOn(conversation, id))) surface.refuse({}, notResent());
    });
  else if (id === FIX_PROBLEMS) await workbench.get(ProblemsAfterTurn).fix(conversation);
  else if (id === UNDO_RESTORE)
    await tell(conversation, 'files-not-restored', () => workbench.get(RestoreActions).undoRestore(conversation));
  else if (id === 'trust') await commands.executeCommand('workbench.trust.manage');
  else if (id === 'editAgent') await commands.executeCommand('parley.manageAgents', { agent: agent.id });
  else if (id === 'installAgent') await commands.executeCommand('parley.installAgent', { wanted: agent.id });
  else if (isCommand(id)) await runCommand(conversation, id);
  else workbench.log.warn(`unknown action ${id}`);
}

async function tell(conversation: Conversation, what: PlainCode, run: () => unknown): Promise<void> {
  try {
    await run();
  } catch (error) {
    const description = errorText(error);
    const text = ownText(what);
    const event = { type: 'notice', own: true, severity: 'error', title: '', said: text, description } as const;
    conversation.note([{ at: Date.now(), event }]);
  }
}

function tooLate(): string {
  return l10n.t('This question is no longer open.');
}

function notResent(): string {
  return l10n.t('This message can no longer be resent.');
}
