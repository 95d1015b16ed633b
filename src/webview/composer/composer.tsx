// The message field. Enter sends, Shift+Enter inserts a line break. While a turn is running,
// messages are queued; Ctrl+Enter steers the turn if the agent supports that, otherwise sends
// immediately.
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { SendNow } from '../../panel/contract';
import { guarded } from '../changes/pressGuard';
import { Icon, IconButton } from '../components/icon';
import { isCtrl, isMac } from '../dom/ctrlKey';
import { isComposing } from '../dom/dom';
import { post } from '../host/host';
import { session } from '../host/session';
import { strings } from '../text/strings';
import { dropIn, forgetPaste, pasteIn, undoPaste } from './attach';
import { Attachments } from './attachments';
import { CompletionList, completionId, insertPrompt, prompts, useCompletion } from './completion';
import { composer } from './composerState';
import { mentionBefore } from './mention';
import { Pickers } from './pickers';
import { argumentHint, isCommand, promptIn } from './slash';
import { dismissSuggestion, suggestion } from './suggestion';
import { ContextMeter } from './usage';

export function Composer() {
  const field = useRef<HTMLTextAreaElement>(null);
  const listId = useId();
  const hintId = useId();
  const completion = useCompletion(() => field.current!);
  const running = session.running.value;
  const queues = session.queues.value;
  const now = sendsNow();
  const canSend = composer.text.value.trim() !== '' || session.attachments.value.length > 0;

  // Before the next frame, in which the session may arrive and focus the field.
  useLayoutEffect(() => {
    composer.attach(field.current);
    return () => composer.attach(null);
  }, []);

  const key = session.key.value;
  useEffect(() => {
    if (key) post({ type: 'prompts' });
  }, [key]);

  function send(how?: SendNow): void {
    completion.close();
    const saved = promptIn(session.commands.peek(), prompts.peek(), composer.text.peek());
    if (saved) {
      insertPrompt(saved.prompt, saved.rest.trim(), field.current!);
      return;
    }
    composer.send(session.attachments.peek().length > 0, how);
    field.current?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (isComposing(event) || event.defaultPrevented) return;
    if (completion.onKey(event)) {
      event.preventDefault();
      return;
    }
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      send(isCtrl(event, 'enter') ? sendsNow() : undefined);
    } else if (event.key.toLowerCase() === 'z' && (event.ctrlKey || event.metaKey) && !event.shiftKey && undoPaste()) {
      event.preventDefault();
      // Otherwise VS Code would make the page undo as well, which would remove the text.
      event.stopPropagation();
    } else if (composer.text.peek() === '' && answerSuggestion(event)) {
      event.preventDefault();
    } else if (event.key === 'Backspace' && removeMention()) {
      event.preventDefault();
    } else if (recall(event)) {
      event.preventDefault();
    } else if (event.key === 'Escape' && !event.repeat && composer.text.peek() === '' && session.running.peek()) {
      event.preventDefault();
      post({ type: 'cancel' });
    }
  }

  /**
   * Tab accepts the suggestion and Escape dismisses it; without a suggestion, both keep their
   * defaults.
   */
  function answerSuggestion({ key, shiftKey, altKey, ctrlKey, metaKey }: KeyboardEvent): boolean {
    const text = suggestion.peek();
    if (text === undefined || shiftKey || altKey || ctrlKey || metaKey) return false;
    if (key === 'Tab') composer.set(text);
    else if (key === 'Escape') dismissSuggestion();
    else return false;
    return true;
  }

  /** Recalls sent messages: Up in the first line, Down in the last line. */
  function recall({ key, shiftKey, altKey, ctrlKey, metaKey }: KeyboardEvent): boolean {
    const { value, selectionStart, selectionEnd } = field.current!;
    if (shiftKey || altKey || ctrlKey || metaKey || selectionStart !== selectionEnd) return false;
    const isUp = key === 'ArrowUp' && !value.slice(0, selectionStart).includes('\n');
    const isDown = key === 'ArrowDown' && !value.slice(selectionStart).includes('\n');
    if (!(isUp || isDown) || !composer.recall(isUp ? 'earlier' : 'later')) return false;
    completion.close(); // a recalled command is complete
    return true;
  }

  function removeMention(): boolean {
    const { value, selectionStart, selectionEnd } = field.current!;
    if (selectionStart !== selectionEnd) return false;
    const labels = session.attachments.peek().map(({ label }) => label);
    const start = mentionBefore(value, selectionStart, labels);
    if (start === undefined) return false;
    composer.replace(start, selectionStart, '');
    return true;
  }

  const list = completion.list.value;
  const suggested = composer.text.value === '' ? suggestion.value : undefined;
  const hint = suggested
    ? strings.suggestionHint
    : argumentHint([...session.commands.value, ...prompts.value], composer.text.value);
  return (
    <div class="composer">
      {list && <CompletionList id={listId} completion={completion} />}
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
        aria-controls={list ? listId : undefined}
        aria-describedby={hint === undefined ? undefined : hintId}
        aria-activedescendant={list ? completionId(listId, completion.active.value) : undefined}
        placeholder={suggested ?? placeholder()}
        onInput={(event) => {
          dismissSuggestion();
          forgetPaste();
          composer.typed(event.currentTarget.value);
          completion.update();
        }}
        onKeyDown={onKeyDown}
        onPaste={(event) => {
          if (event.clipboardData && pasteIn(event.clipboardData)) event.preventDefault();
        }}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          if (event.dataTransfer && dropIn(event.dataTransfer)) event.preventDefault();
        }}
        onBlur={completion.close}
      />
      {hint !== undefined && (
        <p class="command-hint" id={hintId}>
          {hint}
        </p>
      )}
      {/* A reason that is shown above is not shown again. */}
      {composer.problem.value && composer.problem.value !== session.error.value?.message && (
        <p class="composer-problem" role="alert">
          <Icon name="warning" /> {composer.problem.value}
        </p>
      )}
      <div class="bar">
        <div class="bar-start">
          <IconButton
            icon="mention"
            label={strings.addContext}
            onClick={() => {
              composer.insert('@');
              completion.update();
            }}
          />
          {session.commands.value.length + prompts.value.length > 0 && (
            <button
              type="button"
              class="icon-button slash"
              aria-label={strings.insertCommand}
              title={strings.insertCommand}
              // The list would close if the field lost the focus.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => {
                if (composer.text.peek() === '') composer.set('/');
                composer.focus();
                completion.update();
              }}
            >
              /
            </button>
          )}
          <Pickers />
        </div>
        <div class="bar-end">
          {running && canSend && <Stop class="icon-button" />}
          <ContextMeter />
          {running && !canSend ? (
            <Stop class="primary send" />
          ) : (
            <button
              key="send"
              type="button"
              class="primary send"
              disabled={!canSend}
              aria-label={queues ? strings.queue : strings.send}
              title={now ? strings.queueHints[now](isMac) : strings.send}
              onClick={() => send()}
            >
              <Icon name="send" />
            </button>
          )}
        </div>
      </div>
    </div>
  );
}

/** Beside or instead of the queue button; a click meant for that button must not stop the turn. */
function Stop({ class: className }: { readonly class: string }) {
  const press = guarded(() => {
    post({ type: 'cancel' });
    // The button is removed.
    composer.focus();
  });
  return (
    <button type="button" class={className} aria-label={strings.stop} title={strings.stop} {...press}>
      <Icon name="debug-stop" />
    </button>
  );
}

function sendsNow(): SendNow | undefined {
  if (!session.queues.value) return undefined;
  return session.canSteer.value && !isCommand(session.commands.value, composer.text.value) ? 'steer' : 'sendNow';
}

function placeholder(): string {
  if (session.queues.value) return strings.placeholderRunning;
  const agent = session.agentName.value;
  if (agent === '') return strings.placeholderFirst;
  return session.isAsked.value ? strings.placeholderAsked(agent) : strings.placeholder(agent);
}
