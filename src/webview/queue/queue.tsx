// Queued messages above the composer: edit, remove, steer, send now, reorder.
import { signal, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { MAX_TEXT, type QueueAction, type QueueItemView } from '../../panel/contract';
import type { Bar } from '../components/bars';
import { Icon, IconButton } from '../components/icon';
import { composer } from '../composer/composerState';
import { isCtrl } from '../dom/ctrlKey';
import { isComposing } from '../dom/dom';
import type { IconName } from '../dom/icons';
import { post } from '../host/host';
import { announce, session } from '../host/session';
import { strings } from '../text/strings';
import { keepEdit, keepSaved, lostEdits, storedEdit, takeOrphans } from './keptEdits';

/** Id of the message being dragged, and index of the row under the pointer. */
const dragged = signal<string | undefined>(undefined);
const target = signal<number | undefined>(undefined);

function act(action: QueueAction): void {
  post({ type: 'queue', action });
}

/** Returns the focus to the composer, as the pressed button is removed. */
function leave(action: QueueAction): void {
  act(action);
  composer.focus();
}

export const queueBar: Bar = {
  id: 'queue',
  // Messages that failed or wait for the user rank above the review.
  rank() {
    const { queue, queuePaused } = session;
    if (queue.value.length === 0) return undefined;
    return queuePaused.value || queue.value.some(({ state }) => state === 'failed') ? 1 : 3;
  },
  label() {
    const { queue, queuePaused } = session;
    const failed = queue.value.find(({ state }) => state === 'failed');
    return queuePaused.value ?? failed?.reason ?? strings.queuedCount(queue.value.length);
  },
  Content: Queue,
};

function Queue() {
  const items = session.queue.value;
  const key = session.key.value;
  const paused = session.queuePaused.value;
  const phase = session.phase.value;
  const waiting = items.filter(({ state }) => state === 'paused');
  // In other phases they still wait: for the turn, a sign-in, or the end of an edit.
  const sends = (phase === 'ready' || phase === 'idle') && waiting.length > 0 && waiting.every(({ reason }) => !reason);
  // A message sent while it is edited has its old text; keep the edit.
  useLayoutEffect(() => {
    for (const [id, text] of lostEdits(key, new Map(items.map((item) => [item.id, item.text]))))
      act({ kind: 'edit', id, text });
    const texts = takeOrphans(key, new Set(items.map(({ id }) => id)));
    if (texts.length === 0) return;
    composer.append(texts.join('\n'));
    announce(strings.editReturned, 'polite');
  }, [key, items]);
  if (items.length === 0) return null;

  return (
    <div class="queue">
      {paused && (
        <div class="queue-paused">
          <Icon name="debug-pause" />
          <span class="pause-reason">{paused}</span>
          <button
            type="button"
            class="text-button"
            aria-label={sends ? strings.sendQueuedMessages(waiting.length) : undefined}
            onClick={() => leave({ kind: 'resume' })}
          >
            {sends ? strings.sendQueued(waiting.length) : strings.resume}
          </button>
          <button
            type="button"
            class="text-button"
            onClick={() => {
              for (const { id } of items) keepEdit(key, id);
              leave({ kind: 'clear' });
            }}
          >
            {strings.clearQueue}
          </button>
        </div>
      )}
      {/* biome-ignore lint/a11y/noRedundantRoles: without bullets, some screen readers no longer call it a list */}
      <ul role="list" aria-label={strings.queuedMessages}>
        {items.map((item, index) => (
          <QueueRow key={`${key} ${item.id}`} sessionKey={key} item={item} index={index} count={items.length} />
        ))}
      </ul>
    </div>
  );
}

function drop(): void {
  if (dragged.value !== undefined && target.value !== undefined)
    act({ kind: 'move', id: dragged.value, to: target.value });
  endDrag();
}

function endDrag(): void {
  dragged.value = undefined;
  target.value = undefined;
}

type QueueButton = readonly [icon: IconName, label: string, isEnabled: boolean, press: () => void];

interface QueueRowProps {
  readonly sessionKey: string;
  readonly item: QueueItemView;
  readonly index: number;
  readonly count: number;
}

function QueueRow({ sessionKey, item, index, count }: QueueRowProps) {
  const editing = useSignal(false);
  const row = useRef<HTMLLIElement>(null);
  /** Icons of the buttons to focus after the next change; the first enabled one is focused. */
  const buttonsToFocus = useRef<readonly string[]>([]);
  const { id, reason, state, steer } = item;
  const isHeldByAgent = state === 'accepted';
  const canMove = state !== 'sending' && !isHeldByAgent;

  function edit(on: boolean): void {
    editing.value = on;
    if (!on) keepEdit(sessionKey, id);
    act({ kind: 'hold', id, held: on });
  }

  function remove(): void {
    keepEdit(sessionKey, id);
    leave({ kind: 'remove', id });
  }

  function sendNow(): void {
    leave({ kind: steer === true ? 'steer' : 'sendNow', id });
  }

  function move(to: number): void {
    buttonsToFocus.current = to < index ? ['arrow-up', 'arrow-down'] : ['arrow-down', 'arrow-up'];
    act({ kind: 'move', id, to });
  }

  // Moving rows, disabling buttons and closing editors drop the focus.
  useLayoutEffect(() => {
    const buttons = buttonsToFocus.current.map((icon) =>
      row.current?.querySelector<HTMLElement>(`.codicon-${icon}:enabled`),
    );
    buttonsToFocus.current = [];
    const { activeElement, body } = document;
    if (activeElement === body || row.current?.contains(activeElement)) buttons.find(Boolean)?.focus();
  }, [index, editing.value]);

  const moves: readonly QueueButton[] = [
    ['arrow-up', strings.moveUp, canMove && index > 0, () => move(index - 1)],
    ['arrow-down', strings.moveDown, canMove && index < count - 1, () => move(index + 1)],
  ];
  const buttons: QueueButton[] = [
    isHeldByAgent
      ? ['edit', strings.takeBack, true, () => act({ kind: 'takeBack', id })]
      : ['edit', strings.edit, canMove, () => edit(true)],
    ...(count > 1 ? moves : []),
    ['send', strings.sendNow, canMove, () => leave({ kind: 'sendNow', id })],
    ['close', strings.remove, true, remove],
  ];
  if (steer !== undefined) {
    const label = steer === true ? strings.steer : strings.notSteered(steer);
    buttons.splice(-2, 0, ['compass', label, steer === true, sendNow]);
  }
  const words = [reason ?? (state === 'queued' || state === 'paused' ? '' : strings.queueState[state])];
  if (storedEdit(sessionKey, id)) words.unshift(strings.unsavedEdit);
  if (item.attachments.length > 0) words.unshift(strings.attachmentCount(item.attachments.length));
  return (
    <li
      ref={row}
      class={`queue-item ${target.value === index && dragged.value !== id ? 'drop-target' : ''}`}
      data-queue-id={id}
      data-queue-state={state}
      draggable={canMove && count > 1 && !editing.value}
      onKeyDown={(event) => {
        if (!isCtrl(event, 'enter') || !canMove || editing.value) return;
        event.preventDefault();
        sendNow();
      }}
      onDragStart={(event) => {
        event.dataTransfer?.setData('text/plain', item.text);
        dragged.value = id;
      }}
      onDragOver={(event) => {
        event.preventDefault();
        target.value = index;
      }}
      onDrop={(event) => {
        event.preventDefault();
        drop();
      }}
      onDragEnd={endDrag}
    >
      {count > 1 && (
        <span class="grip">
          <Icon name="gripper" />
        </span>
      )}
      {editing.value ? (
        <QueueEditor
          text={storedEdit(sessionKey, id)?.text ?? item.text}
          onInput={(text) => keepEdit(sessionKey, id, { text, from: item.text })}
          onSave={(text, isNow) => {
            act({ kind: 'edit', id, text });
            edit(false);
            if (isNow) sendNow();
            keepSaved(sessionKey, id, text, item.text);
            composer.focus();
          }}
          onCancel={() => {
            // Not the message field, where another Escape stops the turn.
            buttonsToFocus.current = ['edit'];
            edit(false);
          }}
        />
      ) : (
        <>
          <span class="cut queue-text" title={item.text}>
            {item.text}
          </span>
          <span class="grow" />
          <span class="dim queue-reason" title={reason ?? ''}>
            {words.filter(Boolean).join(' · ')}
          </span>
          <span class="queue-buttons">
            {buttons.map(([icon, label, isEnabled, press]) => (
              <IconButton key={icon} icon={icon} label={label} disabled={!isEnabled} onClick={press} />
            ))}
          </span>
        </>
      )}
    </li>
  );
}

interface QueueEditorProps {
  readonly text: string;
  onInput(text: string): void;
  onSave(text: string, isNow: boolean): void;
  onCancel(): void;
}

function QueueEditor({ text, onInput, onSave, onCancel }: QueueEditorProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  // As a layout effect, because setting the value moves the caret.
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(text.length, text.length);
  }, []);
  return (
    <textarea
      ref={field}
      class="field queue-editor"
      rows={1}
      aria-label={strings.editQueued}
      title={strings.editHint}
      defaultValue={text}
      onInput={(event) => onInput(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (isComposing(event)) return;
        const value = event.currentTarget.value;
        if (event.key === 'Escape') onCancel();
        else if (event.key === 'Enter' && !event.shiftKey && value.trim() !== '') {
          if (value.length > MAX_TEXT) announce(strings.messageTooLong(value.length, MAX_TEXT), 'assertive');
          else onSave(value, isCtrl(event, 'enter'));
        } else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    />
  );
}
