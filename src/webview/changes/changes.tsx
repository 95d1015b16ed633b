// Changes of turns on disk: the line under a turn, the review bar, and the actions of a message.
import { type ComponentChildren, render } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { ChangesAction, ChangesCount, ChangesScope, FromTurn, TurnView } from '../../panel/contract';
import type { Bar, BarPlace } from '../components/bars';
import { Icon, IconButton } from '../components/icon';
import { post } from '../host/host';
import { session } from '../host/session';
import { focusComposer } from '../input/wake';
import { strings } from '../text/strings';
import { type ChangesList, changesList } from './changesList';
import { FileList, LineCounts, linesLabel } from './fileList';
import { guarded } from './pressGuard';

export interface ChangesPlace extends BarPlace {
  /** Keeps `node` in view after the user expanded or collapsed something. */
  keepInView(node: Element): void;
}

export function drawChanges(slot: HTMLElement, turn: TurnView, place: ChangesPlace): void {
  render(<ChangesLine turn={turn} place={place} />, slot);
}

export function drawRunningChanges(slot: HTMLElement, place: ChangesPlace): void {
  render(<RunningChanges place={place} />, slot);
}

/** Draws the actions of a user message: copy, and restore to before it. */
export function drawMessageActions(slot: HTMLElement, props: MessageActionsProps): void {
  render(<MessageActions {...props} />, slot);
}

export function isInRunningChanges(turnId: string): boolean {
  const turn = session.turn.peek();
  return turn?.id === turnId && turn.changes !== undefined && hasLine(turn);
}

function RunningChanges({ place }: { readonly place: ChangesPlace }) {
  const turn = session.turn.value;
  return turn?.changes ? <ChangesLine key={turn.id} turn={turn} place={place} isRunning={true} /> : null;
}

interface ChangesLineProps {
  readonly turn: TurnView;
  readonly place: ChangesPlace;
  readonly isRunning?: boolean;
}

function ChangesLine({ turn, ...props }: ChangesLineProps) {
  const { changes } = turn;
  return changes && hasLine(turn) ? <Line {...props} turn={turn} changes={changes} /> : null;
}

function hasLine({ changes, tools }: TurnView): boolean {
  // A turn without tool calls has most likely changed nothing, even if that is uncertain.
  return (changes?.files ?? 0) > 0 || (tools > 0 && changes?.incomplete !== undefined);
}

function Line({ turn, changes, place, isRunning }: ChangesLineProps & { readonly changes: ChangesCount }) {
  const { id: turnId, endedAt } = turn;
  const element = useRef<HTMLDivElement>(null);
  const isToggled = useRef(false);
  const scope = useMemo(() => ({ turnId }), [turnId]);
  const list = useList(scope);
  const isOpen = list.isOpen.value;
  useLayoutEffect(() => {
    if (isToggled.current && element.current) place.keepInView(element.current);
    isToggled.current = false;
  }, [isOpen, place]);
  // The button is removed once everything is redone.
  const hadFocus = element.current?.contains(document.activeElement);
  useLayoutEffect(() => {
    if (hadFocus && document.activeElement === document.body)
      element.current?.querySelector<HTMLElement>('.changes-toggle')?.focus({ preventScroll: true });
  }, [changes.redoable]);
  // The line at the end of the turn replaces it.
  useLayoutEffect(
    () => () => {
      if (isRunning && element.current?.contains(document.activeElement))
        requestAnimationFrame(() => focusLine(turnId));
    },
    [isRunning, turnId],
  );
  const words = strings.changes.filesChanged(changes.files);
  return (
    <div class="changes" data-turn-changes={turnId} ref={element}>
      <div class="changes-line" hidden={changes.files === 0}>
        <button
          type="button"
          class="row changes-toggle"
          aria-expanded={isOpen}
          onClick={() => {
            isToggled.current = true;
            list.setOpen(!isOpen);
          }}
        >
          <span class="sr-only">{`${words}, ${linesLabel(changes)}`}</span>
          <Icon name="chevron-right" />
          <span class="changes-words" aria-hidden="true">
            {words}
          </span>
          <span class="changes-lines">
            <LineCounts {...changes} />
          </span>
        </button>
        <span class="changes-actions">
          <IconButton icon="diff-multiple" label={strings.changes.reviewChanges} onClick={act('open', scope)} />
          {endedAt !== undefined && (
            <>
              <IconButton icon="send" label={strings.changes.reviewWith} onClick={continueFrom(turnId, 'review')} />
              <IconButton
                icon="discard"
                label={strings.changes.undoTurn}
                aria-disabled={busy()}
                {...guarded(act('undo', scope))}
              />
              {changes.redoable && (
                <IconButton
                  icon="redo"
                  label={strings.changes.redoTurn}
                  aria-disabled={busy()}
                  {...guarded(act('redo', scope))}
                />
              )}
              <RestoreButton turnId={turnId} />
            </>
          )}
        </span>
      </div>
      <Files list={list} count={changes} place={place}>
        {changes.files === 0 && turn.tools === 0 ? undefined : changes.incomplete}
      </Files>
    </div>
  );
}

