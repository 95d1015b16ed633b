// The conversations of this window by key, and the active one.

import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { l10n } from 'vscode';
import type { AgentDefinition } from '../../agents/agentDefinition';
import type { Disposable } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import { Emitter, type Event } from '../../base/event';
import type { BareContext } from '../../client/connection/bareAgent';
import type { SessionOpenStrategy } from '../../client/connection/sessionOpenStrategy';
import { carriedChoices, missingChoices } from '../../client/connection/shownChoices';
import { Conversation } from '../../client/conversation/conversation';
import type { ConversationServices } from '../../client/conversation/conversationOptions';
import { sendingServices } from '../../client/conversation/sendInBackground';
import type { WarmAgent } from '../../client/conversation/warmAgent';
import { isBelow } from '../../client/requests/roots';
import { Stages } from '../../client/transport/stages';
import type { SessionEvent } from '../../session/events/event';
import { Changes } from '../../session/model/changes';
import type { AgentCatalog } from '../config/agentCatalog';
import type { Preset } from '../config/presets';
import { showWarning } from '../ui/messages';
import type { Archive } from './archive';
import { ChangeThrottle } from './changeThrottle';
import { type SessionFolders, sessionFolders } from './sessionFolders';

export interface NewConversation {
  /** Agent id; absent: that of the folder's preset, else the preferred agent. */
  readonly agent?: string | undefined;
  readonly preset?: Preset | undefined;
  /** Absolute; absent: the first folder of the workspace. */
  readonly cwd?: string | undefined;
  /** Absent: a new session, with the prestarted agent if it matches, which gets no transcript. */
  readonly opening?: SessionOpenStrategy | undefined;
  readonly title?: string | undefined;
  /** Default true; false: it is not shown, and the active session stays. */
  readonly activates?: boolean | undefined;
  readonly isNamed?: boolean;
  /** The session whose mode and options the new one takes over. */
  readonly continues?: Conversation | undefined;
}

export interface SessionStorage {
  readonly scratch: string;
  readonly worktrees: string;
}

interface OpenConversation {
  readonly conversation: Conversation;
  readonly watching: Disposable;
  readonly isOnlyRead: () => boolean;
  readonly isRecording?: true;
}

export class Conversations implements Disposable {
  readonly #catalog: AgentCatalog;
  /** For agents that run outside of a conversation of this window. */
  readonly services: ConversationServices;
  readonly #services: ConversationServices;
  readonly #byKey = new Map<string, OpenConversation>();
  readonly #didChange = new Emitter<string>();
  readonly #throttle = new ChangeThrottle((key) => this.#didChange.fire(key));
  readonly #didActivate = new Emitter<string>();
  readonly #didAdd = new Emitter<Conversation>();
  readonly #didRemove = new Emitter<Conversation>();
  readonly #didClose = new Emitter<string>();
  readonly #scratch: string;
  readonly #worktrees: string;
  readonly #archive: Archive;
  readonly #loseSubscription: Disposable;
  readonly #warm: WarmAgent;
  #activeKey: string | undefined;
  #isFirst = true;

  constructor(
    catalog: AgentCatalog,
    services: ConversationServices,
    archive: Archive,
    storage: SessionStorage,
    warm: WarmAgent,
  ) {
    this.#catalog = catalog;
    this.#warm = warm;
    this.#archive = archive;
    this.services = services;
    this.#services = { ...services, currentAgent: (id) => catalog.find(id) };
    this.#scratch = storage.scratch;
    this.#worktrees = storage.worktrees;
    this.#loseSubscription = archive.onDidLoseSession((key) => this.#onLost(key));
  }

  readonly bare = async (agent: AgentDefinition): Promise<BareContext> => {
    await mkdir(this.#scratch, { recursive: true });
    return {
      agent,
      cwd: this.#scratch,
      services: this.services,
      stages: new Stages(Date.now, this.services.startTimeoutMs),
    };
  };

  readonly onDidChange: Event<string> = this.#didChange.event;

  readonly onDidActivate: Event<string> = this.#didActivate.event;

  readonly onDidAdd: Event<Conversation> = this.#didAdd.event;

  readonly onDidRemove: Event<Conversation> = this.#didRemove.event;

  readonly onDidClose: Event<string> = this.#didClose.event;

  active(): Conversation {
    const known = this.#activeKey === undefined ? undefined : this.#byKey.get(this.#activeKey);
    return known?.conversation ?? this.#recallLast() ?? this.create();
  }

  #recallLast(): Conversation | undefined {
    const [folder] = this.folders;
    const interrupted = this.#isFirst && folder !== undefined ? this.#archive.interrupted(folder) : undefined;
    this.#isFirst = false;
    const last = interrupted ?? this.#archive.last;
    return last === undefined ? undefined : this.recall(last);
  }

