// Connects a webview (panel, view or tab) with the conversation that it shows.
import { l10n } from 'vscode';
import { type Disposable, Part } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import { formatNumber } from '../../base/localFormat';
import type { Conversation } from '../../client/conversation/conversation';
import { type FeedSources, SessionFeed } from '../../client/view/feed';
import { entryOf } from '../../client/view/timelineParts';
import { CONTRACT_VERSION, MAX_TEXT, type SessionMessage, type ToWebview } from '../../panel/contract';
import type { TimedEvent } from '../../session/events/event';
import type { Page, PageListener } from '../activation/page';
import { SessionWorktrees } from '../changes/sessionWorktrees';
import type { Workbench } from '../core/workbench';
import { FirstUse } from '../registry/foundAgents';
import { Conversations } from '../sessions/conversations';
import { ActiveEditor } from './activeEditor';
import { Away } from './away';
import { FocusView } from './focusView';
import { idsOf, type Refusal, readFromWebview } from './fromWebview';
import { Welcome } from './welcome';

/** Messages about the page only: nothing to report if the session is closed. */
const QUIET = new Set<SessionMessage['type']>([
  'unsent',
  'ack',
  'scrolled',
  'draft',
  'prompts',
  'page',
  'details',
  'wake',
  'find',
  'findIn',
  'endFind',
  'timeline',
]);

export type FocusTarget = Extract<ToWebview, { type: 'focus' }>['on'];

type MessageHandler<T extends SessionMessage['type']> = (
  surface: ChatSurface,
  conversation: Conversation,
  message: Extract<SessionMessage, { type: T }>,
) => unknown;

/** Errors of handlers are logged. */
export type MessageHandlers = { readonly [T in SessionMessage['type']]: MessageHandler<T> };

export interface SurfaceHost {
  readonly workbench: Workbench;
  readonly feedSources: FeedSources;
  readonly handlers: MessageHandlers;
  /** Call when the user acts in a page: commands are about its session then. */
  used(page: Page): void;
  activated(page: Page): void;
  seen(page: Page): void;
  showSession(key: string): void;
  takeOver(key: string): void;
}

export class ChatSurface extends Part implements PageListener {
  readonly host: SurfaceHost;
  searching = new AbortController();
  /** Mentions being attached: the next message waits for them. */
  attaching: Promise<void> | undefined;
  readonly #page: Page;
  readonly #conversations: Conversations;
  readonly #firstUse: FirstUse;
  readonly #activeEditor: ActiveEditor;
  readonly #focusView: FocusView;
  readonly #worktrees: SessionWorktrees;
  readonly #away: Away;
  #conversation: Conversation;
  #feed: SessionFeed;
  #draftSubscription: Disposable;
  #hasGreeted = false;
  /** The page has sent its greeting and was not hidden since. */
  #isLive = false;
  #pendingFocus: FocusTarget | undefined;