interface FilesProps {
  readonly list: ChangesList;
  readonly count: ChangesCount;
  readonly place: BarPlace;
  readonly children: ComponentChildren;
}

function Files({ list, count, place, children }: FilesProps) {
  const body = useRef<HTMLDivElement>(null);
  return (
    <>
      {children && <p class="changes-incomplete dim">{children}</p>}
      <div class="changes-body" ref={body}>
        {list.isOpen.value && count.files > 0 && (
          <FileList
            list={list}
            count={count}
            reveal={(index) => place.reveal(index)}
            leave={() =>
              body.current?.parentElement?.querySelector<HTMLElement>('[aria-expanded]')?.focus({ preventScroll: true })
            }
          />
        )}
      </div>
    </>
  );
}

export const reviewBar: Bar = {
  id: 'review',
  rank: () => (session.review.value || session.changesWork.value ? 2 : undefined),
  label() {
    const { review, changesWork } = session;
    return changesWork.value
      ? strings.changes.changesWork[changesWork.value.kind]
      : strings.changes.filesChanged(review.value?.files ?? 0);
  },
  Content: ReviewBar,
};

function ReviewBar({ place }: { readonly place: BarPlace }) {
  const count = session.review.value;
  const work = session.changesWork.value;
  const section = useRef<HTMLElement>(null);
  const hadFocus = section.current?.contains(document.activeElement);
  const list = useList('review');
  useLayoutEffect(() => {
    // Removing a button drops the focus.
    if (!hadFocus || document.activeElement !== document.body) return;
    const next = section.current?.querySelector<HTMLElement>(work ? '.cancel-changes' : '.review-open, .review-redo');
    if (section.current) next?.focus({ preventScroll: true });
    else focusComposer();
  });
  if (!count && !work) return null;
  const progress = work?.done !== undefined && work.total !== undefined && strings.outOf(work.done, work.total);
  return (
    <section class="review" aria-label={strings.changes.reviewChanges} ref={section}>
      <div class="review-line">
        <span class={count?.files === 0 ? 'review-words undone' : 'review-words'}>
          {count?.files === 0 && strings.changes.undoneFiles(count.redoable ?? 0)}
          {count && count.files > 0 && (
            <>
              <IconButton
                icon="chevron-right"
                label={strings.changes.changedFiles}
                aria-expanded={list.isOpen.value}
                onClick={() => list.setOpen(!list.isOpen.value)}
              />
              <button
                type="button"
                class="text-button review-open"
                title={`${strings.changes.reviewChanges}, ${linesLabel(count)}`}
                onClick={act('open', 'review')}
              >
                {strings.changes.reviewFiles(count.files)}
              </button>
              <span class="changes-lines">
                <LineCounts {...count} />
              </span>
            </>
          )}
        </span>
        <span class="review-work" role="status" hidden={!work}>
          {work && (
            <>
              <Icon name="loading" />
              {strings.changes.changesWork[work.kind]}
              {progress && ` ${progress}`}
            </>
          )}
        </span>
        <span class="review-buttons">
          {work ? (
            <button
              type="button"
              class="secondary small cancel-changes"
              onClick={() => post({ type: 'cancelChanges' })}
            >
              {strings.cancel}
            </button>
          ) : count?.files === 0 ? (
            <button type="button" class="secondary small review-redo" {...guarded(act('redo', 'review'))}>
              {strings.changes.redo}
            </button>
          ) : (
            <>
              {count?.redoable && (
                <IconButton icon="redo" label={strings.changes.redo} {...guarded(act('redo', 'review'))} />
              )}
              <button type="button" class="secondary small" {...guarded(act('keep', 'review'))}>
                {strings.changes.keepAll}
              </button>
              <button type="button" class="secondary small" {...guarded(act('undo', 'review'))}>
                {strings.changes.undoAll}
              </button>
            </>
          )}
        </span>
      </div>
      {count && (
        <Files list={list} count={count} place={place}>
          {count.incomplete}
        </Files>
      )}
    </section>
  );
}

