// The entry point of a diagram's page, beside the chat. Mermaid draws in a frame without access to
// anything; the page shows what came out as a picture, in which nothing runs.
import { revealControls } from '../../base/revealControls';
import type { FromDiagram, ToDiagram } from '../../panel/diagramContract';
import { button, el, setAttributes } from '../dom/dom';
import { watchProblems } from '../host/problems';
import { formatShare } from '../text/format';
import { diagramStrings, zoomStrings } from '../text/strings';
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
const view = new ZoomView(diagramStrings.diagram, (zoom) => {
  percent.textContent = formatShare(zoom);
});
view.image.addEventListener('error', () => fail(diagramStrings.noPicture));
const named = (text: string, label: string, act: () => void): HTMLButtonElement =>
  setAttributes(button('secondary small', text, act), { 'aria-label': label, title: label });
const bar = setAttributes(
  el(
    'div',
    'diagram-bar',
    named('−', zoomStrings.out, () => view.step(-1)),
    percent,
    named('+', zoomStrings.in, () => view.step(1)),
    named('↔', zoomStrings.toAll, () => view.fit()),
    el('span', 'grow'),
    button('secondary small', diagramStrings.save, () => post({ type: 'save', svg })),
  ),
  { role: 'toolbar', 'aria-label': diagramStrings.diagram },
);
const status = setAttributes(el('pre', 'diagram-status', diagramStrings.drawing), { role: 'status' });
const text = setAttributes(el('pre', 'diagram-source'), {
  tabindex: 0,
  'aria-label': diagramStrings.source,
  dir: 'ltr',
});
const details = el('details', '', el('summary', '', diagramStrings.source), text);
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
  frame = new FrameHost(library, diagramStrings.diagram);
  void draw();
}

async function draw(): Promise<void> {
  const drawn = await frame?.draw({ source, ...diagramTheme() });
  if (drawn === undefined) return;
  if (drawn === null) {
    fail(diagramStrings.tooLong);
  } else if (typeof drawn === 'string') {
    fail(drawn || diagramStrings.noPicture);
  } else {
    svg = drawn.svg;
    showState(true);
    const before = view.image.src;
    setAttributes(view.image, { alt: drawn.label || diagramStrings.diagram });
    view.show(URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' })), drawn);
    if (before) URL.revokeObjectURL(before);
  }
}

function fail(why: string): void {
  status.textContent = `${diagramStrings.notDrawn}\n\n${revealControls(why)}`;
  details.open = true;
  showState(false);
}

function showState(isDrawn: boolean): void {
  bar.hidden = view.element.hidden = !isDrawn;
  status.hidden = isDrawn;
}
