// Connects one webview with the conversation that it shows: feeds the webview, and does what it
// asks. Panel and side bar view are both surfaces.
import { commands, env, l10n, type Webview } from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { Conversation } from '../../client/conversation/conversation';
import { entryOf } from '../../client/conversation/entryOf';
import { carryOn } from '../../client/conversation/sendAgain';
import { type FeedSources, SessionFeed } from '../../client/view/feed';
import { SHOW_BRANCH } from '../../distributed/client/branchName';
import type { ElicitationAction, QueueAction } from '../../panel/contract';
import { CONTRACT_VERSION, MAX_TEXT, type SessionMessage, type ToWebview } from '../../panel/contract';
import type { TimedEvent } from '../../session/events/event';
import { ownText, type PlainCode } from '../../session/events/ownText';
import { textOfTurn } from '../../session/model/entryText';
import type { Page } from '../activation/page';
import type { EntryContents } from '../editor/entryContents';
import type { LinkOpener } from '../editor/linkOpener';
import { contentAttachment, imageAttachment } from './attachments';
import { clearQueue } from './clearQueue';
import { idsOf, type Refusal, readFromWebview } from './fromWebview';

/** What a surface needs of the rest of the workbench, whatever it shows. */
export interface SurfaceServices {
  readonly log: Log;
  readonly feed: FeedSources;
  readonly links: LinkOpener;
  readonly contents: EntryContents;
  readonly terminals: { show(terminalId: string, title: string): void };
  /** Asks again for a message that is missing from a session of elsewhere. */
  readonly retryGap: (conversation: Conversation, gapId: string) => Promise<void>;
}

/** Buttons and menu entries of the webview, and the commands behind them. */
const COMMANDS = {
  newSession: 'parley.newSession',
  selectAgent: 'parley.selectAgent',
  sessions: 'parley.sessions',
  showLog: 'parley.showLog',
  showTraffic: 'parley.showTraffic',
  attachFile: 'parley.addFile',
  openSettings: 'parley.openSettings',
} as const;

/** The action that shows another session; its key follows. */
const SHOW_SESSION = 'show:';

/** An agent does not wait longer than this for a page that is not drawn, in ms. */
const LONGEST_DRAWING_MS = 3000;

/** The conversations of the window, as a surface needs them. */
export interface SurfaceSessions {
  /** The conversation with this key, while it is open in this window. */
  readonly find: (key: string) => Conversation | undefined;
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

/** What is about the page alone: where its session is gone, there is nothing to tell the user. */
const QUIET: ReadonlySet<SessionMessage['type']> = new Set(['ack', 'scrolled', 'draft', 'page', 'details', 'wake']);

export class ChatSurface implements Disposable {
  readonly #page: Page;
  readonly #webview: Webview;
  readonly #services: SurfaceServices;
  readonly #lifetime = new DisposableStore();
  readonly #sessions: SurfaceSessions;
  #conversation: Conversation;
  #feed: SessionFeed;
  /** Ends with what is shown. */
  #mirroring: Disposable;
  #greeted = false;
  /** The page runs: it has greeted, and was not hidden since, which ends it. */
  #isLive = false;
  #focusWanted: 'composer' | 'question' | undefined;
  #startWanted: ReturnType<typeof setTimeout> | undefined;

  /** @param conversation what is shown first */
  constructor(page: Page, conversation: Conversation, services: SurfaceServices, sessions: SurfaceSessions) {
    this.#page = page;
    this.#webview = page.webview;
    this.#services = services;
    this.#sessions = sessions;
    this.#conversation = conversation;
    this.#feed = this.#newFeed();
    this.#mirroring = this.#mirrorDraft();
    this.#lifetime.add({ dispose: () => this.#feed.dispose() });
    this.#lifetime.add({ dispose: () => this.#mirroring.dispose() });
    const listening = page.listen(
      (message) => this.#receive(message),
      (isVisible) => this.#setVisible(isVisible),
    );
    this.#lifetime.add(listening);
  }

  get conversation(): Conversation {
    return this.#conversation;
  }