interface MessageActionsProps {
  readonly turnId: string;
  readonly canRestore?: boolean;
  readonly canEdit?: boolean;
  copy(): void;
  savePrompt(): void;
}

function MessageActions({ turnId, canRestore, canEdit, copy, savePrompt }: MessageActionsProps) {
  const edit = continueFrom(turnId, 'edit');
  const fork = continueFrom(turnId, 'fork');
  return (
    <>
      <IconButton icon="copy" label={strings.changes.copyMessage} onClick={copy} />
      {canRestore && <RestoreButton turnId={turnId} />}
      {canEdit && (
        <>
          <IconButton
            icon="edit"
            label={strings.changes.editAndResend}
            aria-disabled={busy()}
            onClick={() => !busy() && edit()}
          />
          <IconButton
            icon="git-branch"
            label={strings.changes.forkFromMessage}
            // A double click would open two sessions.
            onClick={({ detail }) => detail < 2 && fork()}
          />
          <IconButton icon="send" label={strings.changes.retryWith} onClick={continueFrom(turnId, 'retry')} />
        </>
      )}
      <IconButton icon="save" label={strings.changes.savePrompt} onClick={savePrompt} />
    </>
  );
}

function RestoreButton({ turnId }: { readonly turnId: string }) {
  return (
    <IconButton
      icon="history"
      label={strings.changes.restoreFiles}
      aria-disabled={busy()}
      onClick={() => !busy() && post({ type: 'restoreCheckpoint', turnId })}
    />
  );
}

/** `aria-disabled` of buttons while files are kept, undone or restored: they keep the focus. */
function busy(): 'true' | undefined {
  return session.changesWork.value && 'true';
}

function act(kind: ChangesAction['kind'], scope: ChangesScope) {
  return () => post({ type: 'changesAction', kind, scope });
}

function continueFrom(turnId: string, how: FromTurn) {
  return () => post({ type: 'continueFrom', turnId, how });
}

/** Returns the list of a scope, which is kept while its line is in the page. */
function useList(scope: ChangesScope): ChangesList {
  const key = session.key.value;
  const list = useMemo(() => changesList(scope), [scope, key]);
  useLayoutEffect(() => {
    list.lines++;
    return () => {
      list.lines--;
    };
  }, [list]);
  return list;
}

function focusLine(turnId: string): void {
  if (document.activeElement !== document.body) return;
  const line = document.querySelector<HTMLElement>(`[data-turn-changes="${CSS.escape(turnId)}"] .changes-toggle`);
  line?.focus({ preventScroll: true });
}
