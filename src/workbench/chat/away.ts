// Tracks when a session runs without being shown, and reports what happened when the user is back:
// the window has the focus, and the session is visible.
import type { Memento } from 'vscode';
import { type Disposable, Part } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import { Emitter, type Event } from '../../base/event';
import type { Log } from '../../base/log';
import type { Conversation } from '../../client/conversation/conversation';
import { awayView, firstSince, type LeftAt } from '../../client/view/awayView';
import type { AwayView } from '../../panel/contract';
import type { Conversations } from '../sessions/conversations';

/** Shorter absences aren't reported, in ms. */
const MIN_AWAY_MS = 60_000;
const LEFT = 'parley.away';
const MOST_LEFT = 50;

export interface AwayOptions {
  readonly conversations: Pick<
    Conversations,
    'find' | 'list' | 'peek' | 'onDidChange' | 'onDidActivate' | 'onDidAdd' | 'onDidRemove'
  >;
  readonly isShown: (key: string) => boolean;
  readonly isFocused: () => boolean;
  readonly onDidFocus: (listener: () => void) => Disposable;
  readonly memento: Pick<Memento, 'get' | 'update'>;
  readonly now: () => number;
  readonly log: Log;
}

export class Away extends Part<AwayOptions> {
  readonly #didChange = this.own(new Emitter<string>());
  readonly #lastSeen = new Map<string, LeftAt>();
  readonly #absences: Map<string, LeftAt>;
  readonly #views = new Map<string, { readonly view: AwayView; readonly isShown: boolean }>();

  constructor(options: AwayOptions) {
    super(options);
    const { conversations, memento } = options;
    this.#absences = new Map(Object.entries(memento.get<Record<string, LeftAt>>(LEFT, {})));
    for (const conversation of conversations.list()) this.#begin(conversation);
    const subscriptions = [
      conversations.onDidAdd((one) => this.#begin(one)),
      conversations.onDidChange((key) => this.look(key)),
      conversations.onDidActivate((key) => this.look(key)),
      conversations.onDidRemove(({ key }) => this.#forget(key)),
      options.onDidFocus(() => {
        for (const { key } of conversations.list()) this.look(key);
      }),
    ];
    for (const subscription of subscriptions) this.own(subscription);
  }

  readonly onDidChange: Event<string> = this.#didChange.event;

  of(key: string): AwayView | undefined {
    const known = this.#views.get(key);
    return known?.isShown ? known.view : undefined;
  }

  dismiss(key: string): void {
    this.#setShown(key, false);
  }

  toggle(key: string): void {
    this.#setShown(key, !this.#views.get(key)?.isShown);
  }

  /** Call when a session has changed or may have become visible. */
  look(key: string): void {
    const conversation = this.options.conversations.find(key);
    if (!conversation) return;
    const left = this.#absences.get(key);
    if (this.#isVisible(conversation)) {
      this.#lastSeen.set(key, this.#now(conversation));
      if (left) void this.#report(conversation, left);
    } else if (!left) {
      const seen = this.#lastSeen.get(key);
      const { entries } = conversation.model.state;
      const first = seen && entries[firstSince(entries, seen.since + 1)];
      if (first) this.#setAbsence(key, { ...seen, since: first.at });
    }
  }

  /** Not while an agent is being attached again, as what it did since is not shown yet. */
  #isVisible({ key, isAttaching }: Conversation): boolean {
    const { isFocused, isShown } = this.options;
    return !isAttaching && isFocused() && isShown(key);
  }

  #now({ model }: Conversation): LeftAt {
    const { usage } = model.state;
    return { since: this.options.now(), cost: usage?.cost ? usage.cost : undefined };
  }

  #begin(conversation: Conversation): void {
    const { key, model, isAttaching } = conversation;
    const last = isAttaching ? model.state.entries.at(-1) : undefined;
    this.#lastSeen.set(key, { ...this.#now(conversation), ...(last && { since: last.at }) });
    if (last && !this.#absences.has(key)) this.#setAbsence(key, { ...this.#now(conversation), since: last.at + 1 });
  }

  #setAbsence(key: string, left: LeftAt): void {
    this.#absences.set(key, left);
    this.#save();
  }

  async #report(conversation: Conversation, left: LeftAt): Promise<void> {
    const { key } = conversation;
    this.#absences.delete(key);
    this.#save();
    if (this.options.now() - left.since < MIN_AWAY_MS) return;
    try {
      await conversation.whole;
      const before = this.of(key);
      const since = Math.min(left.since, before?.since ?? left.since);
      const view = await awayView(conversation, { ...left, since });
      if (!view || this.options.conversations.find(key) !== conversation) return;
      const cost =
        view.cost && before?.cost
          ? { ...view.cost, amount: view.cost.amount + before.cost.amount }
          : (view.cost ?? before?.cost);
      this.#views.set(key, { view: { ...view, ...(cost && { cost }) }, isShown: true });
      this.#didChange.fire(key);
    } catch (error) {
      this.options.log.warn(`while away: ${messageOf(error)}`);
    }
  }

  #setShown(key: string, isShown: boolean): void {
    const known = this.#views.get(key);
    if (!known || known.isShown === isShown) return;
    this.#views.set(key, { ...known, isShown });
    this.#didChange.fire(key);
  }

  #forget(key: string): void {
    this.#lastSeen.delete(key);
    this.#views.delete(key);
  }

  #save(): void {
    const left = Object.fromEntries([...this.#absences].slice(-MOST_LEFT));
    this.options.memento.update(LEFT, left).then(undefined, (error: unknown) => {
      this.options.log.debug(`while away: ${messageOf(error)}`);
    });
  }
}
