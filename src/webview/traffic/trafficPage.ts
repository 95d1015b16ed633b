// The entry point of the traffic inspector, a separate page beside the chat.
import { revealControls } from '../../base/revealControls';
import type { FromTraffic, ToTraffic, TrafficDirection, TrafficRow } from '../../panel/trafficContract';
import { button, el, setAttributes } from '../dom/dom';
import { watchProblems } from '../host/problems';
import { trafficStrings } from '../text/strings';
import '../styles/traffic.css';
import { TrafficGrid } from './trafficGrid';
import { TrafficRows } from './trafficRows';
import { TurnLanes } from './turnLanes';

const SELECT_MS = 60;
const FIND_MS = 200;
const DIRECTIONS: readonly TrafficDirection[] = ['in', 'out', 'stderr', 'noise'];

declare function acquireVsCodeApi(): { postMessage(message: FromTraffic): void };
const api = acquireVsCodeApi();
const post = (message: FromTraffic): void => api.postMessage(message);
watchProblems(post);

const rows = new TrafficRows();
const sessions = new Map<string, string>();
let isPaused = false;
let searches = 0;
let selecting: ReturnType<typeof setTimeout> | undefined;
let finding: ReturnType<typeof setTimeout> | undefined;

const grid = new TrafficGrid({
  rows,
  labelOf: (key) => sessions.get(key) ?? '',
  onSelect: (row) => {
    showContent(row);
    lanes.showMessage(row.seq);
  },
  onOpen: () => content.focus(),
});
const lanes = new TurnLanes({
  labelOf: (key) => (sessions.size > 1 ? (sessions.get(key) ?? '') : ''),
  onSelect: showRow,
  onOpen: () => grid.element.focus(),
});

const pauseButton = button('secondary small', trafficStrings.pause, () => setPaused(!isPaused));
setAttributes(pauseButton, { 'aria-pressed': 'false' });

const search = setAttributes(el('input', 'field traffic-search'), {
  type: 'search',
  placeholder: trafficStrings.search,
  'aria-label': trafficStrings.search,
  maxlength: 1000,
  spellcheck: 'false',
});
search.addEventListener('input', () => {
  clearTimeout(finding);
  finding = setTimeout(() => {
    // Nothing matches until the host has answered.
    rows.setFound([]);
    post({ type: 'find', id: ++searches, text: search.value });
    refilter();
  }, FIND_MS);
});
const direction = chooser(trafficStrings.column.direction);
setOptions(
  direction,
  trafficStrings.allDirections,
  DIRECTIONS.map((direction) => [direction, trafficStrings.direction[direction]]),
);
const method = chooser(trafficStrings.column.method);
const session = chooser(trafficStrings.column.session);
const errorsOnly = checkBox(false, refilter);
const showTurns = checkBox(true, () => {
  lanes.isOn = showTurns.checked;
});

const count = el('span', 'traffic-count dim');
const title = el('span', 'traffic-title cut', trafficStrings.content);
const copyButton = button('secondary small', trafficStrings.copy, () => {
  if (grid.selected !== undefined) post({ type: 'copy', seq: grid.selected });
});
let pairSeq: number | undefined;
const pairButton = button('secondary small', trafficStrings.toResponse, () => {
  if (pairSeq !== undefined) grid.select(pairSeq);
});
const content = setAttributes(el('pre', 'traffic-content'), { tabindex: 0, 'aria-label': trafficStrings.content });
content.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') grid.element.focus();
});

const toolbar = setAttributes(
  el(
    'div',
    'traffic-bar',
    pauseButton,
    button('secondary small', trafficStrings.clear, () => post({ type: 'clear' })),
    button('secondary small', trafficStrings.exportRecording, () =>
      post({ type: 'export', key: session.value || null }),
    ),
    button('secondary small', trafficStrings.openRecording, () => post({ type: 'openRecording' })),
    el('label', '', showTurns, trafficStrings.turns),
    count,
  ),
  { role: 'toolbar', 'aria-label': trafficStrings.toolbar },
);
const filters = setAttributes(
  el('div', 'traffic-bar', search, direction, method, session, el('label', '', errorsOnly, trafficStrings.errorsOnly)),
  { role: 'search', 'aria-label': trafficStrings.filters },
);
const details = setAttributes(
  el('section', 'traffic-details', el('div', 'traffic-bar', title, pairButton, copyButton), content),
  { 'aria-label': trafficStrings.content },
);
document.getElementById('root')?.append(el('main', 'traffic', toolbar, filters, lanes.element, grid.element, details));