  get folders(): readonly string[] {
    return sessionFolders(undefined, this.#scratch).roots;
  }

  recallShown(): Conversation | undefined {
    const { shown } = this.#archive;
    return shown === undefined ? undefined : this.recall(shown);
  }

  noteShown(key: string): void {
    if (!this.#byKey.get(key)?.isRecording) this.#archive.shown = key;
  }

  peek(): Conversation | undefined {
    return this.#activeKey === undefined ? undefined : this.#byKey.get(this.#activeKey)?.conversation;
  }

  list(): Conversation[] {
    return [...this.#byKey.values()].map(({ conversation }) => conversation);
  }

  find(key: string): Conversation | undefined {
    return this.#byKey.get(key)?.conversation;
  }

  get(key: string): Conversation {
    const known = this.find(key);
    if (!known) throw new ParleyError('no-such-session', l10n.t('There is no session {0} in this window.', key));
    return known;
  }

  findSession(agent: string, sessionId: string): Conversation | undefined {
    return this.list().find((one) => one.agent.id === agent && one.sessionId === sessionId);
  }

  setActive(key: string): void {
    this.get(key);
    this.#activate(key);
  }

  /** @throws ParleyError `no-such-agent` */
  create(options: NewConversation = {}): Conversation {
    const { opening, title, isNamed, continues, activates } = options;
    const folders = this.#foldersOf(options.cwd);
    const isPlain = options.agent === undefined && !opening;
    const preset = options.preset ?? (isPlain ? this.#catalog.presetOf(folders.cwd) : undefined);
    const id = options.agent ?? preset?.agent;
    const agent = id === undefined ? this.#catalog.preferred() : this.#catalog.find(id);
    if (!agent) {
      throw new ParleyError('no-such-agent', l10n.t('There is no agent “{0}”.', id ?? ''), {
        hint: l10n.t('Add it to the setting parley.agents.'),
      });
    }
    const isSame = (one: Conversation): boolean =>
      JSON.stringify([one.agent, one.cwd, one.roots]) === JSON.stringify([agent, folders.cwd, folders.roots]);
    const conversation =
      (opening || preset ? undefined : this.#warm.take(isSame)) ?? this.#make(agent, folders, { opening });
    // Until something is stored, only this records where the session was.
    if (!opening) this.#archive.newSessions.note({ ...folders, key: conversation.key, agentId: agent.id });
    this.#add(conversation, undefined, { activates, preset });
    const events: SessionEvent[] = continues ? [carriedChoices(continues.model.state, continues.agent.id)] : [];
    if (preset) events.push({ type: 'choices', wanted: preset.choices, agentId: agent.id });
    if (title !== undefined) events.push({ type: 'info', title, byUser: isNamed || undefined });
    const at = this.#services.clock.now();
    conversation.note(events.map((event) => ({ at, event })));
    return conversation;
  }

  #foldersOf(wanted: string | undefined): SessionFolders {
    const { cwd, roots } = sessionFolders(wanted, this.#scratch);
    // Sessions in a worktree do not get the user's folders.
    return { cwd, roots: isBelow(this.#worktrees, cwd) ? [cwd] : roots };
  }

  #make(
    agent: AgentDefinition,
    { cwd, roots }: SessionFolders,
    {
      opening,
      begins,
      key = randomUUID(),
    }: {
      readonly opening?: SessionOpenStrategy | undefined;
      readonly begins?: Promise<void>;
      readonly key?: string;
    },
  ): Conversation {
    const persistence = this.#archive.persist({ key, agentId: agent.id, cwd, roots });
    return new Conversation({
      key,
      agent,
      cwd,
      roots,
      services: this.#services,
      persistence,
      opening,
      beforeOpen: begins,
    });
  }

  /**
   * Does not start the agent. Read-only while another window has the session.
   * @returns undefined if nothing is stored under this key
   */
  recall(key: string, { activates = true } = {}): Conversation | undefined {
    const known = this.#byKey.get(key);
    if (known) {
      if (activates) this.#activate(key);
      return known.conversation;
    }
    const recalled = this.#archive.recall(key);
    if (!recalled) return this.renew(key, activates);
    const { record, kept, persistence } = recalled;
    // A session whose agent was removed is still readable; it continues with the preferred one.
    const agent = this.#catalog.find(record.agentId) ?? this.#catalog.preferred();
    const { agentSessionId: _other, ...past } = kept;
    const conversation = new Conversation({
      key,
      agent,
      cwd: record.cwd,
      roots: record.roots,
      services: this.#services,
      kept: agent.id === record.agentId ? kept : past,
      ...(persistence ? { persistence } : { isHeld: true }),
    });
    const { unsent } = conversation;
    // A draft in a session of another window is stored nowhere else.
    const isUnwritten = (): boolean => unsent.draft === kept.draft && unsent.attachments === kept.attachments;
    this.#add(conversation, () => (persistence ? persistence.isUnclaimed : isUnwritten()), { activates });
    if (persistence?.isLost) this.#onLost(key); // taken over while it was being read
    // Earlier versions stored a name given to a closed session in its record only.
    const before = conversation.model.state.title;
    const { title, updatedAt: at } = record;
    if (title !== undefined && title !== before)
      conversation.note([{ at, event: { type: 'info', title, byUser: before !== undefined ? true : undefined } }]);
    if (!persistence || conversation.isAttaching) void conversation.start();
    return conversation;
  }

  /**
   * Recreates a new session that an earlier host of this window did not store.
   * @returns undefined if there was none, it is stored, or its agent has ended
   */
  renew(key: string, activates = false): Conversation | undefined {
    const known = this.find(key);
    if (known) return known;
    const session = this.#archive.newSessions.find(key);
    const agent = session && !this.#archive.find(key) ? this.#catalog.find(session.agentId) : undefined;
    if (!session || !agent) return undefined;
    const conversation = this.#make(agent, session, { key });
    this.#add(conversation, undefined, { activates });
    return conversation;
  }

  isHeld(key: string): boolean {
    return this.#archive.isHeld(key);
  }

  /**
   * Continues a read-only session here, with the user's unsent text.
   * @returns undefined while the other window has it; `written`: the other window's unsent text
   */
  takeOver(key: string): { readonly conversation: Conversation; readonly written: string } | undefined {
    const known = this.#byKey.get(key);
    if (!known || this.isHeld(key)) return undefined;
    known.watching.dispose();
    known.conversation.dispose();
    this.#byKey.delete(key);
    const { agent, cwd, unsent } = known.conversation;
    const conversation = this.recall(key) ?? this.create({ agent: this.#catalog.find(agent.id)?.id, cwd });
    return { conversation, written: conversation.unsent.takeOver(unsent) };
  }

  openRecording(name: string): Conversation {
    const key = randomUUID();
    const { changes: _none, ...services } = this.#services;
    const conversation = new Conversation({
      key,
      agent: { id: `recording-${key}`, name, type: 'process', protocol: 'auto', command: '', args: [], env: {} },
      cwd: this.#scratch,
      roots: [],
      services: { ...services, currentAgent: () => undefined },
      isRecording: true,
    });
    this.#add(conversation, () => true, { isRecording: true });
    void conversation.start(); // shows that it is a recording
    return conversation;
  }

  /**
   * Opens a session only to send its queue.
   * @returns undefined if another window has it, or its agent is unknown
   */
  forSending(key: string): Conversation | undefined {
    if (this.#byKey.has(key)) return undefined;
    const recalled = this.#archive.recall(key);
    const agent = recalled && this.#catalog.find(recalled.record.agentId);
    if (!agent || !recalled.persistence) return undefined;
    const { record, kept, persistence } = recalled;
    const { cwd, roots } = record;
    const services = sendingServices(this.#services);
    return new Conversation({ key, agent, cwd, roots, services, kept, persistence, onlySends: true });
  }

  /** Makes a session read-only that another window took over: two agents must not work in it. */
  #onLost(key: string): void {
    const { log } = this.#services;
    log.warn(`session ${key}: another window has taken it over`);
    const losing = this.#byKey.get(key)?.conversation.becomeReadOnly();
    losing?.catch((error: unknown) => log.error(`session ${key}: ${messageOf(error)}`));
  }

  #activate(key: string): void {
    this.#activeKey = key;
    if (!this.#byKey.get(key)?.isRecording) this.#archive.last = key;
    this.#didActivate.fire(key);
  }

  #add(
    conversation: Conversation,
    isOnlyRead = (): boolean => false,
    {
      isRecording = false,
      activates = true,
      preset,
    }: {
      readonly isRecording?: boolean;
      readonly activates?: boolean | undefined;
      readonly preset?: Preset | undefined;
    } = {},
  ): void {
    const { key } = conversation;
    let isReady = false;
    const changes = Changes.unrecorded(() => {
      if (!isReady && conversation.connection.kind === 'ready') {
        isReady = true;
        const { agent } = conversation;
        if (preset) reportMissingChoices(conversation, preset);
        this.#warm.prepare(agent, (begins) => this.#make(agent, this.#foldersOf(undefined), { begins }));
      }
      this.#throttle.changed(key);
    });
    const watching = conversation.model.observe(changes);
    this.#byKey.set(key, { conversation, watching, isOnlyRead, isRecording: isRecording || undefined });
    this.#didAdd.fire(conversation);
    if (activates) this.#activate(key);
  }

  onTrusted(): void {
    for (const conversation of this.list()) {
      const { connection } = conversation;
      if (connection.kind === 'failed' && connection.error.code === 'untrusted-workspace') void conversation.start();
    }
  }

  forgetRead(isInUse: (key: string) => boolean): void {
    for (const [key, { conversation, watching, isOnlyRead }] of this.#byKey) {
      if (key === this.#activeKey || isInUse(key) || !isOnlyRead()) continue;
      this.#byKey.delete(key);
      watching.dispose();
      conversation.dispose();
      this.#didRemove.fire(conversation);
      this.#throttle.forget(key);
      this.#didChange.fire(key);
    }
  }

  async close(key: string): Promise<void> {
    const known = this.#byKey.get(key);
    if (!known) return;
    const ending = this.#end(key);
    const { conversation, isRecording } = this.#byKey.get(this.#activeKey ?? '') ?? {};
    this.#archive.last = isRecording ? undefined : conversation?.key;
    this.#archive.newSessions.forget(key);
    this.#didClose.fire(key);
    await ending;
    // Delete an empty session; one of a worktree stays.
    if (!known.isOnlyRead() && isBlank(known.conversation) && this.folders.includes(known.conversation.cwd))
      this.#archive.delete(key);
  }

  /**
   * Sessions stay claimed until the archive is disposed, as their last events are still written.
   */
  async closeAll(): Promise<void> {
    const ended = await Promise.allSettled([
      this.#warm.end(),
      ...[...this.#byKey.keys()].map((key) => this.#end(key, true)),
    ]);
    for (const result of ended)
      if (result.status === 'rejected') this.#services.log.error(`end: ${messageOf(result.reason)}`);
  }

  async #end(key: string, windowEnds = false): Promise<void> {
    const known = this.#byKey.get(key);
    if (!known) return;
    this.#byKey.delete(key);
    if (this.#activeKey === key) this.#activeKey = [...this.#byKey.keys()].at(-1);
    known.watching.dispose();
    try {
      await known.conversation.close(windowEnds ? 'window-ended' : 'closed');
      if (!windowEnds) this.#archive.release(key);
    } finally {
      this.#didRemove.fire(known.conversation);
      this.#throttle.forget(key);
      this.#didChange.fire(key);
    }
  }

  dispose(): void {
    this.#loseSubscription.dispose();
    void this.#warm.end();
    for (const { conversation, watching } of this.#byKey.values()) {
      watching.dispose();
      conversation.dispose();
    }
    this.#byKey.clear();
    this.#throttle.dispose();
    this.#didChange.dispose();
    this.#didActivate.dispose();
    this.#didAdd.dispose();
    this.#didRemove.dispose();
    this.#didClose.dispose();
  }
}

function reportMissingChoices({ agent, model }: Conversation, { name, choices }: Preset): void {
  const missing = missingChoices(model.state, choices).map(({ label }) => label);
  if (missing.length === 0) return;
  void showWarning(
    l10n.t('{0} no longer offers what the preset “{1}” sets: {2}.', agent.name, name, missing.join(', ')),
  );
}

function isBlank({ model: { state }, queue, unsent }: Conversation): boolean {
  const { draft, attachments } = unsent;
  return state.entries.length + queue.items.length + attachments.length === 0 && !state.title && draft.text === '';
}