  constructor(page: Page, conversation: Conversation, host: SurfaceHost) {
    super();
    const { workbench } = host;
    this.#page = page;
    this.host = host;
    this.#conversations = workbench.get(Conversations);
    this.#firstUse = workbench.get(FirstUse);
    this.#activeEditor = workbench.get(ActiveEditor);
    this.#focusView = workbench.get(FocusView);
    this.#worktrees = workbench.get(SessionWorktrees);
    this.#away = workbench.get(Away);
    this.#conversation = conversation;
    this.#feed = this.#createFeed();
    this.#draftSubscription = this.#mirrorDraft();
    this.own({ dispose: () => this.#feed.dispose() });
    this.own({ dispose: () => this.#draftSubscription.dispose() });
    this.own(page.listen(this));
    this.own(this.#firstUse.onDidChange(() => this.#postFirstUse()));
    this.own(this.#activeEditor.onDidChange(() => this.#postActiveEditor()));
    this.own(this.#focusView.onDidChange(() => this.#postFocusView()));
    this.own(this.#worktrees.onDidChange(() => void this.#postWorktree()));
    this.own(this.#away.onDidChange((key) => key === this.#conversation.key && this.#postAway()));
  }

  get conversation(): Conversation {
    return this.#conversation;
  }

  show(conversation: Conversation): void {
    if (this.#conversation === conversation) return;
    this.#conversation.edits.releaseAll(this);
    this.#feed.dispose();
    this.#draftSubscription.dispose();
    this.#conversation = conversation;
    this.#feed = this.#createFeed();
    this.#draftSubscription = this.#mirrorDraft();
    // Hidden pages are destroyed, and updated when shown again.
    if (this.#hasGreeted && this.#page.isVisible) this.#feed.snapshot();
    this.#postSession();
    this.#resumeSuspended();
  }

  visibilityChanged(isVisible: boolean): void {
    if (!isVisible) {
      this.#isLive = false;
      this.#feed.suspend();
      this.#conversation.edits.releaseAll(this);
    } else if (this.#hasGreeted) this.#feed.snapshot();
    if (isVisible) {
      this.#postAll();
      this.#resumeSuspended();
      this.host.seen(this.#page);
    }
  }

  #postAll(): void {
    this.#postFirstUse();
    this.#postActiveEditor();
    this.#postSession();
  }

  #postSession(): void {
    void this.#postWelcome();
    void this.#postWorktree();
    this.#postAway();
  }

  activated(): void {
    this.host.activated(this.#page);
  }

  #postFirstUse(): void {
    if (this.#hasGreeted && this.#page.isVisible) this.post({ type: 'firstUse', offers: this.#firstUse.view ?? null });
  }

  #postFocusView(): void {
    if (this.#hasGreeted && this.#page.isVisible) this.post({ type: 'focusView', on: this.#focusView.isOn });
  }

  #postAway(): void {
    const { key } = this.#conversation;
    if (this.#hasGreeted && this.#page.isVisible) this.post({ type: 'away', key, view: this.#away.of(key) ?? null });
  }

  async #postWelcome(): Promise<void> {
    const conversation = this.#conversation;
    if (!this.#hasGreeted || !this.#page.isVisible || conversation.model.state.entries.length > 0) return;
    const welcome = await this.host.workbench.get(Welcome).of(conversation);
    if (this.#page.isVisible && this.shows(conversation))
      this.post({ type: 'welcome', key: conversation.key, welcome });
  }

  async #postWorktree(): Promise<void> {
    const conversation = this.#conversation;
    if (!this.#hasGreeted || !this.#page.isVisible) return;
    const found = await this.#worktrees.find(conversation.cwd).catch(() => undefined);
    if (this.#page.isVisible && this.shows(conversation))
      this.post({ type: 'worktree', key: conversation.key, branch: found?.branch ?? null });
  }

  #postActiveEditor(): void {
    if (this.#hasGreeted && this.#page.isVisible)
      this.post({ type: 'activeEditor', offer: this.#activeEditor.view ?? null });
  }

  #resumeSuspended(): void {
    if (this.#conversation.isSuspended) this.startAgent();
  }

  /** Starts the agent unless it was started, then the slow search for other agents. */
  startAgent(): void {
    if (this.#conversation.connection.kind !== 'idle') return;
    void this.#conversation.start().then(() => this.#firstUse.look());
  }

  focus(on: FocusTarget = 'composer'): void {
    this.#pendingFocus = on;
    if (this.#isLive) this.#giveFocus();
  }

  async reveal(event: TimedEvent): Promise<void> {
    const conversation = this.#conversation;
    await conversation.whole;
    if (this.shows(conversation)) await this.#feed.painted();
    const index = this.shows(conversation) ? entryOf(conversation.model, event) : undefined;
    if (index !== undefined) this.post({ type: 'reveal', index });
  }

  chime(): boolean {
    const { isVisible } = this.#page;
    if (isVisible) this.post({ type: 'chime' });
    return isVisible;
  }

  #giveFocus(): void {
    const on = this.#pendingFocus;
    this.#pendingFocus = undefined;
    if (on) this.post({ type: 'focus', on });
  }

  painted(): Promise<void> {
    return this.#feed.painted();
  }

  insert(text: string): void {
    this.post({ type: 'insert', text });
  }

  async insertWhenPainted(text: string): Promise<void> {
    await this.painted();
    this.insert(text);
  }

  override dispose(): void {
    this.#conversation.edits.releaseAll(this);
    super.dispose();
  }

  /** Mirrors drafts edited in other views. Hidden pages get them with their next snapshot. */
  #mirrorDraft(): Disposable {
    const conversation = this.#conversation;
    return conversation.unsent.onDidChangeDraft(({ by }) => {
      if (by !== this && this.#hasGreeted && this.#page.isVisible) this.postDraft(conversation);
    });
  }

  #createFeed(): SessionFeed {
    return new SessionFeed(this.#conversation, this.host.feedSources, this.#page.post);
  }

  post(message: ToWebview): void {
    this.#page.post(message);
  }

  async receive(raw: unknown): Promise<void> {
    const message = readFromWebview(raw);
    if ('refused' in message) {
      this.host.workbench.log.warn(`the webview sent ${message.type}, which was refused: ${message.refused}`);
      this.refuse(message, reasonOf(message));
      return;
    }
    if (message.type === 'hello') {
      this.#onHello(message.version);
      return;
    }
    if (message.type === 'problem') {
      this.host.workbench.log.error(`${message.kind === 'csp' ? 'content policy' : 'webview'}: ${message.text}`);
      return;
    }
    if (message.type === 'focused') {
      this.#page.fireActivated();
      return;
    }
    // The page may show a session other than the one the user acted in.
    const conversation = message.key === null ? this.#conversation : this.#conversationOf(message.key, message.type);
    if (!conversation) {
      if (!QUIET.has(message.type)) this.refuse(idsOf(message), l10n.t('This session is closed.'));
      return;
    }
    try {
      await this.host.handlers[message.type](this, conversation, message as never);
    } catch (error) {
      this.host.workbench.log.error(`${message.type}: ${messageOf(error)}`);
    }
  }

  /** Finds a conversation. Unsent text finds its session even if the session was never stored. */
  #conversationOf(key: string, type: SessionMessage['type']): Conversation | undefined {
    return this.#conversations.find(key) ?? (type === 'unsent' ? this.#conversations.renew(key) : undefined);
  }

  #onHello(version: number): void {
    if (version !== CONTRACT_VERSION) this.host.workbench.log.warn(`the webview speaks contract version ${version}`);
    this.#hasGreeted = true;
    this.#conversation.edits.releaseAll(this); // a new page has no open edits
    this.#isLive = true;
    this.#postFocusView();
    this.#feed.snapshot();
    this.#postAll();
    this.#giveFocus();
  }

  get isVisible(): boolean {
    return this.#page.isVisible;
  }

  get feed(): SessionFeed {
    return this.#feed;
  }

  shows(conversation: Conversation): boolean {
    return this.#conversation === conversation;
  }

  /** Makes commands about this session, unless the page already shows another one. */
  used(conversation: Conversation): void {
    if (this.shows(conversation)) this.host.used(this.#page);
  }

  refuse({ clientId, id }: { readonly clientId?: string; readonly id?: string }, reason: string): void {
    this.post({
      type: 'rejected',
      reason,
      clientId,
      id,
    });
  }

  postDraft({ key, unsent }: Conversation): void {
    this.post({ type: 'draft', key, ...unsent.draft });
  }
}

function reasonOf({ refused }: Refusal): string {
  return refused === 'too-large'
    ? l10n.t(
        'The message is too long. The maximum is {0} characters. Attach longer text as a file.',
        formatNumber(MAX_TEXT),
      )
    : l10n.t('Parley was updated. Reload the window to continue.');
}