window.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
  if (typeof data === 'object' && data !== null && 'type' in data) receive(data as ToTraffic);
});
clearContent();
refresh();
post({ type: 'hello' });

function receive(message: ToTraffic): void {
  switch (message.type) {
    case 'rows':
      rows.add(message.rows, message.first, message.found);
      if (grid.selected !== undefined && grid.selected < message.first && rows.total === 0) {
        grid.clear();
        clearContent();
      }
      refresh();
      updatePair();
      // After drawing the rows, so that a slow page gets no more.
      requestAnimationFrame(() => post({ type: 'ack' }));
      return;
    case 'lanes':
      lanes.update(message.first, message.lanes);
      return;
    case 'sessions':
      sessions.clear();
      for (const { key, label } of message.sessions) sessions.set(key, label);
      setOptions(session, trafficStrings.allSessions, [...sessions]);
      grid.draw();
      lanes.rename();
      return;
    case 'payload':
      if (message.seq === grid.selected) showPayload(message);
      return;
    case 'found':
      if (message.id !== searches) return;
      rows.setFound(message.seqs);
      refresh();
  }
}

function refilter(): void {
  rows.filter = {
    direction: direction.value,
    method: method.value,
    session: session.value,
    errorsOnly: errorsOnly.checked,
    hasText: search.value !== '',
  };
  lanes.session = session.value;
  refresh();
}

/** Shows a row even if the filter hides it. */
function showRow(seq: number): void {
  if (rows.indexOf(seq) === -1 && rows.has(seq)) {
    for (const filter of [search, direction, method]) filter.value = '';
    errorsOnly.checked = false;
    refilter();
  }
  grid.select(seq);
}

function refresh(): void {
  const { methods } = rows;
  // Would close an open list.
  if (document.activeElement !== method)
    setOptions(
      method,
      trafficStrings.allMethods,
      methods.map((name) => [name, name]),
    );
  count.textContent = rows.total === 0 ? '' : trafficStrings.count(rows.matching.length, rows.total);
  grid.draw();
}

function setPaused(paused: boolean): void {
  isPaused = paused;
  pauseButton.textContent = paused ? trafficStrings.resume : trafficStrings.pause;
  setAttributes(pauseButton, { 'aria-pressed': String(paused) });
  post({ type: 'pause', isPaused: paused });
}

function showContent(row: TrafficRow): void {
  title.textContent = row.method || trafficStrings.noMethod;
  content.textContent = trafficStrings.loading;
  copyButton.disabled = false;
  updatePair();
  clearTimeout(selecting);
  selecting = setTimeout(() => post({ type: 'select', seq: row.seq }), SELECT_MS);
}

function showPayload({ text, cut }: Extract<ToTraffic, { type: 'payload' }>): void {
  // As text, since an agent wrote it.
  content.textContent = text === null ? trafficStrings.gone : revealControls(text);
  if (cut > 0) content.append(`\n… ${trafficStrings.cut(cut)}`);
  content.scrollTop = 0;
}

function clearContent(): void {
  title.textContent = trafficStrings.content;
  content.textContent = trafficStrings.selectOne;
  copyButton.disabled = true;
  updatePair();
}

function updatePair(): void {
  const row = rows.matching[rows.indexOf(grid.selected)];
  const other = row?.request ?? (row && rows.answers.get(row.seq)?.seq);
  pairSeq = rows.indexOf(other) === -1 ? undefined : other;
  pairButton.hidden = pairSeq === undefined;
  pairButton.textContent = row?.request === undefined ? trafficStrings.toResponse : trafficStrings.toRequest;
}

function checkBox(isOn: boolean, changed: () => void): HTMLInputElement {
  const box = setAttributes(el('input'), { type: 'checkbox', checked: isOn });
  box.addEventListener('change', changed);
  return box;
}

function chooser(label: string): HTMLSelectElement {
  const select = setAttributes(el('select', 'field traffic-select'), { 'aria-label': label });
  select.addEventListener('change', refilter);
  return select;
}

/** Keeps the selected option even if it no longer exists. */
function setOptions(select: HTMLSelectElement, all: string, options: readonly (readonly [string, string])[]): void {
  const { value } = select;
  const current = value === '' || options.some(([name]) => name === value) ? [] : [[value, value] as const];
  const entries = [['', all] as const, ...options, ...current];
  const existing = [...select.options].map((option) => [option.value, option.text]);
  if (JSON.stringify(existing) === JSON.stringify(entries)) return;
  select.replaceChildren(
    ...entries.map(([name, label]) => setAttributes(el('option', '', label.slice(0, 100)), { value: name })),
  );
  select.value = value;
}
