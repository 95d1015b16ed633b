// Connects one webview with the conversation that it shows: feeds the webview, and does what it
// asks. Panel and side bar view are both surfaces.
import { l10n, type Webview } from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import { formatNumber } from '../../base/localFormat';
import type { Conversation } from '../../client/conversation/conversation';
import { entryOf } from '../../client/conversation/entryOf';
import { type FeedSources, SessionFeed } from '../../client/view/feed';
import { CONTRACT_VERSION, MAX_TEXT, type SessionMessage, type ToWebview } from '../../panel/contract';
import type { TimedEvent } from '../../session/events/event';
import type { Page } from '../activation/page';
import type { SessionWorktrees } from '../changes/sessionWorktrees';
import type { Away } from './away';
import { idsOf, type Refusal, readFromWebview } from './fromWebview';
import { type ActionPage, type ActionServices, SurfaceActions, type SurfaceSessions } from './surfaceActions';
import type { Welcome } from './welcome';

/** An agent does not wait longer than this for a page that is not drawn, in ms. */
const LONGEST_DRAWING_MS = 3000;

/** What is about the page alone: where its session is gone, there is nothing to tell the user. */
const QUIET: ReadonlySet<SessionMessage['type']> = new Set([
  ...([
    'unsent',
    'ack',
    'scrolled',
    'draft',
    'page',
    'details',
    'wake',
    'find',
    'findIn',
    'endFind',
    'timeline',
  ] as const),
]);

/** What gets the focus in the page. */
export type FocusTarget = Extract<ToWebview, { type: 'focus' }>['on'];

/** What a surface needs of the rest of the workbench, whatever it shows. */
export interface SurfaceServices extends ActionServices {
  readonly feed: FeedSources;
  /** What happened in sessions while nobody looked. */
  readonly away: Pick<Away, 'of' | 'onDidChange' | 'dismiss'>;
  /** What an empty conversation says of its folder. */
  readonly welcome: Pick<Welcome, 'of'>;
  /** Where sessions work that leave the user's folders alone. */
  readonly worktrees: Pick<SessionWorktrees, 'find' | 'onDidChange'>;
}

export class ChatSurface implements ActionPage, Disposable {
  readonly #page: Page;
  readonly #webview: Webview;
  readonly #services: SurfaceServices;
  readonly #lifetime = new DisposableStore();
  readonly #sessions: SurfaceSessions;
  readonly #actions: SurfaceActions;
  #conversation: Conversation;
  #feed: SessionFeed;
  /** Ends with what is shown. */
  #mirroring: Disposable;
  #greeted = false;
  /** The page runs: it has greeted, and was not hidden since, which ends it. */
  #isLive = false;
  #focusWanted: FocusTarget | undefined;
  #startWanted: ReturnType<typeof setTimeout> | undefined;

