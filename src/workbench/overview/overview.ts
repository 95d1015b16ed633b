// Creates the list, the status bar item, tab icons, notifications and the inbox of all windows.
import { commands, window, workspace } from 'vscode';
import { type Disposable, DisposableStore, toDisposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import { Keepers } from '../../client/transport/keepers';
import type { SessionStatus } from '../../client/view/sessionStatus';
import type { MarkedSession } from '../../store/sessions/sessionMarks';
import type { TabIcon } from '../activation/tabIcon';
import { ChatHome } from '../chat/chatHome';
import { AgentCatalog } from '../config/agentCatalog';
import { notificationSetting, notificationSound, queuesInBackground } from '../config/settings';
import { schedule, type Workbench } from '../core/workbench';
import { Archive } from '../sessions/archive';
import { Conversations } from '../sessions/conversations';
import { nameOf } from '../sessions/keptSessions';
import { titleOf } from '../sessions/sessionLabels';
import { showInfo } from '../ui/messages';
import type { Tree } from '../ui/treeView';
import { ActiveSessions } from './activeSessions';
import { AnswerProof } from './answerProof';
import { AttentionStatus } from './attentionStatus';
import { BackgroundQueue } from './backgroundQueue';
import { Inbox, type InboxQuestion } from './inbox';
import { problemOf, showInbox } from './inboxPicker';
import { type Clock, LiveSessions } from './liveSessions';
import { type NotificationActions, Notifications } from './notifications';
import { RunningAgents } from './runningAgents';
import { showRunningAgents } from './runningAgentsPicker';
import { SessionsView } from './sessionsView';
import type { ListNode } from './sessionTree';

/** Interval of checks whether another window has written, in milliseconds. */
const LOOK_MS = 1000;
/** Minimum time between two publications of questions, in milliseconds. */
const OFFER_MS = 300;

const clock: Clock = { now: Date.now, schedule };

export class Overview implements NotificationActions, Disposable {
  readonly view: SessionsView;
  readonly inbox: Inbox;
  readonly live: LiveSessions;
  readonly running: RunningAgents;
  readonly #active: ActiveSessions;
  readonly #log: Log;
  readonly #archive: Archive;
  readonly #conversations: Conversations;
  readonly #chat: ChatHome;
  readonly #keepers: Keepers;
  readonly #lifetime = new DisposableStore();
  readonly #asking = new Set<string>();
  #offering: Disposable | undefined;
  #wentTo: string | undefined;
  #revision = 0;

  constructor(workbench: Workbench, tree: Tree<ListNode>) {
    const { context, log } = workbench;
    const archive = workbench.get(Archive);
    const conversations = workbench.get(Conversations);
    const chat = workbench.get(ChatHome);
    const catalog = workbench.get(AgentCatalog);
    const keepers = workbench.get(Keepers);
    const own = <T extends Disposable>(part: T): T => this.#lifetime.add(part);
    this.#log = log;
    this.#archive = archive;
    this.#conversations = conversations;
    this.#chat = chat;
    this.#keepers = keepers;
    const isShown = (key: string): boolean => chat.isShown(key);
    const isHere = (key: string): boolean => conversations.find(key) !== undefined;
    this.live = own(
      new LiveSessions({
        conversations,
        titleOf,
        isShown,
        wasUnread: (key) => this.#quietly(() => archive.marks.of(key).unread) ?? false,
        keep: (key, marks) => this.#quietly(() => archive.marks.mark(key, marks)),
        ...clock,
      }),
    );
    const proof = new AnswerProof(context.secrets);
    proof.prepare().catch((error: unknown) => log.warn(`inbox: ${messageOf(error)}`));
    const { windowId } = archive;
    const questions = () => archive.questions;
    this.inbox = own(new Inbox({ conversations, questions, windowId, proof, titleOf, schedule, log }));
    this.running = own(new RunningAgents({ keepers, isHere, schedule, log }));
    const { live, inbox, running } = this;
    this.#active = own(
      new ActiveSessions({ live, inbox, running, titleOf: (key) => this.#storedTitleOf(key), now: clock.now }),
    );
    own(
      new BackgroundQueue({
        running,
        isOn: () => workspace.isTrusted && queuesInBackground(),
        nextOf: (key) => archive.nextQueued(key),
        open: (key) => conversations.forSending(key),
        release: (key) => archive.release(key),
        log,
      }),
    );
    const sources = {
      live,
      stored: () => archive.marks,
      others: () => this.#others(),
      titleOf: nameOf,
      agentName: (id: string) => catalog.nameOf(id),
    };
    this.view = own(new SessionsView(tree, sources, context.workspaceState, clock, log));
    own(new AttentionStatus(this.#active, tree));
    const notificationWindow = {
      setting: notificationSetting,
      isShown,
      isFocused: () => window.state.focused,
      onDidChangeFocus: window.onDidChangeWindowState,
      tell: (text: string, ...buttons: string[]) => {
        if (notificationSound()) chat.chime();
        return showInfo(text, ...buttons);
      },
    };
    own(new Notifications({ active: this.#active, live, inbox }, this, notificationWindow, clock));
    own(
      live.onDidChange((keys) => {
        for (const key of keys) inbox.offer(key);
        this.view.changed(false);
        chat.retitle();
      }),
    );
    // A question can change while the row of its session stays the same.
    own(conversations.onDidChange((key) => live.get(key)?.status === 'needsYou' && this.#offerSoon(key)));
    own(this.#active.onDidChange(() => this.view.changed(false)));
    own(chat.onDidShow((key) => live.seen(key)));
    own(
      archive.onDidDelete((keys) => {
        this.view.changed(true);
        void running.collect((session) => !keys.includes(session));
      }),
    );
    own(archive.onDidPrune(() => void running.collect((session) => archive.find(session) !== undefined)));
    own(conversations.onDidRemove(() => this.view.changed(true)));
    const looking = setInterval(() => this.#look(), LOOK_MS);
    looking.unref();
    own(toDisposable(() => clearInterval(looking)));
    chat.states = (key) => this.#iconOf(key);
    tree.fill(this.view);
  }

  open(key: string): void {
    const conversation = this.#conversations.find(key);
    if (!conversation) {
      openStored(key);
      return;
    }
    const surface = this.#chat.present(conversation);
    if (this.live.get(key)?.status === 'needsYou') surface.focus('question');
  }

  /**
   * Goes to the next session that needs the user, an agent without a window, or the inbox.
   * @returns the key of the session
   */
  async next(): Promise<string | undefined> {
    const current = this.#conversations.peek()?.key;
    // VS Code reports the visibility of a revealed panel with a delay.
    const isThere = current !== undefined && (current === this.#wentTo || this.#chat.isShown(current));
    const next = this.#active.next(isThere ? current : undefined);
    this.#wentTo = next?.key;
    const asking = this.#active.in('needsYou').find(({ where }) => where === 'background');
    if (next) this.open(next.key);
    else if (asking && this.inbox.questions.length === 0) openStored(asking.key);
    else await this.showInbox();
    return next?.key;
  }

  showRunning(open: (key: string) => Promise<unknown>): Promise<void> {
    return showRunningAgents({
      keepers: this.#keepers,
      end: (id) => this.running.end(id),
      titleOf: (key) => this.#storedTitleOf(key),
      isHere: (key) => this.#conversations.find(key) !== undefined,
      open,
    });
  }

  showInbox(): Promise<void> {
    return showInbox(this.inbox, (key) => this.open(key));
  }

  async answer(question: InboxQuestion, choice: number): Promise<void> {
    if (await this.inbox.answer(question, choice)) return;
    void showInfo(problemOf(this.inbox, question));
    if (this.live.get(question.key)?.status === 'needsYou') this.open(question.key);
  }

  dispose(): void {
    this.#offering?.dispose();
    this.#lifetime.dispose();
  }

  #offerSoon(key: string): void {
    this.#asking.add(key);
    this.#offering ??= clock.schedule(() => {
      this.#offering = undefined;
      for (const one of this.#asking) this.inbox.offer(one);
      this.#asking.clear();
    }, OFFER_MS);
  }

  #look(): void {
    const { revision } = this.#archive;
    if (revision === this.#revision) return;
    this.#revision = revision;
    this.inbox.look();
    this.view.changed(true);
  }

  #others(): readonly { session: MarkedSession; status: SessionStatus }[] {
    const archive = this.#archive;
    const all = [...this.#active.in('needsYou'), ...this.#active.in('working')];
    const background = all.flatMap(({ key, where, status }) => {
      const record = where === 'background' ? archive.find(key) : undefined;
      return record ? [{ session: { ...record, marks: archive.marks.of(key) }, status }] : [];
    });
    const elsewhere = archive.elsewhere().map((session) => {
      const asks = this.inbox.asks(session.key);
      return { session, status: asks ? ('needsYou' as const) : ('otherWindow' as const) };
    });
    return [...elsewhere, ...background];
  }

  #storedTitleOf(key: string): string | undefined {
    const record = this.#quietly(() => this.#archive.find(key));
    return record && nameOf(record);
  }

  #iconOf(key: string): TabIcon {
    const session = this.live.get(key);
    if (session?.status === 'needsYou') return 'waiting';
    if (session?.status === 'working') return 'working';
    return session?.unread ? 'unread' : 'quiet';
  }

  #quietly<T>(run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      this.#log.warn(`sessions: ${messageOf(error)}`);
      return undefined;
    }
  }
}

function openStored(session: string): void {
  void commands.executeCommand('parley.sessionList.open', { session });
}
