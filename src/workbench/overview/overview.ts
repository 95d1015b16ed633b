// The list, the status bar item, tab icons, notifications, and the pickers of questions and agents.

import { basename } from 'node:path';
import { commands, l10n, window, workspace } from 'vscode';
import { type Disposable, Part } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import { revealHidden } from '../../base/revealControls';
import { oneLine } from '../../base/text';
import { commandLineOf } from '../../client/transport/commandsOfKeeper';
import { type FoundKeeper, Keepers } from '../../client/transport/keepers';
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
import { agoLabel, titleOf } from '../sessions/sessionLabels';
import { type ChoiceRow, choiceFrom, List, type ListButton, type PickItem, pick } from '../ui/input';
import { showInfo, tellError } from '../ui/messages';
import { StatusItem } from '../ui/statusItem';
import type { Tree } from '../ui/treeView';
import { ActiveSessions, type NO_ATTENTION } from './activeSessions';
import { AnswerProof, Inbox, type InboxQuestion } from './inbox';
import { type Clock, LiveSessions } from './liveSessions';
import { type NotificationActions, Notifications } from './notifications';
import { statusLabel } from './rowLabels';
import { BackgroundQueue, backgroundStateOf, RunningAgents } from './runningAgents';
import { SessionsView } from './sessionsView';
import type { ListNode } from './sessionTree';

const OFFER_MS = 300;

const clock: Clock = { now: Date.now, schedule };

export class Overview extends Part implements NotificationActions {
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
  readonly #changedQuestions = new Set<string>();
  #publishTimer: Disposable | undefined;
  #lastVisited: string | undefined;

