// The entry point of a diagram's page, beside the chat. Mermaid draws in a frame without access to
// anything; the page shows what came out as a picture, in which nothing runs.
import { revealControls } from '../../base/revealControls';
import type { FromDiagram, ToDiagram } from '../../panel/diagramContract';
import { button, el, setAttributes } from '../dom/dom';
import { watchProblems } from '../host/problems';
import { formatShare } from '../text/format';
import { strings } from '../text/strings';
import '../styles/diagram.css';
import { diagramTheme, onThemeChange } from './diagramTheme';
import { FrameHost } from './frameHost';
import { ZoomView } from './zoomView';

declare function acquireVsCodeApi(): { postMessage(message: FromDiagram): void };
const api = acquireVsCodeApi();
const post = (message: FromDiagram): void => api.postMessage(message);
watchProblems(post);

let source = '';
let svg = '';
let frame: FrameHost | undefined;
let redrawing: ReturnType<typeof setTimeout> | undefined;

const percent = el('span', 'diagram-zoom dim');
const view = new ZoomView(strings.diagram.diagram, (zoom) => {
  percent.textContent = formatShare(zoom);
});
view.image.addEventListener('error', () => fail(strings.diagram.noPicture));
const named = (text: string, label: string, act: () => void): HTMLButtonElement =>
  setAttributes(button('secondary small', text, act), { 'aria-label': label, title: label });
const bar = setAttributes(
  el(
    'div',
    'diagram-bar',
    named('−', strings.zoomOut, () => view.step(-1)),
    percent,
    named('+', strings.zoomIn, () => view.step(1)),
    named('↔', strings.zoomToAll, () => view.fit()),
    el('span', 'grow'),
    button('secondary small', strings.diagram.save, () => post({ type: 'save', svg })),
  ),
  { role: 'toolbar', 'aria-label': strings.diagram.diagram },
);
const status = setAttributes(el('pre', 'diagram-status', strings.diagram.drawing), { role: 'status' });
const text = setAttributes(el('pre', 'diagram-source'), {
  tabindex: 0,
  'aria-label': strings.diagram.source,
  dir: 'ltr',
});
const details = el('details', '', el('summary', '', strings.diagram.source), text);
document.getElementById('root')?.append(el('main', 'diagram', bar, status, view.element, details));
showState(false);

window.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
  // Later messages could come from the frame.
  if (!frame && typeof data === 'object' && data !== null && 'library' in data) begin(data as ToDiagram);
});
onThemeChange(() => {
  clearTimeout(redrawing);
  redrawing = setTimeout(() => void draw(), 100);
});
post({ type: 'hello' });

function begin({ library, source: given }: ToDiagram): void {
  source = revealControls(given);
  text.textContent = source;
  frame = new FrameHost(library, strings.diagram.diagram);
  void draw();
}

async function draw(): Promise<void> {
  const drawn = await frame?.draw({ source, ...diagramTheme() });
  if (drawn === undefined) return;
  if (drawn === null) {
    fail(strings.diagram.tooLong);
  } else if (typeof drawn === 'string') {
    fail(drawn || strings.diagram.noPicture);
  } else {
    svg = drawn.svg;
    showState(true);
    const before = view.image.src;
    setAttributes(view.image, { alt: drawn.label || strings.diagram.diagram });
    view.show(URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' })), drawn);
    if (before) URL.revokeObjectURL(before);
  }
}

function fail(why: string): void {
  status.textContent = `${strings.diagram.notDrawn}\n\n${revealControls(why)}`;
  details.open = true;
  showState(false);
}

function showState(isDrawn: boolean): void {
  bar.hidden = view.element.hidden = !isDrawn;
  status.hidden = isDrawn;
}
