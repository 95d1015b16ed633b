// Messages that wait for the running turn, on top of the composer they came from: edit, remove, send now, and another order by dragging or by button.
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { QueueAction } from '../../panel/actions';
import type { QueueItemView } from '../../panel/contract';
import { Icon, IconButton } from '../components/icon';
import { post } from '../host';
import { session } from '../session';
import { strings } from '../strings';

function act(action: QueueAction): void {
  post({ type: 'queue', action });
}

export function Queue() {
  const items = session.queue.value;
  const paused = session.queuePaused.value;
  const dragged = useSignal<string | undefined>(undefined);
  const target = useSignal<number | undefined>(undefined);
  if (items.length === 0) return null;

  function drop(): void {
    if (dragged.value !== undefined && target.value !== undefined) {
      act({ kind: 'move', id: dragged.value, to: target.value });
    }
    endDrag();
  }

  /** Also after a drag that was given up. */
  function endDrag(): void {
    dragged.value = undefined;
    target.value = undefined;
  }

  return (
    <div class="queue">
      {paused && (
        <div class="queue-paused">
          <Icon name="debug-pause" />
          <span class="cut">{paused}</span>
          <span class="grow" />
          <button type="button" class="text-button" onClick={() => act({ kind: 'resume' })}>
            {strings.resume}
          </button>
          <button type="button" class="text-button" onClick={() => act({ kind: 'clear' })}>
            {strings.clearQueue}
          </button>
        </div>
      )}
      {/* biome-ignore lint/a11y/noRedundantRoles: without bullets, some screen readers no longer call it a list */}
      <ul role="list" aria-label={strings.queuedMessages}>
        {items.map((item, index) => (
          <QueueRow
            key={item.id}
            item={item}
            index={index}
            count={items.length}
            isTarget={target.value === index && dragged.value !== item.id}
            onDragStart={() => {
              dragged.value = item.id;
            }}
            onDragOver={() => {
              target.value = index;
            }}
            onDrop={drop}
            onDragEnd={endDrag}
          />
        ))}
      </ul>
    </div>
  );
}

interface QueueRowProps {
  readonly item: QueueItemView;
  readonly index: number;
  readonly count: number;
  readonly isTarget: boolean;
  onDragStart(): void;
  onDragOver(): void;
  onDrop(): void;
  onDragEnd(): void;
}

function QueueRow(props: QueueRowProps) {
  const { item, index, count } = props;
  const editing = useSignal(false);
  const { id } = item;
  const isHeldByAgent = item.state === 'accepted';
  const canMove = item.state !== 'sending' && !isHeldByAgent;

  function edit(on: boolean): void {
    editing.value = on;
    act({ kind: 'hold', id, held: on });
  }

  const words = [item.reason ?? (item.state === 'queued' ? '' : strings.queueState[item.state])];
  if (item.attachments.length > 0) words.unshift(strings.attachmentCount(item.attachments.length));
  return (
    <li
      class={`queue-item ${props.isTarget ? 'drop-target' : ''}`}
      data-queue-id={id}
      data-queue-state={item.state}
      draggable={canMove && !editing.value}
      onDragStart={(event) => {
        event.dataTransfer?.setData('text/plain', item.text);
        props.onDragStart();
      }}
      onDragOver={(event) => {
        event.preventDefault();
        props.onDragOver();
      }}
      onDrop={(event) => {
        event.preventDefault();
        props.onDrop();
      }}
      onDragEnd={props.onDragEnd}
    >
      <span class="grip">
        <Icon name="gripper" />
      </span>
      {editing.value ? (
        <QueueEditor
          text={item.text}
          onSave={(text) => {
            act({ kind: 'edit', id, text });
            edit(false);
          }}
          onCancel={() => edit(false)}
        />
      ) : (
        <>
          <span class="cut queue-text" title={item.text}>
            {item.text}
          </span>
          <span class="grow" />
          <span class="dim queue-reason" title={item.reason ?? ''}>
            {words.filter(Boolean).join(' · ')}
          </span>
          <span class="queue-buttons">
            {isHeldByAgent ? (
              <IconButton icon="edit" label={strings.takeBack} onClick={() => act({ kind: 'takeBack', id })} />
            ) : (
              <IconButton icon="edit" label={strings.edit} disabled={!canMove} onClick={() => edit(true)} />
            )}
            <IconButton
              icon="arrow-up"
              label={strings.moveUp}
              disabled={!canMove || index === 0}
              onClick={() => act({ kind: 'move', id, to: index - 1 })}
            />
            <IconButton
              icon="arrow-down"
              label={strings.moveDown}
              disabled={!canMove || index === count - 1}
              onClick={() => act({ kind: 'move', id, to: index + 1 })}
            />
            <IconButton
              icon="send"
              label={strings.sendNow}
              disabled={!canMove}
              onClick={() => act({ kind: 'sendNow', id })}
            />
            <IconButton icon="close" label={strings.remove} onClick={() => act({ kind: 'remove', id })} />
          </span>
        </>
      )}
    </li>
  );
}

interface QueueEditorProps {
  readonly text: string;
  onSave(text: string): void;
  onCancel(): void;
}

function QueueEditor({ text, onSave, onCancel }: QueueEditorProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  // Before anything can be typed: the caret must not move under the user's fingers.
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(text.length, text.length);
  }, []);
  return (
    <textarea
      ref={field}
      class="queue-editor"
      rows={1}
      aria-label={strings.editQueued}
      title={strings.editHint}
      defaultValue={text}
      onKeyDown={(event) => {
        if (event.isComposing) return;
        const value = event.currentTarget.value;
        if (event.key === 'Escape') onCancel();
        else if (event.key === 'Enter' && !event.shiftKey && value.trim() !== '') onSave(value);
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    />
  );
}
