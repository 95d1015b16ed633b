// The entry point of the webview. Messages of the host update the transcript and the signals of the
// session once per frame; components render from the signals.
import { computed, effect } from '@preact/signals';
import { render } from 'preact';
import { textOfBlocks } from '../base/text';
import { CONTRACT_VERSION, type ToWebview } from '../panel/contract';
import { App } from './app';
import { AwayCard } from './away/awayCard';
import { forgetChanges, receiveChanges, refreshChanges } from './changes/changesList';
import { prompts } from './composer/completion';
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
  isFocusView,
  onlyPrompt,
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
import { watchPageFocus, whenFocused } from './input/pageFocus';
import { watchSelectAll, writeClipboard } from './input/selectAll';
import { watchTyping } from './input/typing';
import { focusComposer, watchWake } from './input/wake';
import { noteArrival } from './transcript/arrivals';
import { focusedIndex } from './transcript/rovingFocus';
import { Transcript } from './transcript/transcript';
import type { UndrawnPart } from './transcript/undrawnPart';

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

function noteItems(): void {
  const { total, prompts } = transcript.store;
  hasItems.value = total > 0;
  const [first, second] = prompts.values();
  onlyPrompt.value = first && !second ? first.text : '';
}

type Receivers = { readonly [T in ToWebview['type']]: (message: Extract<ToWebview, { type: T }>) => void };

const RECEIVERS: Receivers = {
  snapshot: applySnapshot,
  update({ ops, revision }) {
    for (const op of ops) {
      if (op.op === 'session') patchSession(op.patch);
      else transcript.apply(op, revision);
    }
    if (ops.some(({ op }) => op !== 'session')) noteArrival();
    noteItems();
    timeline?.changed();
  },
  page: ({ from, items, revision }) => transcript.insertPage(from, items, revision),
  nested: (message) => transcript.nesting.receive(message),
  accepted({ clientId, revision }) {
    composer.accepted(clientId, revision);
    away.dismiss();
    transcript.toLatest();
  },
  rejected({ clientId, reason, id }) {
    composer.rejected(clientId, reason);
    if (id !== undefined) setRefused(id, {});
  },
  insert: ({ text }) => composer.insert(text),
  draft: (message) => composer.changedElsewhere(message.key, message),
  clipboard: (message) => void writeClipboard(message),
  mentions(message) {
    mentions.value = message;
  },
  prompts(message) {
    prompts.value = message.prompts;
  },
  formRefused: ({ id, problems }) => setRefused(id, problems),
  focus: ({ on }) => takeFocus(on),
  firstUse({ offers }) {
    firstUse.value = offers ?? undefined;
  },
  away({ key: of, view }) {
    if (of === key) away.show(view ?? undefined);
  },
  worktree(message) {
    worktree.value = message;
  },
  welcome(message) {
    welcome.value = message;
  },
  focusView({ on }) {
    isFocusView.value = on;
    transcript.setFocusView(on);
  },
  activeEditor({ offer }) {
    activeEditor.value = offer ?? undefined;
  },
  changes: receiveChanges,
  found: (message) => find?.receive(message),
  foundIn: (message) => find?.receive(message),
  timeline: (message) => timeline?.receive(message),
  chime,
  reveal: ({ index }) => transcript.revealFound(index),
};

function apply(message: ToWebview): number | undefined {
  try {
    (RECEIVERS[message.type] as ((message: ToWebview) => void) | undefined)?.(message);
  } catch (error) {
    // An error in one message must not stop the others.
    reportError(error);
  }
  return message.type === 'snapshot' || message.type === 'update' ? message.revision : undefined;
}

/** If the user has opened the command palette since, their typing must not go here. */
function takeFocus(on: Extract<ToWebview, { type: 'focus' }>['on']): void {
  whenFocused(() => {
    if (on === 'find') openFind();
    else if (on === 'timeline') openTimeline();
    else if (on === 'question') transcript.toNextQuestion();
    else if (on === 'previousPrompt') transcript.keys.toPrompt(-1);
    else if (on === 'nextPrompt') transcript.keys.toPrompt(1);
    else focusComposer();
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
  const isDisplayed = message.session.key === (key ?? saved.key);
  key = message.session.key;
  if (!isDisplayed) {
    resetUiState(key, message.anchor);
  } else if (isFirst) {
    saveUiState({ key });
  }
  composer.show(key, message.draft);
  // A snapshot of the displayed session must not change the scroll position.
  const anchor = isDisplayed ? (isFirst ? saved.anchor : transcript.anchor()) : message.anchor;
  if (!isDisplayed) {
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
  if (isDisplayed) refreshChanges();
  noteItems();
  if (anchor) transcript.reveal(anchor.index, anchor.offset);
  // A page loses its focus when it is hidden.
  if (isFirst && document.hasFocus() && document.activeElement === document.body) focusComposer();
}

watchProblems(postOfPage);
watchPageFocus();
effect(() => transcript.setRunning(session.running.value));
effect(() => {
  const { phase, status, turn } = session;
  const running = phase.value === 'running' ? turn.value : undefined;
  const { startedAt: since, starter } = running ?? {};
  transcript.working.show(since === undefined ? undefined : { status: status.value, since, starter });
});
effect(() => transcript.setPermissions(session.permissions.value));
// Does not change with each update of the turn.
const runningTurnId = computed(() => session.turn.value?.id);
effect(() => {
  const { review, waitingFiles } = session;
  const files = review.value && !waitingFiles.value ? undefined : new Set(waitingFiles.value);
  transcript.setReview({ turnId: runningTurnId.value, files });
});
// Context of the context menu's commands, which apply to this session.
effect(() => {
  transcript.box.dataset.vscodeContext = JSON.stringify({ parleyChat: true, session: session.key.value });
});
effect(() =>
  attachmentsShown(
    session.key.value,
    session.attachments.value.map(({ label }) => label),
  ),
);
render(<App transcript={transcript} onTimeline={openTimeline} />, document.getElementById('root')!);
render(
  <Questions
    onDrawn={(ids) => transcript.setQuestions(ids)}
    onAnswer={(byKey) => transcript.answeredForm(byKey)}
    onGone={() => transcript.toNextQuestion()}
  />,
  transcript.questions,
);
onMessage(frames);
window.addEventListener('keydown', () => frames.yieldToKey(), { capture: true });
window.addEventListener(
  'keydown',
  (event) => {
    if (!isCtrl(event, 'f')) return;
    event.preventDefault();
    // VS Code has other commands for this key.
    event.stopImmediatePropagation();
    openFind();
  },
  { capture: true },
);
ignoreKeyRepeat();
watchWake();
watchChords();
watchKeySheet();
function copySession(part?: UndrawnPart): void {
  post({ type: 'copySession', part });
  announce(strings.copied, 'polite');
}

watchSelectAll(transcript.content, {
  all: () => copySession(),
  selected() {
    const part = transcript.undrawnPart();
    if (part) copySession(part);
    return part !== undefined;
  },
  focused() {
    const index = focusedIndex();
    const item = index === undefined ? undefined : transcript.store.get(index)?.item;
    if (!item || !isText(item)) return false;
    post({ type: 'copy', text: textOfBlocks(item.content, '\n') });
    announce(strings.copied, 'polite');
    return true;
  },
});
watchTyping();
composer.recallFrom(() => transcript.store.userTexts());
window.addEventListener('focus', () => postOfPage({ type: 'focused' }));
postOfPage({ type: 'hello', version: CONTRACT_VERSION });
composer.takeOver(document.querySelector('textarea.message'));
