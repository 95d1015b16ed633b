// Completes what is typed in the message: a command of the agent at its beginning, a mention
// anywhere. Enter and Tab take the active one, Escape closes the list.
import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import type { MentionView } from '../../panel/contract';
import type { IconName } from '../dom/icons';
import { post } from '../host/host';
import { session } from '../host/session';
import { strings } from '../text/strings';
import type { Completion } from './completionList';
import { composer } from './composerState';
import { type MentionQuery, mentionQuery, mentions } from './mention';
import { completeCommand, matchCommands, slashQuery } from './slash';

export interface CompletionState {
  /** The accessible name of the list, and its rows; undefined: closed. */
  readonly list: ReadonlySignal<{ readonly name: string; readonly items: readonly Completion[] } | undefined>;
  readonly active: ReadonlySignal<number>;
  update(): void;
  close(): void;
  setActive(index: number): void;
  choose(index: number): void;
  /** @returns whether the list used the key */
  onKey(event: KeyboardEvent): boolean;
}

type Typed = { readonly kind: 'command'; readonly query: string } | ({ readonly kind: 'mention' } & MentionQuery);

const ICONS: Readonly<Record<MentionView['kind'], IconName>> = {
  file: 'file',
  folder: 'folder',
  selection: 'selection',
  problems: 'warning',
  changes: 'diff',
  commit: 'diff',
  symbol: 'symbol-method',
  session: 'history',
  terminal: 'terminal',
};

/** Opens the dialog for files outside of the workspace. */
const PICK: Completion = { id: '', label: strings.attachFile, icon: 'attach' };

export function useCompletion(field: () => HTMLTextAreaElement): CompletionState {
  const typed = useSignal<Typed | undefined>(undefined);
  const active = useSignal(0);
  /** Position of the `@` whose list the user closed. */
  const closedAt = useSignal<number | undefined>(undefined);

  const list = useComputed(() => {
    const now = typed.value;
    if (!now) return undefined;
    const isCommand = now.kind === 'command';
    const items = isCommand ? commandsFor(now.query) : mentionsFor(now.query);
    return items.length > 0 ? { name: isCommand ? strings.slashCommands : strings.mentions, items } : undefined;
  });

  function update(): void {
    const { value, selectionStart } = field();
    active.value = 0;
    const command = slashQuery(value, selectionStart);
    const mention = mentionQuery(value, selectionStart);
    if (mention?.start !== closedAt.peek()) closedAt.value = undefined;
    if (command !== undefined) typed.value = { kind: 'command', query: command };
    else if (mention && mention.start !== closedAt.peek()) {
      typed.value = { kind: 'mention', ...mention };
      post({ type: 'mentions', query: mention.query });
    } else typed.value = undefined;
  }

  function close(): void {
    typed.value = undefined;
  }

  function choose(index: number): void {
    const item = list.peek()?.items[index];
    const now = typed.peek();
    if (!item || !now) return;
    const box = field();
    if (now.kind === 'command') composer.set(completeCommand(box.value, box.selectionStart, item.id));
    else if (item === PICK) {
      composer.replace(now.start, box.selectionStart, '');
      post({ type: 'command', command: 'attachFile' });
    } else {
      composer.replace(now.start, box.selectionStart, `@${item.label} `);
      post({ type: 'mention', id: item.id });
    }
    close();
    box.focus();
  }

  function onKey(event: KeyboardEvent): boolean {
    const count = list.peek()?.items.length ?? 0;
    if (count === 0) return false;
    if (event.key === 'ArrowDown') active.value = (active.peek() + 1) % count;
    else if (event.key === 'ArrowUp') active.value = (active.peek() + count - 1) % count;
    else if ((event.key === 'Enter' && !event.shiftKey) || event.key === 'Tab') choose(active.peek());
    else if (event.key === 'Escape') {
      const now = typed.peek();
      if (now?.kind === 'mention') closedAt.value = now.start;
      close();
    } else return false;
    return true;
  }

  const setActive = (index: number): void => {
    active.value = index;
  };
  return { list, active, update, close, setActive, choose, onKey };
}

function commandsFor(query: string): readonly Completion[] {
  const found = matchCommands(session.commands.value, query);
  // A completely typed command needs no completion.
  if (found.length === 1 && found[0]?.name === query) return [];
  return found.map(({ name, hint, description }) => ({ id: name, label: `/${name}`, hint, description }));
}

/** Until the host answers, filters what it offered for fewer letters. */
function mentionsFor(query: string): readonly Completion[] {
  const { query: answered, offers } = mentions.value;
  const isOlder = answered !== query && answered !== '' && query.startsWith(answered);
  const shown = answered === query ? offers : isOlder ? offers.filter(({ label }) => holds(label, query)) : [];
  return query === '' && answered === '' ? [...shown.map(completionOf), PICK] : shown.map(completionOf);
}

function holds(label: string, query: string): boolean {
  return label.toLowerCase().includes(query.toLowerCase());
}

function completionOf({ id, kind, label, description }: MentionView): Completion {
  return { id, label, icon: ICONS[kind], description };
}
