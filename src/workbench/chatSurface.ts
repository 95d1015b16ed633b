// One webview that shows one conversation: it feeds the webview, and does what the webview asks. Panel and side bar view are both surfaces.
import { commands, env, type Webview } from 'vscode';
import { type Disposable, DisposableStore } from '../base/disposable';
import { messageOf } from '../base/errors';
import type { Log } from '../base/log';
import type { Conversation } from '../client/conversation';
import { SessionFeed } from '../client/feed';
import { SHOW_BRANCH } from '../distributed/branchName';
import type { ElicitationAction, QueueAction } from '../panel/actions';
import { CONTRACT_VERSION, type FromWebview, type ToWebview } from '../panel/contract';
import { textOfTurn } from '../session/turnText';
import { contentAttachment, imageAttachment } from './attachments';
import type { Page } from './door/page';
import { readFromWebview } from './fromWebview';

/** What a surface needs of the rest of the workbench. */
export interface SurfaceServices {
  readonly log: Log;
  readonly isTerminalOpenable: (terminalId: string) => boolean;
  readonly openLocation: (path: string, line: number | undefined, roots: readonly string[]) => Promise<void>;
  readonly openLink: (href: string, roots: readonly string[]) => Promise<void>;
  /** Opens an address in the browser of the system; false where the user or the system does not. */
  readonly openAddress: (url: string) => Promise<boolean>;
  readonly openDiff: (conversation: Conversation, index: number, content: number) => Promise<void>;
  /** Saves a file that came with an entry where the user says. */
  readonly saveResource: (conversation: Conversation, index: number, content: number) => Promise<void>;
  readonly openTerminal: (terminalId: string, title: string) => void;
  /** Asks again for a message that is missing from a session of elsewhere. */
  readonly retryGap: (conversation: Conversation, gapId: string) => Promise<void>;
  /** Shows another session that is kept; says so where it is not. */
  readonly showSession: (key: string) => Promise<void>;
  /** Takes a session over from another window that has let it go. */
  readonly takeOver: (conversation: Conversation) => void;
  /** Counts what the webview reports as broken, for the tests and the log. */
  readonly onProblem: (kind: 'error' | 'csp', text: string) => void;
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

/** Sessions that a webview may have been shown and left again before it is heard. */
const MOST_EARLIER = 4;

/** An agent does not wait longer than this for a page that is not drawn, in ms. */
const LONGEST_DRAWING_MS = 3000;

export class ChatSurface implements Disposable {
  readonly #webview: Webview;
  readonly #services: SurfaceServices;
  readonly #lifetime = new DisposableStore();
  readonly #onUsed: (conversation: Conversation) => void;
  #conversation: Conversation;
  /** What was shown before, the last first: the webview may still speak of it. */
  #earlier: readonly Conversation[] = [];
  #feed: SessionFeed;
  #greeted = false;
  #startWanted: ReturnType<typeof setTimeout> | undefined;