  /** @param conversation what is shown first */
  constructor(page: Page, conversation: Conversation, services: SurfaceServices, sessions: SurfaceSessions) {
    this.#page = page;
    this.#webview = page.webview;
    this.#services = services;
    this.#sessions = sessions;
    this.#actions = new SurfaceActions(this, services, sessions);
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
    this.#lifetime.add(services.firstUse.onDidChange(() => this.#offer()));
    this.#lifetime.add(services.activeEditor.onDidChange(() => this.#offerEditor()));
    this.#lifetime.add(services.worktrees.onDidChange(() => void this.#tellWorktree()));
    this.#lifetime.add(services.away.onDidChange((key) => key === this.#conversation.key && this.#tellAway()));
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
    // A page that is hidden is gone, and gets everything when it is back.
    if (this.#greeted && this.#page.isVisible) this.#feed.snapshot();
    void this.#welcome();
    void this.#tellWorktree();
    this.#tellAway();
    this.#bringBack();
  }

  /** Called when the webview is shown or hidden. */
  #setVisible(isVisible: boolean): void {
    if (!isVisible) {
      this.#isLive = false;
      this.#feed.suspend();
      this.#conversation.edits.releaseAll(this);
    } else if (this.#greeted) this.#feed.snapshot();
    if (isVisible) {
      this.#offer();
      this.#offerEditor();
      void this.#welcome();
      void this.#tellWorktree();
      this.#tellAway();
      this.#bringBack();
    }
  }

  /** Shows what an empty conversation offers. A page that is hidden gets it when it is back. */
  #offer(): void {
    if (this.#greeted && this.#page.isVisible)
      this.post({ type: 'firstUse', offers: this.#services.firstUse.view ?? null });
  }

  /** Tells what happened while nobody looked. A page that is hidden gets it when it is back. */
  #tellAway(): void {
    const { key } = this.#conversation;
    if (this.#greeted && this.#page.isVisible)
      this.post({ type: 'away', key, view: this.#services.away.of(key) ?? null });
  }

  /** Says in an empty conversation where it is, and what was done there last. */
  async #welcome(): Promise<void> {
    const conversation = this.#conversation;
    if (!this.#greeted || !this.#page.isVisible || conversation.model.state.entries.length > 0) return;
    const welcome = await this.#services.welcome.of(conversation);
    if (this.#page.isVisible && this.shows(conversation))
      this.post({ type: 'welcome', key: conversation.key, welcome });
  }

  /** Says on which branch the session works, where it has a worktree. */
  async #tellWorktree(): Promise<void> {
    const conversation = this.#conversation;
    if (!this.#greeted || !this.#page.isVisible) return;
    const found = await this.#services.worktrees.find(conversation.cwd).catch(() => undefined);
    if (this.#page.isVisible && this.shows(conversation))
      this.post({ type: 'worktree', key: conversation.key, branch: found?.branch ?? null });
  }

  /** Offers what the user was in last as context of the next message. */
  #offerEditor(): void {
    if (this.#greeted && this.#page.isVisible)
      this.post({ type: 'activeEditor', offer: this.#services.activeEditor.view ?? null });
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
   * Puts the focus into the composer, on the first open question or into the find widget; where the
   * page is not there yet, as soon as it is.
   */
  focus(on: FocusTarget = 'composer'): void {
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
    if (this.shows(conversation)) await this.#feed.painted();
    const index = this.shows(conversation) ? entryOf(conversation.model, event) : undefined;
    if (index !== undefined) this.post({ type: 'reveal', index });
  }

  /** Plays a sound if the page is on the screen. @returns whether it is */
  chime(): boolean {
    const { isVisible } = this.#page;
    if (isVisible) this.post({ type: 'chime' });
    return isVisible;
  }

  #giveFocus(): void {
    const on = this.#focusWanted;
    this.#focusWanted = undefined;
    if (on) this.post({ type: 'focus', on });
  }

  /** Resolves when the conversation is on the screen as it is now. */
  painted(): Promise<void> {
    return this.#feed.painted();
  }

  /** Puts text into the composer. */
  insert(text: string): void {
    this.post({ type: 'insert', text });
  }

  #start(): void {
    clearTimeout(this.#startWanted);
    this.#startWanted = undefined;
    void this.#startThenLook();
  }

  /** Looking for agents asks the login shell, which must not keep the first agent waiting. */
  async #startThenLook(): Promise<void> {
    if (this.#conversation.connection.kind === 'idle') await this.#conversation.start();
    this.#services.firstUse.look();
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
      if (by !== this && this.#greeted && this.#page.isVisible) this.postDraft(conversation);
    });
  }

  #newFeed(): SessionFeed {
    return new SessionFeed(this.#conversation, this.#services.feed, (message) => this.post(message));
  }

  /** Posts a message to the webview. */
  post(message: ToWebview): void {
    this.#webview
      .postMessage(message)
      .then(undefined, (error: unknown) => this.#services.log.debug(`post to a closed webview: ${messageOf(error)}`));
  }

  #receive(raw: unknown): void {
    const message = readFromWebview(raw);
    if ('refused' in message) {
      this.#services.log.warn(`the webview sent ${message.type}, which was refused: ${message.refused}`);
      this.refuse(message, reasonOf(message));
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
    if (message.type === 'focused') {
      this.#page.tellActive();
      return;
    }
    // The user acted on what they saw, which another session may have taken the place of meanwhile.
    const conversation = message.key === null ? this.#conversation : this.#find(message.key, message.type);
    if (!conversation) {
      if (!QUIET.has(message.type)) this.refuse(idsOf(message), l10n.t('This session is closed.'));
      return;
    }
    this.#actions
      .run(conversation, message)
      .catch((error: unknown) => this.#services.log.error(`${message.type}: ${messageOf(error)}`));
  }

  /** What is unsent finds its session, also if that was never stored. */
  #find(key: string, type: SessionMessage['type']): Conversation | undefined {
    return this.#sessions.find(key) ?? (type === 'unsent' ? this.#sessions.renew(key) : undefined);
  }

  #onHello(version: number): void {
    if (version !== CONTRACT_VERSION) this.#services.log.warn(`the webview speaks contract version ${version}`);
    this.#greeted = true;
    this.#conversation.edits.releaseAll(this); // a page that begins edits nothing
    this.#isLive = true;
    this.#feed.snapshot();
    this.#offer();
    this.#offerEditor();
    void this.#welcome();
    void this.#tellWorktree();
    this.#tellAway();
    this.#giveFocus();
    if (this.#startWanted) this.#start();
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

  /** Says in the page that something was not done. */
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
