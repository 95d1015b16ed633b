// Completion in the message: commands and prompts at its beginning, mentions anywhere.

import { signal, useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { AvailableCommand, MentionView, PromptView } from '../../panel/contract';
import { Icon } from '../components/icon';
import type { IconName } from '../dom/icons';
import { post } from '../host/host';
import { session } from '../host/session';
import { strings } from '../text/strings';
import { composer } from './composerState';
import { type MentionQuery, mentionQuery, mentions } from './mention';
import { chooseMention } from './mentionChips';
import { completeCommand, fillPrompt, matchCommands, slashQuery } from './slash';

export const prompts = signal<readonly PromptView[]>([]);

interface Completion {
  readonly id: string;
  readonly label: string;
  readonly icon?: IconName;
  readonly hint?: string;
  readonly description?: string;
  /** If set, the item opens the list for this prefix. */
  readonly prefix?: string;
  readonly prompt?: PromptView;
  readonly isPath?: boolean;
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

/** Prefix that limits mentions to one kind. */
const KIND = /^[a-z]+:/;

const PICK: Completion = { id: '', label: strings.attachFile, icon: 'attach' };

export type CompletionState = ReturnType<typeof useCompletion>;

export function useCompletion(field: () => HTMLTextAreaElement) {
  const typed = useSignal<Typed | undefined>(undefined);
  /** The item that the user moved to; otherwise the first one is active. */
  const moved = useSignal<string | undefined>(undefined);
  /** Position of the `@` of the closed list. */
  const closedAt = useSignal<number | undefined>(undefined);

  const list = useComputed(() => {
    const query = typed.value;
    if (!query) return undefined;
    const isCommand = query.kind === 'command';
    const items = isCommand ? commandsFor(query.query) : mentionsFor(query.query);
    return items.length > 0 ? { name: isCommand ? strings.slashCommands : strings.mentions, items } : undefined;
  });

  const active = useComputed(() => Math.max(0, list.value?.items.findIndex(({ id }) => id === moved.value) ?? 0));

  function moveTo(index: number): void {
    moved.value = list.peek()?.items[index]?.id;
  }

  function update(): void {
    const { value, selectionStart } = field();
    moved.value = undefined;
    const command = slashQuery(value, selectionStart);
    const mention = mentionQuery(value, selectionStart);
    if (mention?.start !== closedAt.peek()) closedAt.value = undefined;
    if (command !== undefined) {
      if (typed.peek()?.kind !== 'command') post({ type: 'prompts' });
      typed.value = { kind: 'command', query: command };
    } else if (mention && mention.start !== closedAt.peek()) {
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
    if (item.prompt) insertPrompt(item.prompt, box.value.slice(box.selectionStart).trim(), box);
    else if (now.kind === 'command') composer.set(completeCommand(box.value, box.selectionStart, item.id));
    else if (item === PICK) {
      composer.replace(now.start, box.selectionStart, '');
      post({ type: 'command', command: 'attachFile' });
    } else if (item.prefix !== undefined) {
      composer.replace(now.start, box.selectionStart, `@${item.prefix}`);
      update();
      return;
    } else {
      composer.replace(now.start, box.selectionStart, `@${item.label} `);
      chooseMention(item);
    }
    close();
    box.focus();
  }

  function isWhole(item: Completion | undefined): boolean {
    const now = typed.peek();
    return now?.kind === 'command' && item?.id === now.query;
  }

  function onKey(event: KeyboardEvent): boolean {
    const count = list.peek()?.items.length ?? 0;
    if (count === 0) return false;
    if (event.key === 'ArrowDown') moveTo((active.peek() + 1) % count);
    else if (event.key === 'ArrowUp') moveTo((active.peek() + count - 1) % count);
    else if (event.key === 'Enter' && isWhole(list.peek()?.items[active.peek()])) {
      close();
      return false;
    } else if ((event.key === 'Enter' && !event.shiftKey) || event.key === 'Tab') choose(active.peek());
    else if (event.key === 'Escape') {
      const now = typed.peek();
      if (now?.kind === 'mention') closedAt.value = now.start;
      close();
    } else return false;
    return true;
  }

  return { list, active, moveTo, update, close, choose, onKey };
}

/**
 * The agent's commands come before matching prompts, so a complete name always runs the agent's
 * command.
 */
function commandsFor(query: string): readonly Completion[] {
  const found = matchCommands<AvailableCommand>([...session.commands.value, ...prompts.value], query);
  const [first] = found;
  // A completely typed command needs no completion.
  if (found.length === 1 && first?.name === query && !isPrompt(first)) return [];
  return found.map((command) => {
    const { name, hint, description } = command;
    const item = { id: name, label: `/${name}`, hint, description };
    if (!isPrompt(command)) return item;
    const source = strings.promptOf[command.source];
    return {
      ...item,
      id: `${command.source}:${name}`,
      icon: 'save',
      description: `${source} · ${description}`,
      prompt: command,
    };
  });
}

function isPrompt(command: AvailableCommand): command is PromptView {
  return 'source' in command;
}

export function insertPrompt(prompt: PromptView, words: string, box: HTMLTextAreaElement): void {
  const { text, blank } = fillPrompt(prompt, words);
  composer.focus();
  composer.set(text);
  if (blank) box.setSelectionRange(...blank);
}

/** Filters the previous items until the host answers. */
function mentionsFor(query: string): readonly Completion[] {
  const { query: answered, offers } = mentions.value;
  const letters = query.replace(KIND, '').toLowerCase();
  const isOlder =
    answered !== query && answered !== '' && query.startsWith(answered) && KIND.test(query) === KIND.test(answered);
  const items =
    answered === query ? offers : isOlder ? offers.filter(({ label }) => label.toLowerCase().includes(letters)) : [];
  return query === '' && answered === '' ? [...items.map(completionOf), PICK] : items.map(completionOf);
}

function completionOf({ id, kind, label, description, prefix }: MentionView): Completion {
  const isPath = (kind === 'file' || kind === 'folder') && prefix === undefined;
  return { id, label, icon: ICONS[kind], description, prefix, isPath };
}

export function completionId(listId: string, index: number): string {
  return `${listId}-${index}`;
}

/** The focus stays in the text field; the list only shows the active item. */
export function CompletionList({ id, completion }: { readonly id: string; readonly completion: CompletionState }) {
  const box = useRef<HTMLDivElement>(null);
  const { name = '', items = [] } = completion.list.value ?? {};
  const active = completion.active.value;
  useEffect(() => {
    box.current?.children[active]?.scrollIntoView({ block: 'nearest' });
  }, [active, items]);
  return (
    <div class="popup completion-list" role="listbox" id={id} aria-label={name} ref={box}>
      {items.map(({ id: itemId, label, icon, hint, description, prefix, isPath }, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the text field's
        <div
          key={itemId}
          id={completionId(id, index)}
          role="option"
          tabIndex={-1}
          class="popup-item"
          aria-selected={index === active}
          data-active={index === active}
          onMouseDown={(event) => event.preventDefault()}
          onPointerMove={() => completion.moveTo(index)}
          onClick={() => completion.choose(index)}
        >
          {icon && <Icon name={icon} />}
          <span class="popup-words inline">
            <span class={`popup-label mono ${isPath ? 'path' : ''}`}>{isPath ? <bdi>{label}</bdi> : label}</span>
            {hint && <span class="popup-hint">{hint}</span>}
            {description && <span class="popup-description">{description}</span>}
          </span>
          {prefix !== undefined && <Icon name="chevron-right" />}
        </div>
      ))}
    </div>
  );
}
