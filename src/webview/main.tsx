// The entry point of the webview. Messages of the host update the transcript and the session's
// signals once per frame; components draw themselves from the signals.
import { effect } from '@preact/signals';
import { render } from 'preact';
import { textOfBlocks } from '../base/text';
import { CONTRACT_VERSION, type ToWebview } from '../panel/contract';
import { App } from './app';
import { AwayCard } from './away/awayCard';
import { forgetChanges, receiveChanges, renewChanges } from './changes/changesList';
import { composer } from './composer/composerState';
import { attachmentsShown } from './composer/keptAttachments';
import { mentions } from './composer/mention';
import { isCtrl } from './dom/ctrlKey';
import { isText } from './entries/itemStore';
import { Find } from './find/find';
import { watchKeySheet } from './header/keySheet';
import { chime } from './host/chime';
import { browserFrames, Frames } from './host/frames';
import { onMessage, post, postOfPage, resetUiState, saveUiState, uiState } from './host/host';
import { watchProblems } from './host/problems';
import {
  activeEditor,
  announce,
  firstUse,
  hasItems,
  patchSession,
  session,
  setSession,
  welcome,
  worktree,
} from './host/session';
import { setRefused } from './questions/keptForms';
import { Questions } from './questions/questions';
import { strings } from './text/strings';
import { Timeline } from './timeline/timeline';
import './styles/main.css';
import { ignoreKeyRepeat, watchChords } from './input/ignoredKeys';
import { watchSelectAll, writeClipboard } from './input/selectAll';
import { focusComposer, watchWake } from './input/wake';
import { noteArrival } from './transcript/arrivals';
import { focusedIndex } from './transcript/rovingFocus';
import { Transcript } from './transcript/transcript';

let key: string | undefined;

const transcript: Transcript = new Transcript(() => frames.schedule());
const frames = new Frames(
  {
    view: transcript,
    apply,
    drawn: (revision) => {
      document.documentElement.dataset.revision = String(revision);
    },
    painted: (revision) => post({ type: 'ack', revision }),
  },
  browserFrames(),
);
const away = new AwayCard(transcript);
let find: Find | undefined;
let timeline: Timeline | undefined;

function openFind(): void {
  find ??= new Find(transcript);
  find.open();
}

function openTimeline(): void {
  timeline ??= new Timeline(transcript);
  timeline.open();
}

function apply(message: ToWebview): number | undefined {
  try {
    switch (message.type) {
      case 'snapshot':
        applySnapshot(message);
        return message.revision;
      case 'update':
        for (const op of message.ops) {
          if (op.op === 'session') patchSession(op.patch);
          else transcript.apply(op, message.revision);
        }
        if (message.ops.some(({ op }) => op !== 'session')) noteArrival();
        hasItems.value = transcript.store.total > 0;
        timeline?.changed();
        return message.revision;
      case 'page':
        transcript.insertPage(message.from, message.items, message.revision);
        return undefined;
      case 'nested':
        transcript.insertNested(message);
        return undefined;
      case 'accepted':
        composer.accepted(message.clientId, message.revision);
        transcript.toLatest();
        return undefined;
      case 'rejected':
        composer.rejected(message.clientId, message.reason);
        if (message.id !== undefined) setRefused(message.id, {});
        return undefined;
      case 'insert':
        composer.insert(message.text);
        return undefined;
      case 'draft':
        composer.changedElsewhere(message.key, message);
        return undefined;
      case 'clipboard':
        void writeClipboard(message);
        return undefined;
      case 'mentions':
        mentions.value = message;
        return undefined;
      case 'formRefused':
        setRefused(message.id, message.problems);
        return undefined;
      case 'focus':
        takeFocus(message.on);
        return undefined;
      case 'firstUse':
        firstUse.value = message.offers ?? undefined;
        return undefined;
      case 'away':
        if (message.key === key) away.show(message.view ?? undefined);
        return undefined;
      case 'worktree':
        worktree.value = message;
        return undefined;
      case 'welcome':
        welcome.value = message;
        return undefined;
      case 'activeEditor':
        activeEditor.value = message.offer ?? undefined;
        return undefined;
      case 'changes':
        receiveChanges(message);
        return undefined;
      case 'found':
      case 'foundIn':
        find?.receive(message);
        return undefined;
      case 'timeline':
        timeline?.receive(message);
        return undefined;
      case 'chime':
        chime();
        return undefined;
      case 'reveal':
        transcript.revealFound(message.index);
        return undefined;
    }
  } catch (error) {
    // An error in one message must not stop the next ones.
    reportError(error);
    return 'revision' in message && message.type !== 'page' ? message.revision : undefined;
  }
}

