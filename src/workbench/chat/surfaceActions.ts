// Does what a page of the chat asks for: sends, stops and answers in the conversation that it
// shows, and opens what its transcript names.
import { commands, env, l10n } from 'vscode';
import { errorText, messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { Conversation } from '../../client/conversation/conversation';
import { carryOn } from '../../client/conversation/sendAgain';
import { sessionHtml } from '../../client/export/exportSession';
import type { PermissionRule } from '../../client/rules/permissionRule';
import type { SessionFeed } from '../../client/view/feed';
import { changesPage } from '../../client/view/projectChanges';
import { SHOW_BRANCH } from '../../distributed/client/branchName';
import type { ElicitationAction, QueueAction, SessionMessage, ToWebview } from '../../panel/contract';
import { FIX_PROBLEMS, ownText, type PlainCode, UNDO_RESTORE } from '../../session/events/ownText';
import { textOfTurn } from '../../session/model/entryText';
import type { QueuedAttachment } from '../../session/queue/queue';
import type { ChangesUi } from '../changes/changesUi';
import type { CodeBlocks } from '../editor/codeBlocks';
import type { EntryContents } from '../editor/entryContents';
import type { LinkOpener } from '../editor/linkOpener';
import type { FirstUse } from '../registry/firstUse';
import { sessionMarkdown } from '../sessions/sessionMarkdown';
import { ACTIVE_EDITOR, type ActiveEditor } from './activeEditor';
import { contentAttachment, imageAttachment } from './attachments';
import type { Away } from './away';
import { clearQueue } from './clearQueue';
import type { Mentions } from './mentions';
import type { RulePast } from './rulePast';
import { saveRule } from './saveRule';

/** What the actions of a page need from the rest of the workbench. */
export interface ActionServices {
  readonly log: Log;
  readonly links: LinkOpener;
  readonly contents: EntryContents;
  readonly changes: ChangesUi;
  readonly terminals: { show(terminalId: string, title: string): void };
  /** Asks again for a message that is missing from a session of elsewhere. */
  readonly retryGap: (conversation: Conversation, gapId: string) => Promise<void>;
  /** The same for all messages that are missing. */
  readonly retryGaps: (conversation: Conversation) => Promise<void>;
  /** Asks the agent to fix the problems in the files of the last turn. */
  readonly fixProblems: (conversation: Conversation) => Promise<void>;
  /** What `@` offers in the composer. */
  readonly mentions: Pick<Mentions, 'offers' | 'attachments' | 'dropped'>;
  /** What of the editor the composer offers as context. */
  readonly activeEditor: Pick<ActiveEditor, 'view' | 'onDidChange' | 'attachments'>;
  /** What happened in sessions while nobody looked. */
  readonly away: Pick<Away, 'dismiss'>;
  /** What a permission rule would have allowed so far. */
  readonly rulePast: (rule: PermissionRule) => Promise<RulePast>;
  /** What is done with code blocks. */
  readonly code: Pick<CodeBlocks, 'use'>;
  /** What an empty conversation offers. */
  readonly firstUse: Pick<FirstUse, 'view' | 'onDidChange' | 'look' | 'use'>;
}

/** Buttons and menu entries of the webview, and the commands behind them. */
const COMMANDS = {
  newSession: 'parley.newSession',
  selectAgent: 'parley.selectAgent',
  sessions: 'parley.sessions',
  showLog: 'parley.showLog',
  showTraffic: 'parley.showTraffic',
  troubleshoot: 'parley.troubleshoot',
  attachFile: 'parley.addFile',
  openSettings: 'parley.openSettings',
  installAgent: 'parley.installAgent',
  renameSession: 'parley.renameSession',
  forkSession: 'parley.forkSession',
  checkStatus: 'parley.checkStatus',
  applyWorktree: 'parley.applyWorktree',
  commitWorktree: 'parley.commitWorktree',
  removeWorktree: 'parley.removeWorktree',
  continueWith: 'parley.continueWith',
  openAsMarkdown: 'parley.openAsMarkdown',
  commentOnPlan: 'parley.commentOnPlan',
  export: 'parley.export',
} as const;

/** Those of {@link COMMANDS} that are about a session. */
const SESSION_COMMANDS: ReadonlySet<string> = new Set<keyof typeof COMMANDS>([
  'renameSession',
  'forkSession',
  'checkStatus',
  'applyWorktree',
  'commitWorktree',
  'removeWorktree',
  'continueWith',
  'openAsMarkdown',
  'commentOnPlan',
  'export',
]);

/**
 * Returns the arguments of a command that was pressed in the page of a session. As with a menu of
 * VS Code in a webview, a failure is shown to the user.
 */
function argumentsOf(command: string, { key }: Conversation): readonly object[] {
  return SESSION_COMMANDS.has(command) ? [{ session: key, webview: 'parley' }] : [];
}

function isCommand(id: string): id is keyof typeof COMMANDS {
  return Object.hasOwn(COMMANDS, id);
}

/** VS Code's editor of keyboard shortcuts, and what it is searched for. */
const KEYS = 'workbench.action.openGlobalKeybindings';
const OWN_KEYS = '@ext:parley.parley';

/** Characters of rich text that programs still take from the clipboard in a moment. */
const MAX_RICH = 5_000_000;

/** What is said where changed files could not be opened, kept or undone. */
const NOT_DONE = { open: 'changes-not-opened', keep: 'changes-not-kept', undo: 'changes-not-undone' } as const;

/** The action that shows another session; its key follows. */
const SHOW_SESSION = 'show:';

/** The conversations of the window, as a surface needs them. */
export interface SurfaceSessions {
  /** The conversation with this key, while it is open in this window. */
  readonly find: (key: string) => Conversation | undefined;
  /** Makes a session again that was new when an earlier host of this window ended, and not stored. */
  readonly renew: (key: string) => Conversation | undefined;
  /**
   * Called when the user does something in the conversation that is shown, so that commands know
   * which one is meant.
   */
  readonly used: (conversation: Conversation) => void;
  /** Shows another session that is kept. @throws ParleyError `no-such-session` */
  readonly show: (key: string) => void;
  /** Takes a session over from another window that has let it go. */
  readonly takeOver: (key: string) => void;
}

/**
 * The page that asks, as its actions need it. It also stands for the page in drafts and held items.
 */
export interface ActionPage {
  readonly isVisible: boolean;
  readonly feed: SessionFeed;
  shows(conversation: Conversation): boolean;
  post(message: ToWebview): void;
  postDraft(conversation: Conversation): void;
  /** Shows that something was not done. */
  refuse(ids: { readonly clientId?: string; readonly id?: string }, reason: string): void;
}

export class SurfaceActions {
  readonly #page: ActionPage;
  readonly #services: ActionServices;
  readonly #sessions: SurfaceSessions;
  /** Ends the search for what can be mentioned when another begins. */
  #searching = new AbortController();
  /** What was mentioned is on its way into the attachments. */
  #attaching: Promise<void> | undefined;

  constructor(page: ActionPage, services: ActionServices, sessions: SurfaceSessions) {
    this.#page = page;
    this.#services = services;
    this.#sessions = sessions;
  }

  /** Does what a message asks for in a conversation. */
  async run(conversation: Conversation, message: SessionMessage): Promise<void> {
    const { mentions } = this.#services;
    switch (message.type) {
      case 'ack':
        if (this.#page.shows(conversation)) this.#page.feed.acknowledge(message.revision);
        return;
      case 'wake':
        this.#used(conversation);
        conversation.changes.warm();
        if (conversation.connection.kind === 'idle') await conversation.start();
        this.#services.firstUse.look();
        return;
      case 'send':
        if (this.#attaching) await this.#attaching;
        this.#send(conversation, message);
        return;
      case 'sendAgain':
        this.#sendAgain(conversation, message.turnId);
        return;
      case 'unsent':
        this.#keepUnsent(conversation, message);
        return;
      case 'draft':
        conversation.changes.warm();
        if (!conversation.unsent.write(message, this.#page)) this.#page.postDraft(conversation);
        return;
      case 'scrolled':
        conversation.unsent.anchor = message.anchor ?? undefined;
        return;
      case 'cancel':
        conversation.cancel();
        return;
      case 'permission':
        if (!answerPermission(conversation, message)) this.#page.refuse(message, tooLate());
        return;
      case 'showRule':
        await this.#showRule(conversation, message.index);
        return;
      case 'permissionRule':
        if (!(await saveRule(conversation, message.id, this.#services.rulePast))) this.#page.refuse(message, tooLate());
        // The dialog gives the focus back to a card that is gone.
        if (!conversation.model.state.permissions.has(message.id))
          await commands.executeCommand('parley.focusQuestion');
        return;
      case 'elicitation':
        await this.#elicit(conversation, message.id, message.answer);
        return;
      case 'stopOne':
        await tell(conversation, 'not-stopped', () => conversation.stopOne(message));
        return;
      case 'queue':
        await this.#applyQueueAction(conversation, message.action);
        return;
      case 'setMode':
        await tell(conversation, 'mode-not-changed', () => conversation.choices.setMode(message.modeId));
        return;
      case 'setConfig':
        await tell(conversation, 'option-not-changed', () =>
          conversation.choices.setConfigOption(message.id, message.value),
        );
        return;
      case 'page':
        if (this.#page.shows(conversation)) this.#page.feed.page(message.from, message.to);
        return;
      case 'nested':
        if (this.#page.shows(conversation)) this.#page.feed.nested(message);
        return;
      case 'find':
      case 'findIn':
      case 'endFind':
        if (this.#page.shows(conversation)) this.#page.feed.find(message);
        return;
      case 'timeline':
        if (this.#page.shows(conversation)) this.#page.feed.timeline(message);
        return;
      case 'dismissAway':
        this.#services.away.dismiss(conversation.key);
        return;
      case 'details':
        if (this.#page.shows(conversation)) this.#page.feed.details(message.index);
        return;
      case 'openLocation':
        await tell(conversation, 'file-not-opened', () =>
          this.#services.links.openLocation(message.path, message.line, conversation.roots),
        );
        return;
      case 'openDiff':
        await tell(conversation, 'changes-not-opened', () =>
          this.#services.contents.openDiff(conversation, message.index, message.content),
        );
        return;
      case 'editProposal':
        await tell(conversation, 'changes-not-opened', () =>
          this.#services.contents.editProposal(conversation, message.id),
        );
        return;
      case 'openWritten':
        await tell(conversation, 'changes-not-opened', () =>
          this.#services.contents.openWritten(conversation, message.index, message.content),
        );
        return;
      case 'openOutput':
        await tell(conversation, 'output-not-opened', () =>
          this.#services.contents.openOutput(conversation, message.index, message.content),
        );
        return;
      case 'saveResource':
        await tell(conversation, 'file-not-saved', () =>
          this.#services.contents.save(conversation, message.index, message.content),
        );
        return;
      case 'openTerminal':
        this.#services.terminals.show(
          message.terminalId,
          conversation.model.state.terminals.get(message.terminalId)?.command ?? conversation.agent.name,
        );
        return;
      case 'retryGap':
        await tell(conversation, 'message-not-loaded', () => this.#services.retryGap(conversation, message.id));
        return;
      case 'retryGaps':
        await tell(conversation, 'message-not-loaded', () => this.#services.retryGaps(conversation));
        return;
      case 'openLink':
        await tell(conversation, 'link-not-opened', () =>
          this.#services.links.openLink(message.href, conversation.roots),
        );
        return;
      case 'copy':
        await env.clipboard.writeText(message.text);
        return;
      case 'copyTurn':
        await env.clipboard.writeText(textOfTurn(conversation.model.state, message.turnId));
        return;
      case 'copySession':
        await this.#copySession(conversation);
        return;
      case 'useCode':
        this.#used(conversation);
        await this.#services.code
          .use(message, conversation)
          .catch((error: unknown) => this.#page.refuse({}, messageOf(error)));
        return;
      case 'action':
        await this.#act(conversation, message.id);
        return;
      case 'command':
        this.#used(conversation);
        if (message.command === 'showKeys') await commands.executeCommand(KEYS, OWN_KEYS);
        else await commands.executeCommand(COMMANDS[message.command], ...argumentsOf(message.command, conversation));
        return;
      case 'useAgent':
        this.#used(conversation);
        await tell(conversation, 'agent-not-added', () => this.#services.firstUse.use(message.id));
        return;
      case 'attachImage':
        conversation.unsent.attach(imageAttachment(message.name, message.mimeType, message.data, message.thumbnail));
        return;
      case 'attachFile':
        conversation.unsent.attach(contentAttachment(message.name, message.mimeType, message.data));
        return;
      case 'detach':
        conversation.unsent.detach(message.id);
        return;
      case 'mentions':
        await this.#offerMentions(conversation, message.query);
        return;
      case 'mention':
        await this.#attach(conversation, () =>
          message.id === ACTIVE_EDITOR
            ? this.#services.activeEditor.attachments()
            : mentions.attachments(message.id, conversation.roots),
        );
        return;
      case 'attachUris':
        await this.#attach(conversation, () => mentions.dropped(message.uris));
        return;
      case 'changes':
        await this.#showChanges(conversation, message);
        return;
      case 'changesAction':
        this.#used(conversation);
        await tell(conversation, NOT_DONE[message.kind], () => this.#services.changes.act(conversation, message));
        return;
      case 'cancelChanges':
        conversation.changes.work.cancel();
        return;
      case 'restoreCheckpoint':
        this.#used(conversation);
        await tell(conversation, 'files-not-restored', () =>
          this.#services.changes.restoreCheckpoint(conversation, message.turnId),
        );
        return;
      case 'continueFrom': {
        const { turnId, how } = message;
        this.#used(conversation);
        await tell(conversation, 'session-not-opened', () =>
          this.#services.changes.continueFrom(conversation, turnId, how),
        );
        return;
      }
    }
  }

  async #offerMentions(conversation: Conversation, query: string): Promise<void> {
    this.#searching.abort();
    this.#searching = new AbortController();
    const { signal } = this.#searching;
    const { mentions } = this.#services;
    try {
      for await (const offers of mentions.offers(query, conversation, signal)) {
        if (signal.aborted || !this.#page.shows(conversation)) return;
        this.#page.post({ type: 'mentions', query, offers });
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** A message that is sent meanwhile waits for it. */
  async #attach({ unsent }: Conversation, read: () => Promise<readonly QueuedAttachment[]>): Promise<void> {
    const before = this.#attaching;
    const attach = async (): Promise<void> => {
      await before;
      const attachments = await read();
      if (attachments.length === 0)
        this.#page.refuse({}, l10n.t('Nothing could be attached. Use Attach File for files outside of the workspace.'));
      for (const attachment of attachments) unsent.attach(attachment);
    };
    const attaching = attach().catch((error: unknown) => this.#page.refuse({}, messageOf(error)));
    this.#attaching = attaching;
    await attaching;
    if (this.#attaching === attaching) this.#attaching = undefined;
  }

  async #showChanges(
    conversation: Conversation,
    { scope, from, to }: Extract<SessionMessage, { type: 'changes' }>,
  ): Promise<void> {
    if (!this.#page.shows(conversation)) return;
    try {
      const page = await changesPage(conversation, scope, from, to);
      if (this.#page.shows(conversation)) this.#page.post(page);
    } catch (error) {
      this.#page.refuse({}, messageOf(error));
    }
  }

  /** A conversation that is no longer shown does not become the active one. */
  #used(conversation: Conversation): void {
    if (this.#page.shows(conversation)) this.#sessions.used(conversation);
  }

  /** The composer forgets the text only when the message is in our hands. */
  #send(conversation: Conversation, message: Extract<SessionMessage, { type: 'send' }>): void {
    const { clientId, text, revision, now } = message;
    this.#used(conversation);
    try {
      const { id } = conversation.send(text, conversation.unsent.attachments);
      if (now) conversation.queueActions.sendNow(id);
    } catch (error) {
      this.#page.refuse({ clientId }, messageOf(error));
      void conversation.start(); // shows why, with what can be done
      return;
    }
    const left = conversation.unsent.sent(text, revision, this.#page);
    this.#page.post({ type: 'accepted', clientId, revision: left.revision });
  }

  /** What was sent while no host listened waits in the queue, as nothing is sent after a break without being asked for. */
  #keepUnsent(conversation: Conversation, message: Extract<SessionMessage, { type: 'unsent' }>): void {
    const { clientId, messages, text, revision } = message;
    const { unsent } = conversation;
    try {
      // A newer draft says that they arrived before: from another page, or from one that is gone.
      if (unsent.draft.revision <= revision) {
        if (messages.length > 0) {
          conversation.queueActions.addUnsent(messages, unsent.attachments);
          unsent.sent('', revision, this.#page);
        }
        unsent.write({ text, revision: unsent.draft.revision + 1 }, this.#page);
      }
    } catch (error) {
      this.#page.refuse({ clientId }, messageOf(error));
      return;
    }
    this.#page.post({ type: 'accepted', clientId, revision: unsent.draft.revision });
    if (this.#page.shows(conversation)) this.#page.postDraft(conversation);
  }

  #sendAgain(conversation: Conversation, turnId: string): void {
    this.#used(conversation);
    try {
      if (!conversation.sendAgain(turnId)) this.#page.refuse({}, l10n.t('This message can no longer be resent.'));
    } catch (error) {
      this.#page.refuse({}, messageOf(error));
      void conversation.start(); // shows why, with what can be done
    }
  }

  /** As Markdown and as rich text, which only a page can write. */
  async #copySession(conversation: Conversation): Promise<void> {
    const text = await sessionMarkdown(conversation);
    const { agent, model } = conversation;
    const html = text.length > MAX_RICH ? '' : await sessionHtml(model.state, agent.name);
    if (html === '' || html.length > MAX_RICH) await env.clipboard.writeText(text);
    else this.#page.post({ type: 'clipboard', text, html });
  }

  /** Opens the list of rules at the one that answered the request of a call. */
  async #showRule(conversation: Conversation, index: number): Promise<void> {
    this.#used(conversation);
    const entry = conversation.model.state.entries[index];
    const rule = entry?.kind === 'tool' ? entry.decision?.rule : undefined;
    if (rule !== undefined) await commands.executeCommand('parley.managePermissions', { rule });
  }

  async #act(conversation: Conversation, id: string): Promise<void> {
    this.#used(conversation);
    if (id.startsWith('signIn:')) await conversation.signIn(id.slice('signIn:'.length));
    else if (id === 'restart') await conversation.restart();
    else if (id === 'takeOver') this.#sessions.takeOver(conversation.key);
    else if (id.startsWith(SHOW_SESSION))
      await tell(conversation, 'session-not-opened', async () => this.#sessions.show(id.slice(SHOW_SESSION.length)));
    else if (id.startsWith(SHOW_BRANCH)) await showBranch(conversation, id.slice(SHOW_BRANCH.length));
    else if (id.startsWith('continue:'))
      await tell(conversation, 'message-not-resent', async () => {
        if (!(await carryOn(conversation, id))) this.#page.refuse({}, l10n.t('This message can no longer be resent.'));
      });
    else if (id === FIX_PROBLEMS) await this.#services.fixProblems(conversation);
    else if (id === UNDO_RESTORE)
      await tell(conversation, 'files-not-restored', () => this.#services.changes.undoRestore(conversation));
    else if (id === 'trust') await commands.executeCommand('workbench.trust.manage');
    else if (id === 'editAgent') await commands.executeCommand('parley.manageAgents', { agent: conversation.agent.id });
    else if (id === 'installAgent') await commands.executeCommand(COMMANDS[id], { wanted: conversation.agent.id });
    else if (isCommand(id)) await commands.executeCommand(COMMANDS[id], ...argumentsOf(id, conversation));
    else this.#services.log.warn(`unknown action ${id}`);
  }

  async #applyQueueAction(conversation: Conversation, action: QueueAction): Promise<void> {
    const { queue } = conversation;
    switch (action.kind) {
      case 'edit':
        queue.edit(action.id, action.text);
        conversation.queueActions.pump();
        return;
      case 'hold':
        // One that comes late, from a page that is gone by now, would hold the item forever.
        if (!action.held) conversation.edits.release(action.id, this.#page);
        else if (this.#page.shows(conversation) && this.#page.isVisible) conversation.edits.hold(action.id, this.#page);
        return;
      case 'remove':
        conversation.queueActions.remove(action.id);
        return;
      case 'takeBack':
        conversation.queueActions.takeBack(action.id);
        return;
      case 'sendNow':
        conversation.queueActions.sendNow(action.id);
        return;
      case 'move':
        queue.move(action.id, action.to);
        return;
      case 'pause':
        queue.pause('by-user');
        return;
      case 'resume':
        conversation.queueActions.resume();
        return;
      case 'clear':
        await clearQueue(conversation);
        return;
    }
  }

  async #elicit(conversation: Conversation, id: string, answer: ElicitationAction): Promise<void> {
    const { elicitations } = conversation;
    this.#used(conversation);
    switch (answer.kind) {
      case 'submit': {
        const problems = await elicitations.submit(id, answer.values);
        if (!problems) this.#page.refuse({ id }, tooLate());
        else if (problems.size > 0)
          this.#page.post({ type: 'formRefused', id, problems: Object.fromEntries(problems) });
        return;
      }
      case 'open':
        await tell(conversation, 'page-not-opened', () =>
          elicitations.open(id, (url) => this.#services.links.openAddress(url)),
        );
        return;
      default:
        if (!elicitations.refuse(id, answer.kind)) this.#page.refuse({ id }, tooLate());
    }
  }
}

/** Answers a request; the reason of a rejection goes to the agent as the next message. */
function answerPermission(
  conversation: Conversation,
  { id, optionId, reason = '' }: Extract<SessionMessage, { type: 'permission' }>,
): boolean {
  const options = conversation.model.state.permissions.get(id)?.options ?? [];
  const isRejection = options.some((option) => option.optionId === optionId && option.kind.startsWith('reject'));
  if (!conversation.answerPermission(id, optionId)) return false;
  if (isRejection && reason.trim() !== '') conversation.queueActions.sendNext(reason.trim());
  return true;
}

async function showBranch(conversation: Conversation, branch: string): Promise<void> {
  await tell(conversation, 'branch-not-opened', async () => {
    await commands.executeCommand('parley.showBranch', { session: conversation.key, branch });
  });
}

/** Does something with the agent and says in the transcript where it failed. */
async function tell(conversation: Conversation, what: PlainCode, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    const description = errorText(error);
    const said = ownText(what);
    const event = { type: 'notice', own: true, severity: 'error', title: '', said, description } as const;
    conversation.note([{ at: Date.now(), event }]);
  }
}

function tooLate(): string {
  return l10n.t('This question is no longer open.');
}
