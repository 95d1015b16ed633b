// Creates the overview of all sessions: the list, the status bar item, tab icons, notifications, and
// the open questions of all windows.
import { commands, type ExtensionContext, l10n, window, workspace } from 'vscode';
import { type Disposable, DisposableStore, toDisposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { FoundKeeper, Keepers } from '../../client/transport/keepers';
import type { SessionStatus } from '../../client/view/sessionStatus';
import { type MarkedSession, NO_MARKS } from '../../store/sessions/sessionMarks';
import type { TabIcon } from '../activation/tabIcon';
import type { ChatHome } from '../chat/chatHome';
import type { AgentCatalog } from '../config/agentCatalog';
import { notificationSetting, notificationSound, queuesInBackground } from '../config/settings';
import type { Archive } from '../sessions/archive';
import type { Conversations } from '../sessions/conversations';
import { nameOf } from '../sessions/keptSessions';
import { titleOf } from '../sessions/sessionLabels';
import { showInfo } from '../ui/messages';
import type { Tree } from '../ui/treeView';
import { AnswerProof } from './answerProof';
import { AttentionStatus, badgeOf } from './attention';
import { BackgroundQuestions } from './backgroundQuestions';
import { BackgroundQueue } from './backgroundQueue';
import { type BriefQuestion, briefQuestionOf } from './briefQuestion';
import { Inbox } from './inbox';
import { problemOf, showInbox } from './inboxPicker';
import { LiveSessions } from './liveSessions';
import { nextWaiting } from './nextWaiting';
import { Notifications } from './notifications';
import { notificationTexts } from './notificationTexts';
import { backgroundStateOf, RunningAgents } from './runningAgents';
import { showRunningAgents } from './runningAgentsPicker';
import { SessionsView } from './sessionsView';
import type { ListNode } from './sessionTree';

/** Interval of checks whether another window has written, in milliseconds. */
const LOOK_MS = 1000;
/** Minimum time between two publications of questions, in milliseconds. */
const OFFER_MS = 300;

export interface OverviewOptions {
  readonly context: ExtensionContext;
  readonly tree: Tree<ListNode>;
  readonly archive: Archive;
  readonly conversations: Conversations;
  readonly chat: ChatHome;
  readonly catalog: AgentCatalog;
  readonly keepers: Keepers;
  readonly log: Log;
}

export class Overview implements Disposable {
  readonly view: SessionsView;
  readonly inbox: Inbox;
  readonly live: LiveSessions;
  readonly running: RunningAgents;
  readonly #options: OverviewOptions;
  readonly #lifetime = new DisposableStore();
  readonly #status: AttentionStatus;
  /** Changed sessions with open questions. */
  readonly #asking = new Set<string>();
  #offering: Disposable | undefined;
  /** The session that {@link next} went to last. */
  #wentTo: string | undefined;
  #revision = 0;

  constructor(options: OverviewOptions) {
    const { context, tree, archive, conversations, chat, catalog, keepers, log } = options;
    const own = <T extends Disposable>(part: T): T => this.#lifetime.add(part);
    this.#options = options;
    const isShown = (key: string): boolean => chat.isShown(key);
    const tell = (text: string, ...buttons: string[]): Promise<string | undefined> => {
      if (notificationSound()) chat.chime();
      return showInfo(text, ...buttons);
    };
    const quietly = <T>(run: () => T, otherwise: T): T => {
      try {
        return run();
      } catch (error) {
        log.warn(`sessions: ${messageOf(error)}`);
        return otherwise;
      }
    };
    this.live = own(
      new LiveSessions({
        conversations,
        titleOf,
        isShown,
        wasUnread: (key) => quietly(() => archive.marks.of(key).unread, false),
        keep: (key, marks) => quietly(() => archive.marks.mark(key, marks), undefined),
        now: Date.now,
        schedule,
      }),
    );
    const proof = new AnswerProof(context.secrets);
    proof.prepare().catch((error: unknown) => log.warn(`inbox: ${messageOf(error)}`));
    this.inbox = own(
      new Inbox({
        conversations,
        questions: () => archive.questions,
        windowId: archive.windowId,
        proof,
        titleOf,
        schedule,
        log,
      }),
    );
    const isHere = (key: string): boolean => conversations.find(key) !== undefined;
    this.running = own(new RunningAgents({ keepers, isHere, schedule, log }));
    own(
      new BackgroundQueue({
        running: this.running,
        isOn: () => workspace.isTrusted && queuesInBackground(),
        nextOf: (key) => archive.nextQueued(key),
        open: (key) => conversations.forSending(key),
        release: (key) => archive.release(key),
        log,
      }),
    );
    this.view = own(
      new SessionsView(tree, {
        live: () => this.live.rows,
        stored: (query) => archive.marks.list(query),
        groups: (by, filter) => archive.marks.groups(by, filter),
        marks: (key) => quietly(() => archive.marks.of(key), NO_MARKS),
        elsewhere: () => archive.elsewhere(),
        background: () => this.running.background.flatMap((one) => this.#backgroundSession(one)),
        asks: (key) => this.inbox.asks(key),
        titleOf: nameOf,
        agentName: (id) => catalog.find(id)?.name ?? id,
        memento: context.workspaceState,
        now: Date.now,
        schedule,
        log,
      }),
    );
    this.#status = own(new AttentionStatus());
    own(
      new Notifications({
        live: this.live,
        isShown,
        isFocused: () => window.state.focused,
        setting: notificationSetting,
        texts: notificationTexts,
        briefly: (key) => briefQuestionOf(this.inbox, key),
        answer: (asked, choice) => void this.#answer(asked, choice),
        tell,
        reveal: (key) => this.open(key),
        next: () => void this.next(),
        now: Date.now,
        schedule,
      }),
    );
    own(
      this.live.onDidChange((keys) => {
        for (const key of keys) this.inbox.offer(key);
        this.view.changed(false);
        this.#count();
      }),
    );
    // A question can change while the row of its session stays the same.
    own(conversations.onDidChange((key) => this.live.get(key)?.status === 'needsYou' && this.#offerSoon(key)));
    own(
      this.inbox.onDidChange(() => {
        this.view.changed(true);
        this.#count();
      }),
    );
    own(
      this.running.onDidChange(() => {
        this.view.changed(true);
        this.#count();
      }),
    );
    own(
      new BackgroundQuestions({
        running: this.running,
        isFocused: () => window.state.focused,
        onDidChangeFocus: (listener) => window.onDidChangeWindowState(listener),
        tell: (one) => void this.#tellAsking(one),
      }),
    );
    own(chat.onDidShow((key) => this.live.seen(key)));
    own(archive.onDidDelete(() => this.view.changed(true)));
    own(archive.onDidDelete((keys) => void this.running.collect((session) => !keys.includes(session))));
    own(archive.onDidPrune(() => void this.running.collect((session) => archive.find(session) !== undefined)));
    own(conversations.onDidRemove(() => this.view.changed(true)));
    const looking = setInterval(() => this.#look(), LOOK_MS);
    looking.unref();
    own(toDisposable(() => clearInterval(looking)));
    chat.states = (key) => this.#iconOf(key);
    own(this.live.onDidChange(() => chat.retitle()));
    tree.fill(this.view);
  }

  /** Shows a session of this window, with its open question in focus. */
  open(key: string): void {
    const { conversations, chat } = this.#options;
    const conversation = conversations.find(key);
    if (!conversation) return;
    const surface = chat.present(conversation);
    if (this.live.get(key)?.status === 'needsYou') surface.focus('question');
  }

  /**
   * Goes to the next session that needs the user, to one whose agent asks without a window, or to the
   * questions of other windows.
   * @returns the key of the session
   */
  async next(): Promise<string | undefined> {
    const { conversations, chat } = this.#options;
    const current = conversations.peek()?.key;
    // VS Code reports the visibility of a revealed panel with a delay.
    const isThere = current !== undefined && (current === this.#wentTo || chat.isShown(current));
    const next = nextWaiting(this.live.rows, isThere ? current : undefined);
    this.#wentTo = next?.key;
    const asking = this.running.background.find((one) => backgroundStateOf(one) === 'needsYou');
    if (next) this.open(next.key);
    else if (asking && this.inbox.questions.length === 0) await openStored(asking.about.session);
    else await this.showInbox();
    return next?.key;
  }

  /** Shows all agents that run. @param open opens a session that may not be in this window */
  showRunning(open: (key: string) => Promise<unknown>): Promise<void> {
    const { archive, conversations } = this.#options;
    const titleOfKey = (key: string): string | undefined => {
      const record = archive.find(key);
      return record && nameOf(record);
    };
    const isHere = (key: string): boolean => conversations.find(key) !== undefined;
    return showRunningAgents({ running: this.running, titleOf: titleOfKey, isHere, open });
  }

  showInbox(): Promise<void> {
    return showInbox(this.inbox, (key) => this.open(key));
  }

  dispose(): void {
    this.#offering?.dispose();
    this.#lifetime.dispose();
  }

  async #answer({ question }: BriefQuestion, choice: number): Promise<void> {
    if (await this.inbox.answer(question, choice)) return;
    void showInfo(problemOf(this.inbox, question));
    if (this.live.get(question.key)?.status === 'needsYou') this.open(question.key);
  }

  /** An agent can ask and write on at the same time. */
  #offerSoon(key: string): void {
    this.#asking.add(key);
    this.#offering ??= schedule(() => {
      this.#offering = undefined;
      for (const one of this.#asking) this.inbox.offer(one);
      this.#asking.clear();
    }, OFFER_MS);
  }

  #look(): void {
    const { archive } = this.#options;
    const { revision } = archive;
    if (revision === this.#revision) return;
    this.#revision = revision;
    this.inbox.look();
    this.view.changed(true);
  }

  /** A session whose agent works or asks without a window; none where the session was deleted. */
  #backgroundSession(found: FoundKeeper): readonly { session: MarkedSession; status: SessionStatus }[] {
    const { archive } = this.#options;
    const status = backgroundStateOf(found);
    if (status !== 'working' && status !== 'needsYou') return [];
    const record = archive.find(found.about.session);
    return record ? [{ session: { ...record, marks: archive.marks.of(record.key) }, status }] : [];
  }

  async #tellAsking({ about }: FoundKeeper): Promise<void> {
    const record = this.#options.archive.find(about.session);
    if (notificationSetting() === 'off' || !record) return;
    const show = l10n.t('Show');
    const pressed = await showInfo(l10n.t('{0} needs you: {1}', about.agentName, nameOf(record)), show);
    if (pressed === show) await openStored(about.session);
  }

  #count(): void {
    const [working, asking] = [this.running.count('working'), this.running.count('needsYou')];
    const counts = {
      working: this.live.count('working') + working,
      waiting: this.live.count('needsYou') + new Set(this.inbox.others.map(({ key }) => key)).size + asking,
      background: working + asking,
    };
    this.#status.show(counts);
    this.#options.tree.badge = badgeOf(counts);
  }

  #iconOf(key: string): TabIcon {
    const session = this.live.get(key);
    if (session?.status === 'needsYou') return 'waiting';
    if (session?.status === 'working') return 'working';
    return session?.unread ? 'unread' : 'quiet';
  }
}

/** Opens a session that may not be in this window, where the user agrees. */
async function openStored(session: string): Promise<void> {
  await commands.executeCommand('parley.sessionList.open', { session });
}

function schedule(run: () => void, ms: number): Disposable {
  const timer = setTimeout(run, ms);
  timer.unref();
  return { dispose: () => clearTimeout(timer) };
}