/**
 * Only while the panel has the focus: if the user has opened the command palette meanwhile, their
 * typing must not end up here.
 */
function takeFocus(on: Extract<ToWebview, { type: 'focus' }>['on']): void {
  const take = (): void => {
    if (on === 'find') openFind();
    else if (on === 'timeline') openTimeline();
    else if (on === 'question') transcript.toNextQuestion();
    else if (on === 'previousPrompt') transcript.keys.toPrompt(-1);
    else if (on === 'nextPrompt') transcript.keys.toPrompt(1);
    else focusComposer();
  };
  if (document.hasFocus()) take();
  else window.addEventListener('focus', take, { once: true });
}

/**
 * When VS Code focuses the page as a whole, move the focus to the composer, unless a pointer is
 * pressed.
 */
function watchLostFocus(): void {
  let pressed = false;
  const options = { capture: true, passive: true } as const;
  window.addEventListener('pointerdown', () => (pressed = true), options);
  window.addEventListener('pointerup', () => (pressed = false), options);
  window.addEventListener('pointercancel', () => (pressed = false), options);
  window.addEventListener('focus', () => {
    if (!pressed && document.activeElement === document.body) focusComposer();
  });
}

function applySnapshot(message: Extract<ToWebview, { type: 'snapshot' }>): void {
  if (message.version !== CONTRACT_VERSION) {
    announce(strings.versionMismatch, 'assertive');
    postOfPage({
      type: 'problem',
      kind: 'error',
      text: `contract ${message.version}, this webview speaks ${CONTRACT_VERSION}`,
    });
  }
  const isFirst = key === undefined;
  const saved = uiState();
  const isSame = message.session.key === (key ?? saved.key);
  key = message.session.key;
  if (!isSame) {
    resetUiState(key, message.anchor);
  } else if (isFirst) {
    saveUiState({ key });
  }
  composer.show(key, message.draft);
  // A snapshot of the displayed session must not change the scroll position.
  const anchor = isSame ? (isFirst ? saved.anchor : transcript.anchor()) : message.anchor;
  if (!isSame) {
    transcript.leave();
    transcript.store.prompts.clear();
    forgetChanges();
    find?.forget();
    timeline?.forget();
    away.show(undefined);
  } else timeline?.renew();
  setSession(message.session);
  transcript.setRunning(session.running.peek());
  transcript.reset(message);
  transcript.setPermissions(message.session.permissions);
  if (isSame) renewChanges();
  hasItems.value = message.total > 0;
  if (anchor) transcript.reveal(anchor.index, anchor.offset);
  // When a page is shown again, its focus is lost.
  if (isFirst && document.hasFocus() && document.activeElement === document.body) focusComposer();
}

watchProblems(postOfPage);
effect(() => transcript.setRunning(session.running.value));
effect(() => {
  const { phase, status, turn } = session;
  const running = phase.value === 'running' ? turn.value : undefined;
  const { startedAt: since, starter } = running ?? {};
  transcript.working.show(since === undefined ? undefined : { status: status.value, since, starter });
});
effect(() => transcript.setPermissions(session.permissions.value));
effect(() =>
  attachmentsShown(
    session.key.value,
    session.attachments.value.map(({ label }) => label),
  ),
);
render(<App transcript={transcript} onTimeline={openTimeline} />, document.getElementById('root')!);
render(
  <Questions onDrawn={(ids) => transcript.setQuestions(ids)} onAnswered={() => transcript.toNextQuestion()} />,
  transcript.questions,
);
onMessage(frames);
window.addEventListener('keydown', () => frames.yieldToKey(), { capture: true });
window.addEventListener(
  'keydown',
  (event) => {
    if (!isCtrl(event, 'f')) return;
    event.preventDefault();
    // VS Code must not see the key: it has commands of its own for it.
    event.stopImmediatePropagation();
    openFind();
  },
  { capture: true },
);
ignoreKeyRepeat();
watchWake();
watchChords();
watchKeySheet();
watchSelectAll(
  transcript.content,
  () => {
    post({ type: 'copySession' });
    announce(strings.copied, 'polite');
  },
  () => {
    const index = focusedIndex();
    const item = index === undefined ? undefined : transcript.store.get(index)?.item;
    if (!item || !isText(item)) return false;
    post({ type: 'copy', text: textOfBlocks(item.content, '\n') });
    announce(strings.copied, 'polite');
    return true;
  },
);
watchLostFocus();
composer.recallFrom(() => transcript.store.userTexts());
window.addEventListener('focus', () => postOfPage({ type: 'focused' }));
postOfPage({ type: 'hello', version: CONTRACT_VERSION });
composer.takeOver(document.querySelector('textarea.message'));