  /** @param onUsed called when the user does something here, so that commands know which conversation is meant. */
  constructor(
    page: Page,
    conversation: Conversation,
    services: SurfaceServices,
    onUsed: (conversation: Conversation) => void,
  ) {
    this.#webview = page.webview;
    this.#services = services;
    this.#onUsed = onUsed;
    this.#conversation = conversation;
    this.#feed = this.#newFeed();
    this.#lifetime.add({ dispose: () => this.#feed.dispose() });
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
    this.#feed.dispose();
    this.#earlier = [this.#conversation, ...this.#earlier].slice(0, MOST_EARLIER);
    this.#conversation = conversation;
    this.#feed = this.#newFeed();
    if (this.#greeted) this.#feed.snapshot();
  }

  /** The webview can be seen again, or not any more. */
  #setVisible(isVisible: boolean): void {
    if (!isVisible) this.#feed.suspend();
    else if (this.#greeted) this.#feed.snapshot();
  }

  /**
   * Starts the agent, unless it was started, as soon as the page is drawn: both at once take the processor from each other, and the page is what the user waits for.
   * What they send meanwhile waits for the agent.
   */
  startWhenDrawn(): void {
    if (this.#conversation.connection.kind !== 'idle') return;
    if (this.#greeted) this.#start();
    else this.#startWanted ??= setTimeout(() => this.#start(), LONGEST_DRAWING_MS);
  }

  focus(): void {
    this.#post({ type: 'focus' });
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
    this.#lifetime.dispose();
  }

  #newFeed(): SessionFeed {
    return new SessionFeed(this.#conversation, this.#services.isTerminalOpenable, (message) => this.#post(message));
  }

  #post(message: ToWebview): void {
    this.#webview
      .postMessage(message)
      .then(undefined, (error: unknown) => this.#services.log.debug(`post to a closed webview: ${messageOf(error)}`));
  }

  #receive(raw: unknown): void {
    const message = readFromWebview(raw);
    if (!message) {
      this.#services.log.warn(
        `the webview sent a message that the contract does not have: ${JSON.stringify(raw)?.slice(0, 200)}`,
      );
      return;
    }
    if (message.type === 'ack') {
      this.#feed.acknowledge(message.revision);
      return;
    }
    this.#handle(message).catch((error: unknown) => this.#services.log.error(`${message.type}: ${messageOf(error)}`));
  }

  async #handle(message: Exclude<FromWebview, { type: 'ack' }>): Promise<void> {
    const conversation = this.#conversation;
    switch (message.type) {
      case 'hello':
        if (message.version !== CONTRACT_VERSION)
          this.#services.log.warn(`the webview speaks contract version ${message.version}`);
        this.#greeted = true;
        this.#feed.snapshot();
        if (this.#startWanted) this.#start();
        return;
      case 'wake':
        this.#onUsed(conversation);
        if (conversation.connection.kind === 'idle') await conversation.start();
        return;
      case 'send':
        this.#send(message.clientId, message.text);
        return;
      case 'draft':
        // What is typed last before another session is shown comes after that.
        for (const one of [conversation, ...this.#earlier])
          if (one.key === (message.key ?? conversation.key)) {
            one.unsent.draft = message.text;
            return;
          }
        return;
      case 'scrolled':
        conversation.unsent.anchor = message.anchor ?? undefined;
        return;
      case 'cancel':
        conversation.cancel();
        return;
      case 'permission':
        conversation.answerPermission(message.id, message.optionId);
        return;
      case 'elicitation':
        await this.#elicit(message.id, message.answer);
        return;
      case 'stopOne':
        await this.#tell('It was not stopped', () => conversation.stopOne(message.kind, message.id));
        return;
      case 'queue':
        applyQueueAction(conversation, message.action);
        return;
      case 'setMode':
        await this.#tell('The mode was not changed', () => conversation.setMode(message.modeId));
        return;
      case 'setConfig':
        await this.#tell('The option was not changed', () => conversation.setConfigOption(message.id, message.value));
        return;
      case 'page':
        this.#feed.page(message.from, message.to);
        return;
      case 'details':
        this.#feed.details(message.index);
        return;
      case 'openLocation':
        await this.#services.openLocation(message.path, message.line, conversation.roots);
        return;
      case 'openDiff':
        await this.#services.openDiff(conversation, message.index, message.content);
        return;
      case 'saveResource':
        await this.#services.saveResource(conversation, message.index, message.content);
        return;
      case 'openTerminal':
        this.#services.openTerminal(
          message.terminalId,
          conversation.model.state.terminals.get(message.terminalId)?.command ?? conversation.agent.name,
        );
        return;
      case 'retryGap':
        await this.#services.retryGap(conversation, message.id);
        return;
      case 'openLink':
        await this.#services.openLink(message.href, conversation.roots);
        return;
      case 'copy':
        await env.clipboard.writeText(message.text);
        return;
      case 'copyTurn':
        await env.clipboard.writeText(textOfTurn(conversation.model.state, message.turnId));
        return;
      case 'action':
        await this.#act(message.id);
        return;
      case 'command':
        this.#onUsed(conversation);
        await commands.executeCommand(COMMANDS[message.command]);
        return;
      case 'attachImage':
        conversation.unsent.attach(imageAttachment(message.name, message.mimeType, message.data));
        return;
      case 'attachFile':
        conversation.unsent.attach(contentAttachment(message.name, message.mimeType, message.data));
        return;
      case 'detach':
        conversation.unsent.detach(message.id);
        return;
      case 'problem':
        this.#services.onProblem(message.kind, message.text);
        return;
    }
  }

  /** The composer forgets the text only when the message is in our hands. */
  #send(clientId: string, text: string): void {
    const conversation = this.#conversation;
    this.#onUsed(conversation);
    try {
      conversation.send(text, conversation.unsent.attachments);
    } catch (error) {
      this.#post({ type: 'rejected', clientId, reason: messageOf(error) });
      void conversation.start(); // shows why, with what can be done
      return;
    }
    conversation.unsent.clear();
    this.#post({ type: 'accepted', clientId });
  }

  async #act(id: string): Promise<void> {
    const conversation = this.#conversation;
    this.#onUsed(conversation);
    if (id.startsWith('signIn:')) await conversation.signIn(id.slice('signIn:'.length));
    else if (id === 'restart') await conversation.restart();
    else if (id === 'takeOver') this.#services.takeOver(conversation);
    else if (id.startsWith(SHOW_SESSION)) await this.#services.showSession(id.slice(SHOW_SESSION.length));
    else if (id.startsWith(SHOW_BRANCH)) await this.#showBranch(id.slice(SHOW_BRANCH.length));
    else if (id === 'trust') await commands.executeCommand('workbench.trust.manage');
    else if (id === 'selectAgent' || id === 'showLog' || id === 'openSettings' || id === 'newSession')
      await commands.executeCommand(COMMANDS[id]);
    else this.#services.log.warn(`unknown action ${id}`);
  }