  constructor(workbench: Workbench, tree: Tree<ListNode>) {
    super();
    const { context, log } = workbench;
    const archive = workbench.get(Archive);
    const conversations = workbench.get(Conversations);
    const chat = workbench.get(ChatHome);
    const catalog = workbench.get(AgentCatalog);
    const keepers = workbench.get(Keepers);
    const own = <T extends Disposable>(part: T): T => this.own(part);
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
        wasUnread: (key) => this.#tryJournal(() => archive.marks.of(key).unread) ?? false,
        saveMarks: (key, marks) => this.#tryJournal(() => archive.marks.mark(key, marks)),
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
    own(new AttentionStatus(workbench, this.#active, tree));
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
    // A question can change without its session's row.
    own(conversations.onDidChange((key) => live.get(key)?.status === 'needsYou' && this.#publishSoon(key)));
    own(this.#active.onDidChange(() => this.view.changed(false)));
    own(chat.onDidShow((key) => live.seen(key)));
    own(conversations.onDidActivate((key) => this.view.select(key)));
    own(
      archive.onDidDelete((keys) => {
        this.view.changed(true);
        void running.collect((session) => !keys.includes(session));
      }),
    );
    own(archive.onDidPrune(() => void running.collect((session) => archive.find(session) !== undefined)));
    own(
      conversations.onDidRemove(() => {
        this.view.changed(true);
        running.pollLater();
      }),
    );
    own(
      archive.onDidChangeElsewhere(() => {
        inbox.look();
        this.view.changed(true);
      }),
    );
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

  /** Goes to the next session that needs the user, or the inbox. @returns the session's key */
  async next(): Promise<string | undefined> {
    const current = this.#conversations.peek()?.key;
    // VS Code reports the visibility of a revealed panel with a delay.
    const isCurrentVisible = current !== undefined && (current === this.#lastVisited || this.#chat.isShown(current));
    const next = this.#active.next(isCurrentVisible ? current : undefined);
    this.#lastVisited = next?.key;
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

  override dispose(): void {
    this.#publishTimer?.dispose();
    super.dispose();
  }

  #publishSoon(key: string): void {
    this.#changedQuestions.add(key);
    this.#publishTimer ??= clock.schedule(() => {
      this.#publishTimer = undefined;
      for (const one of this.#changedQuestions) this.inbox.offer(one);
      this.#changedQuestions.clear();
    }, OFFER_MS);
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
    const record = this.#tryJournal(() => this.#archive.find(key));
    return record && nameOf(record);
  }

  #iconOf(key: string): TabIcon {
    const session = this.live.get(key);
    if (session?.status === 'needsYou') return 'waiting';
    if (session?.status === 'working') return 'working';
    return session?.unread ? 'unread' : 'quiet';
  }

  #tryJournal<T>(run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      this.#log.warn(`sessions: ${messageOf(error)}`);
      return undefined;
    }
  }
}

function openStored(session: string): void {
  // Called with an argument, the command throws.
  commands.executeCommand('parley.sessionList.open', { session }).then(undefined, tellError);
}

class AttentionStatus extends Part {
  readonly #workbench: Pick<Workbench, 'setContext'>;
  readonly #active: ActiveSessions;
  readonly #tree: Pick<Tree<never>, 'badge'>;
  #item: StatusItem | undefined;
  #drawn = '';

  constructor(workbench: Pick<Workbench, 'setContext'>, active: ActiveSessions, tree: Pick<Tree<never>, 'badge'>) {
    super();
    this.#workbench = workbench;
    this.#active = active;
    this.#tree = tree;
    this.own(active.onDidChange(() => this.#draw()));
  }

  #draw(): void {
    const [working, asking] = [this.#active.in('working'), this.#active.in('needsYou')];
    const waiting = asking.length;
    const background = [...working, ...asking].filter(({ where }) => where === 'background').length;
    const next = `${working.length} ${waiting} ${background}`;
    if (next === this.#drawn) return;
    this.#drawn = next;
    const keys: typeof NO_ATTENTION = { needsYou: waiting > 0 };
    this.#workbench.setContext('needsYou', keys.needsYou);
    this.#tree.badge = waiting === 0 ? undefined : { count: waiting, tooltip: waitingLabel(waiting) };
    if (working.length + waiting === 0) {
      this.#item?.dispose();
      this.#item = undefined;
      return;
    }
    this.#item ??= new StatusItem('parley.sessions');
    const count = background > 0 ? agentsLabel(working.length) : working.length;
    this.#item.show({
      name: l10n.t('Parley Sessions'),
      text: [
        ...(working.length > 0 ? [{ icon: 'play-circle' }, ` ${count}`] : []),
        ...(working.length > 0 && waiting > 0 ? ['  '] : []),
        ...(waiting > 0 ? [{ icon: 'question' }, ` ${waiting}`] : []),
      ],
      tooltip: [
        ...(working.length > 0 ? [workingLabel(working.length)] : []),
        ...(waiting > 0 ? [waitingLabel(waiting)] : []),
        ...(background > 0 ? [backgroundLabel(background)] : []),
        waiting > 0 ? l10n.t('Select to go to the next one.') : l10n.t('Select to show the list of sessions.'),
      ],
      command:
        waiting > 0
          ? { command: 'parley.nextAttention', title: l10n.t('Go to Next Session That Needs You') }
          : { command: 'parley.sessionsView.focus', title: l10n.t('Show Sessions') },
      isWarning: false,
    });
  }

  override dispose(): void {
    super.dispose();
    this.#item?.dispose();
  }
}

function agentsLabel(count: number): string {
  return count === 1 ? l10n.t('1 agent working') : l10n.t('{0} agents working', count);
}

function workingLabel(count: number): string {
  return count === 1 ? l10n.t('1 session is working.') : l10n.t('{0} sessions are working.', count);
}

function backgroundLabel(count: number): string {
  return count === 1 ? l10n.t('1 of them has no window.') : l10n.t('{0} of them have no window.', count);
}

function waitingLabel(count: number): string {
  return count === 1 ? l10n.t('1 session needs you.') : l10n.t('{0} sessions need you.', count);
}

/** Maximum characters per line of a question, so that VS Code does not truncate it. */
const LINE = 44;
const MAX_ROWS = 18;
const MAX_ANSWER = 60;
const MAX_TITLE = 110;
const BACK = 'back';

export async function showInbox(inbox: Inbox, open: (key: string) => void): Promise<void> {
  for (;;) {
    inbox.look();
    const { questions } = inbox;
    if (questions.length === 0) {
      void showInfo(l10n.t('No session needs you.'));
      return;
    }
    const chosen = await pick(questions.map(itemOf), l10n.t('Select a question'), {
      title: l10n.t('Open Questions of All Windows'),
    });
    const question = chosen === undefined ? undefined : questions[Number(chosen)];
    if (!question) return;
    if ((await ask(inbox, question, open)) === 'gone') return;
  }
}

function itemOf(question: InboxQuestion, index: number): PickItem {
  const { title, session, agent, folder, isOurs } = question;
  const where = isOurs ? l10n.t('this window') : l10n.t('another window');
  return {
    id: String(index),
    label: [{ icon: isOurs ? 'question' : 'multiple-windows' }, ` ${title}`],
    description: `${agent} · ${basename(folder)} · ${where}`,
    detail: session,
  };
}

async function ask(inbox: Inbox, question: InboxQuestion, open: (key: string) => void): Promise<'gone' | 'next'> {
  const { title, session, agent, isOurs, key } = question;
  const lines = linesOf(question.text);
  const { choices } = question;
  const fits = lines.length + choices.length <= MAX_ROWS && choices.every(({ label }) => label.length <= MAX_ANSWER);
  const isReadable = fits && choices.length > 0;
  const items: PickItem[] = [
    isOurs
      ? { id: BACK, label: [{ icon: 'go-to-file' }, ` ${l10n.t('Open Session')}`] }
      : { id: BACK, label: [{ icon: 'arrow-left' }, ` ${l10n.t('Back')}`] },
    ...lines.slice(0, MAX_ROWS).map((line, index) => ({ id: `line:${index}`, label: line === '' ? ' ' : line })),
    ...(isReadable
      ? choices.map(({ label }, index) => ({ id: `choice:${index}`, label: [{ icon: 'reply' }, ` ${label}`] }))
      : [{ id: BACK, label: [{ icon: 'info' }, ` ${whyNot(question)}`] }]),
  ];
  for (;;) {
    const chosen = await pick(items, `${agent}: ${session}`.slice(0, MAX_TITLE), { title });
    if (chosen === undefined) return 'gone';
    if (chosen.startsWith('line:')) continue;
    if (chosen === BACK) {
      if (!isOurs) return 'next';
      open(key);
      return 'gone';
    }
    const isDone = await inbox.answer(question, Number(chosen.slice('choice:'.length)));
    if (!isDone) void showInfo(problemOf(inbox, question));
    return inbox.questions.length === 0 ? 'gone' : 'next';
  }
}

export function problemOf(inbox: Inbox, { key, id, isOurs }: InboxQuestion): string {
  inbox.look();
  if (!inbox.questions.some((one) => one.key === key && one.id === id))
    return l10n.t('This question is no longer open.');
  return isOurs
    ? l10n.t('The question has changed. Answer it in its session.')
    : l10n.t("The window of this question didn't take the answer. Answer the question there.");
}

function whyNot({ isOurs, choices }: InboxQuestion): string {
  if (isOurs) return l10n.t('Answer this question in its session.');
  return choices.length === 0
    ? l10n.t('Answer this question in its window.')
    : l10n.t('This question is too long to answer here. Answer it in its window.');
}

function linesOf(text: string): readonly string[] {
  if (text === '') return [];
  return revealHidden(text)
    .split('\n')
    .flatMap((line) => {
      const parts: string[] = [];
      for (let at = 0; at === 0 || at < line.length; at += LINE) parts.push(line.slice(at, at + LINE));
      return parts;
    });
}

const MAX_COMMAND = 100;

interface RunningAgentsPicker {
  readonly keepers: Pick<Keepers, 'list' | 'endCommand'>;
  readonly end: (id: string) => Promise<void>;
  readonly titleOf: (session: string) => string | undefined;
  readonly isHere: (session: string) => boolean;
  readonly open: (session: string) => Promise<unknown>;
}

async function showRunningAgents(services: RunningAgentsPicker): Promise<void> {
  const list = new List<ChoiceRow>(l10n.t('Select an agent to open its session'), l10n.t('Running Agents'));
  let isOpen = true;
  const draw = async (): Promise<void> => {
    list.busy = true;
    const found = await services.keepers.list();
    if (!isOpen) return;
    list.busy = false;
    const none: ChoiceRow = { id: 'none', label: l10n.t('No agents run without a window') };
    list.draw(
      found.length === 0 ? [none] : found.flatMap((one) => [rowOf(one, services), ...commandRows(one, services)]),
      [],
    );
  };
  const choice = choiceFrom(list);
  void draw();
  const choose = await choice;
  isOpen = false;
  await choose?.();
}

function rowOf(found: FoundKeeper, services: RunningAgentsPicker): ChoiceRow {
  const { id, kind, about, startedAt } = found;
  const title = services.titleOf(about.session);
  const untitled = found.state?.isAttached ? l10n.t('New session') : l10n.t('Deleted session');
  const isEndable = kind !== 'elsewhere';
  const end = endButton(l10n.t('End Agent'), () => services.end(id), services);
  return {
    id,
    label: [{ icon: iconOf(found) }, ` ${title ?? untitled}`],
    description: `${about.agentName} · ${basename(about.folder) || about.folder} · ${whereOf(found, services)}`,
    detail: l10n.t('Started: {0}', agoLabel(startedAt, Date.now())),
    buttons: isEndable ? [end] : undefined,
    choose: title !== undefined && kind === 'alive' ? () => services.open(about.session) : undefined,
  };
}

function commandRows({ id, about, state }: FoundKeeper, services: RunningAgentsPicker): readonly ChoiceRow[] {
  const running = state?.commands?.filter(({ isRunning }) => isRunning) ?? [];
  return running.map((command) => ({
    id: `${id} ${command.id}`,
    label: [{ icon: 'terminal' }, ` ${oneLine(commandLineOf(command) ?? '', MAX_COMMAND)}`],
    description: l10n.t('command of {0}', about.agentName),
    buttons: [endButton(l10n.t('End Command'), () => services.keepers.endCommand(id, command.id), services)],
  }));
}

function endButton(tooltip: string, end: () => Promise<void>, services: RunningAgentsPicker): ListButton {
  const run = async (): Promise<void> => {
    await end();
    await showRunningAgents(services);
  };
  return { icon: 'stop-circle', tooltip, run };
}

function iconOf(found: FoundKeeper): string {
  if (found.kind !== 'alive') return 'warning';
  if (found.state?.isAttached) return 'window';
  return {
    needsYou: 'question',
    working: 'play-circle',
    ready: 'circle-outline',
    ended: 'check',
  }[backgroundStateOf(found)];
}

function whereOf(found: FoundKeeper, { isHere }: RunningAgentsPicker): string {
  switch (found.kind) {
    case 'unreachable':
      return l10n.t("isn't responding");
    case 'newer':
      return l10n.t('started by a newer version of Parley');
    case 'elsewhere':
      return l10n.t('on {0}', found.host);
    case 'alive':
      if (found.state?.isAttached)
        return isHere(found.about.session) ? l10n.t('this window') : l10n.t('another window');
      return l10n.t('{0}, no window', statusLabel(backgroundStateOf(found)));
  }
}
