// The message field. Enter sends, Shift+Enter inserts a line break; while a turn is running,
// messages are queued.
import { useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { AvailableCommand } from '../../panel/contract';
import { Icon, IconButton } from '../components/icon';
import { isComposing } from '../dom/dom';
import { post } from '../host/host';
import { session } from '../host/session';
import { strings } from '../text/strings';
import { Attachments } from './attachments';
import { composer } from './composerState';
import { attachPasted } from './images';
import { Pickers } from './pickers';
import { completeCommand, matchCommands, slashQuery } from './slash';
import { SlashList, slashOptionId } from './slashList';
import { UsageRing } from './usageRing';

export function Composer() {
  const field = useRef<HTMLTextAreaElement>(null);
  const listId = useId();
  const matches = useSignal<readonly AvailableCommand[]>([]);
  const active = useSignal(0);
  const running = session.running.value;
  const queues = session.queues.value;
  const canSend = composer.text.value.trim() !== '' || session.attachments.value.length > 0;

  useEffect(() => {
    composer.attach(field.current);
    return () => composer.attach(null);
  }, []);

  function complete(): void {
    const box = field.current!;
    const query = slashQuery(box.value, box.selectionStart);
    const found = query === undefined ? [] : matchCommands(session.commands.peek(), query);
    // A completely typed command needs no completion.
    matches.value = found.length === 1 && found[0]!.name === query ? [] : found;
    active.value = 0;
  }

  function choose(command: AvailableCommand | undefined): void {
    if (!command) return;
    const box = field.current!;
    composer.set(completeCommand(box.value, box.selectionStart, command));
    matches.value = [];
    box.focus();
  }

  function send(): void {
    matches.value = [];
    composer.send(session.attachments.peek().length > 0);
    field.current?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (isComposing(event)) return;
    if (matches.peek().length > 0 && onListKey(event)) {
      event.preventDefault();
      return;
    }
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      send();
    } else if (event.key === 'ArrowUp' && composer.text.peek() === '' && composer.recall()) {
      event.preventDefault();
    } else if (event.key === 'Escape' && !event.repeat && composer.text.peek() === '' && session.running.peek()) {
      event.preventDefault();
      post({ type: 'cancel' });
    }
  }

  function onListKey(event: KeyboardEvent): boolean {
    const count = matches.peek().length;
    if (event.key === 'ArrowDown') active.value = (active.peek() + 1) % count;
    else if (event.key === 'ArrowUp') active.value = (active.peek() + count - 1) % count;
    else if ((event.key === 'Enter' && !event.shiftKey) || event.key === 'Tab') choose(matches.peek()[active.peek()]);
    else if (event.key === 'Escape') matches.value = [];
    else return false;
    return true;
  }

  function onPaste(event: ClipboardEvent): void {
    const files = [...(event.clipboardData?.files ?? [])];
    // Office programs add an image of the copied text: the text is meant.
    if (files.length === 0 || event.clipboardData?.getData('text/plain')) return;
    event.preventDefault();
    void attachPasted(files);
  }

  const isListOpen = matches.value.length > 0;
  return (
    <>
      {session.banner.value && session.queue.value.length === 0 && <p class="banner">{session.banner.value}</p>}
      <div class="composer">
        {isListOpen && (
          <SlashList
            id={listId}
            commands={matches.value}
            active={active.value}
            onActive={(index) => {
              active.value = index;
            }}
            onChoose={choose}
          />
        )}
        <Attachments />
        <textarea
          ref={field}
          class="message"
          // biome-ignore lint/a11y/noRedundantRoles: for those who select by attribute
          role="textbox"
          rows={1}
          aria-label={strings.message}
          aria-multiline="true"
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={isListOpen ? listId : undefined}
          aria-activedescendant={isListOpen ? slashOptionId(listId, active.value) : undefined}
          placeholder={placeholder()}
          spellcheck={false}
          onInput={(event) => {
            composer.typed(event.currentTarget.value);
            complete();
          }}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          onBlur={() => {
            matches.value = [];
          }}
        />
        {composer.problem.value && (
          <p class="composer-problem" role="alert">
            <Icon name="warning" /> {composer.problem.value}
          </p>
        )}
        <div class="bar">
          <div class="bar-start">
            <IconButton
              icon="mention"
              label={strings.attachFile}
              onClick={() => post({ type: 'command', command: 'attachFile' })}
            />
            {session.commands.value.length > 0 && (
              <button
                type="button"
                class="icon-button slash"
                aria-label={strings.insertCommand}
                title={strings.insertCommand}
                // The field must keep the focus, or the list would close.
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => {
                  if (composer.text.peek() === '') composer.set('/');
                  composer.focus();
                  complete();
                }}
              >
                /
              </button>
            )}
            <Pickers />
          </div>
          <div class="bar-end">
            <UsageRing />
            {running && (
              <button type="button" class="secondary" onClick={() => post({ type: 'cancel' })}>
                {strings.stop}
              </button>
            )}
            <button type="button" class="primary" disabled={!canSend} onClick={send}>
              {queues ? strings.queue : strings.send}
            </button>
          </div>
        </div>
      </div>
    </>
  );
}

function placeholder(): string {
  if (session.queues.value) return strings.placeholderRunning;
  const agent = session.agentName.value;
  if (agent === '') return strings.placeholderFirst;
  return session.isAsked.value ? strings.placeholderAsked(agent) : strings.placeholder(agent);
}