  /** Shows another conversation. */
  show(conversation: Conversation): void {
    if (this.#conversation === conversation) return;
    this.#conversation.edits.releaseAll(this);
    this.#feed.dispose();
    this.#mirroring.dispose();
    this.#conversation = conversation;
    this.#feed = this.#newFeed();
    this.#mirroring = this.#mirrorDraft();
    if (this.#greeted) this.#feed.snapshot();
    this.#bringBack();
  }

  /** The webview can be seen again, or not any more. */
  #setVisible(isVisible: boolean): void {
    if (!isVisible) {
      this.#isLive = false;
      this.#feed.suspend();
      this.#conversation.edits.releaseAll(this);
    } else if (this.#greeted) this.#feed.snapshot();
    if (isVisible) this.#bringBack();
  }

  /**
   * The agent was suspended while the page was hidden: it is started again when the page is shown.
   */
  #bringBack(): void {
    if (this.#conversation.isSuspended) this.startWhenDrawn();
  }

  /**
   * Starts the agent, unless it was started, as soon as the page is drawn: both at once take the
   * processor from each other, and the page is what the user waits for. What they send meanwhile
   * waits for the agent.
   */
  startWhenDrawn(): void {
    if (this.#conversation.connection.kind !== 'idle') return;
    if (this.#greeted) this.#start();
    else this.#startWanted ??= setTimeout(() => this.#start(), LONGEST_DRAWING_MS);
  }

  /**
   * Puts the focus into the composer, or on the first open question; where the page is not there
   * yet, as soon as it is.
   */
  focus(on: 'composer' | 'question' = 'composer'): void {
    this.#focusWanted = on;
    if (this.#isLive) this.#giveFocus();
  }

  /**
   * Brings the entry of something that happened in the conversation to the eye, as soon as the page
   * has drawn the transcript.
   */
  async reveal(event: TimedEvent): Promise<void> {
    const conversation = this.#conversation;
    await conversation.whole;
    // The feed is of the conversation that is shown: of another one it would be waited for in vain.
    if (this.#shows(conversation)) await this.#feed.painted();
    const index = this.#shows(conversation) ? entryOf(conversation.model, event) : undefined;
    if (index !== undefined) this.#post({ type: 'reveal', index });
  }

  #giveFocus(): void {
    const on = this.#focusWanted;
    this.#focusWanted = undefined;
    if (on) this.#post({ type: 'focus', on });
  }

  /** Resolves when the conversation is on the screen as it is now. */
  painted(): Promise<void> {
    return this.#feed.painted();
  }

  /** Puts text into the composer. */
  insert(text: string): void {
    this.#post({ type: 'insert', text });
  }

  #start(): void {
    clearTimeout(this.#startWanted);
    this.#startWanted = undefined;
    if (this.#conversation.connection.kind === 'idle') void this.#conversation.start();
  }

  dispose(): void {
    clearTimeout(this.#startWanted);
    this.#conversation.edits.releaseAll(this);
    this.#lifetime.dispose();
  }

  /**
   * What is typed or sent elsewhere is seen here too; a page that is hidden gets it with its next
   * snapshot.
   */
  #mirrorDraft(): Disposable {
    const conversation = this.#conversation;
    return conversation.unsent.onDidChangeDraft(({ by }) => {
      if (by !== this && this.#greeted && this.#page.isVisible) this.#postDraft(conversation);
    });
  }

  #newFeed(): SessionFeed {
    return new SessionFeed(this.#conversation, this.#services.feed, (message) => this.#post(message));
  }

  #post(message: ToWebview): void {
    this.#webview
      .postMessage(message)
      .then(undefined, (error: unknown) => this.#services.log.debug(`post to a closed webview: ${messageOf(error)}`));
  }

  #receive(raw: unknown): void {
    const message = readFromWebview(raw);
    if ('refused' in message) {
      this.#services.log.warn(`the webview sent ${message.type}, which was refused: ${message.refused}`);
      this.#refuse(message, reasonOf(message));
      return;
    }
    if (message.type === 'hello') {
      this.#onHello(message.version);
      return;
    }
    if (message.type === 'problem') {
      this.#services.log.error(`${message.kind === 'csp' ? 'content policy' : 'webview'}: ${message.text}`);
      return;
    }
    // The user acted on what they saw, which another session may have taken the place of meanwhile.
    const conversation = message.key === null ? this.#conversation : this.#sessions.find(message.key);
    if (!conversation) {
      if (!QUIET.has(message.type)) this.#refuse(idsOf(message), l10n.t('This session is closed.'));
      return;
    }
    this.#handle(conversation, message).catch((error: unknown) =>
      this.#services.log.error(`${message.type}: ${messageOf(error)}`),
    );
  }

  #onHello(version: number): void {
    if (version !== CONTRACT_VERSION) this.#services.log.warn(`the webview speaks contract version ${version}`);
    this.#greeted = true;
    this.#conversation.edits.releaseAll(this); // a page that begins edits nothing
    this.#isLive = true;
    this.#feed.snapshot();
    this.#giveFocus();
    if (this.#startWanted) this.#start();
  }

  async #handle(conversation: Conversation, message: SessionMessage): Promise<void> {
    switch (message.type) {
      case 'ack':
        if (this.#shows(conversation)) this.#feed.acknowledge(message.revision);
        return;
      case 'wake':
        this.#used(conversation);
        if (conversation.connection.kind === 'idle') await conversation.start();
        return;
      case 'send':
        this.#send(conversation, message);
        return;
      case 'sendAgain':
        this.#sendAgain(conversation, message.turnId);
        return;
      case 'draft':
        if (!conversation.unsent.write(message, this)) this.#postDraft(conversation);
        return;
      case 'scrolled':
        conversation.unsent.anchor = message.anchor ?? undefined;
        return;
      case 'cancel':
        conversation.cancel();
        return;
      case 'permission':
        if (!conversation.answerPermission(message.id, message.optionId)) this.#refuse(message, tooLate());
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
        await tell(conversation, 'mode-not-changed', () => conversation.setMode(message.modeId));
        return;
      case 'setConfig':
        await tell(conversation, 'option-not-changed', () => conversation.setConfigOption(message.id, message.value));
        return;
      case 'page':
        if (this.#shows(conversation)) this.#feed.page(message.from, message.to);
        return;
      case 'details':
        if (this.#shows(conversation)) this.#feed.details(message.index);
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
      case 'action':
        await this.#act(conversation, message.id);
        return;
      case 'command':
        this.#used(conversation);
        await commands.executeCommand(COMMANDS[message.command]);
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
    }
  }

  #shows(conversation: Conversation): boolean {
    return this.#conversation === conversation;
  }

  /**
   * The user did something in a conversation; what is no longer shown does not become the active
   * one by that.
   */
  #used(conversation: Conversation): void {
    if (this.#shows(conversation)) this.#sessions.used(conversation);
  }

  /** Says in the page that something was not done. */
  #refuse({ clientId, id }: { readonly clientId?: string; readonly id?: string }, reason: string): void {
    this.#post({
      type: 'rejected',
      reason,
      ...(clientId !== undefined && { clientId }),
      ...(id !== undefined && { id }),
    });
  }

  /** The composer forgets the text only when the message is in our hands. */
  #send(conversation: Conversation, { clientId, text, revision }: Extract<SessionMessage, { type: 'send' }>): void {
    this.#used(conversation);
    try {
      conversation.send(text, conversation.unsent.attachments);
    } catch (error) {
      this.#refuse({ clientId }, messageOf(error));
      void conversation.start(); // shows why, with what can be done
      return;
    }
    const left = conversation.unsent.sent(text, revision, this);
    this.#post({ type: 'accepted', clientId, revision: left.revision });
  }

  #sendAgain(conversation: Conversation, turnId: string): void {
    this.#used(conversation);
    try {
      if (!conversation.sendAgain(turnId)) this.#refuse({}, l10n.t('This message can no longer be resent.'));
    } catch (error) {
      this.#refuse({}, messageOf(error));
      void conversation.start(); // shows why, with what can be done
    }
  }

  #postDraft({ key, unsent }: Conversation): void {
    this.#post({ type: 'draft', key, ...unsent.draft });
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
        if (!(await carryOn(conversation, id))) this.#refuse({}, l10n.t('This message can no longer be resent.'));
      });
    else if (id === 'trust') await commands.executeCommand('workbench.trust.manage');
    else if (id === 'selectAgent' || id === 'showLog' || id === 'openSettings' || id === 'newSession')
      await commands.executeCommand(COMMANDS[id]);
    else this.#services.log.warn(`unknown action ${id}`);
  }

  async #applyQueueAction(conversation: Conversation, action: QueueAction): Promise<void> {
    const { queue } = conversation;
    switch (action.kind) {
      case 'edit':
        queue.edit(action.id, action.text);
        conversation.pumpQueue();
        return;
      case 'hold':
        // One that comes late, from a page that is gone by now, would hold the item for ever.
        if (!action.held) conversation.edits.release(action.id, this);
        else if (this.#shows(conversation) && this.#page.isVisible) conversation.edits.hold(action.id, this);
        return;
      case 'remove':
        conversation.removeFromQueue(action.id);
        return;
      case 'takeBack':
        conversation.takeBack(action.id);
        return;
      case 'sendNow':
        conversation.sendNow(action.id);
        return;
      case 'move':
        queue.move(action.id, action.to);
        return;
      case 'pause':
        queue.pause('by-user');
        return;
      case 'resume':
        conversation.resumeQueue();
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
        const problems = elicitations.submit(id, answer.values);
        if (!problems) this.#refuse({ id }, tooLate());
        else if (problems.size > 0) this.#post({ type: 'formRefused', id, problems: Object.fromEntries(problems) });
        return;
      }
      case 'open':
        await tell(conversation, 'page-not-opened', () =>
          elicitations.open(id, (url) => this.#services.links.openAddress(url)),
        );
        return;
      default:
        if (!elicitations.refuse(id, answer.kind)) this.#refuse({ id }, tooLate());
    }
  }
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
    const description = messageOf(error);
    const said = ownText(what);
    const event = { type: 'notice', own: true, severity: 'error', title: '', said, description } as const;
    conversation.note([{ at: Date.now(), event }]);
  }
}

function tooLate(): string {
  return l10n.t('This question is no longer open.');
}

function reasonOf({ refused }: Refusal): string {
  return refused === 'too-large'
    ? l10n.t(
        'The message is too long. The maximum is {0} characters. Attach longer text as a file.',
        MAX_TEXT.toLocaleString(env.language),
      )
    : l10n.t('Parley was updated. Reload the window to continue.');
}