  async #showBranch(branch: string): Promise<void> {
    const { key: session } = this.#conversation;
    await this.#tell('The other branch was not opened', async () => {
      await commands.executeCommand('parley.showBranch', { session, branch });
    });
  }

  async #elicit(id: string, answer: ElicitationAction): Promise<void> {
    const { elicitations } = this.#conversation;
    this.#onUsed(this.#conversation);
    switch (answer.kind) {
      case 'submit': {
        const problems = elicitations.submit(id, answer.values);
        if (problems?.size) this.#post({ type: 'formRefused', id, problems: Object.fromEntries(problems) });
        return;
      }
      case 'open':
        await this.#tell('The page was not opened', () => elicitations.open(id, this.#services.openAddress));
        return;
      default:
        elicitations.refuse(id, answer.kind);
    }
  }

  /** Does something with the agent and says in the transcript where it failed. */
  async #tell(what: string, run: () => Promise<void>): Promise<void> {
    const conversation = this.#conversation;
    try {
      await run();
    } catch (error) {
      conversation.model.apply(
        { type: 'notice', own: true, severity: 'error', title: what, description: messageOf(error) },
        Date.now(),
      );
    }
  }
}

function applyQueueAction(conversation: Conversation, action: QueueAction): void {
  const { queue } = conversation;
  switch (action.kind) {
    case 'edit':
      queue.edit(action.id, action.text);
      conversation.pumpQueue();
      return;
    case 'hold':
      queue.hold(action.id, action.held);
      if (!action.held) conversation.pumpQueue();
      return;
    case 'remove':
      conversation.removeFromQueue(action.id);
      return;
    case 'sendNow':
      conversation.sendNow(action.id);
      return;
    case 'move':
      queue.move(action.id, action.to);
      return;
    case 'pause':
      queue.pause('by you');
      return;
    case 'resume':
      conversation.resumeQueue();
      return;
    case 'clear':
      conversation.removeFromQueue();
      return;
  }
}
