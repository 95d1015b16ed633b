// Draws Mermaid blocks in place, and opens an enlarged view. Loaded on first use.
import { revealControls } from '../../base/revealControls';
import { button, el, setAttributes } from '../dom/dom';
import styles from '../styles/diagrams.css';
import { formatShare } from '../text/format';
import type { DiagramContext } from './diagramContext';
import { diagramTheme, onThemeChange } from './diagramTheme';
import { type Drawn, FrameHost } from './frameHost';
import { ZoomView } from './zoomView';

/** Delay before a block is drawn, ms. A block removed sooner was part of a flood. */
const DRAW_DELAY_MS = 200;
const MAX_CACHED = 50;
const MAX_ERROR = 300;

type Picture = Drawn & { readonly url: string };

const host = new FrameHost();
const sources = new WeakMap<Element, { readonly source: string; readonly context: DiagramContext }>();
/** Cached pictures by source. Blob URLs of evicted ones stay valid while they are shown. */
const pictures = new Map<string, Picture>();
let theme = diagramTheme();
let styled = false;

onThemeChange(() => {
  theme = diagramTheme();
  pictures.clear();
  for (const block of document.querySelectorAll('.code-block')) if (sources.has(block)) void draw(block);
});

/**
 * Draws a complete block after a delay if it is still in the page; immediately if its picture is
 * cached.
 */
export function drawDiagram(block: Element, source: string, context: DiagramContext): void {
  addStyles();
  sources.set(block, { source, context });
  const cached = pictures.get(source);
  if (cached) show(block, cached, context);
  else setTimeout(() => void draw(block), DRAW_DELAY_MS);
}

async function draw(block: Element): Promise<void> {
  const { source, context } = sources.get(block)!;
  const { words } = context;
  const drawnFor = theme;
  const drawn = pictures.get(source) ?? (await host.draw({ source, ...theme }, words.diagram, () => block.isConnected));
  // The theme has changed, which draws the block again.
  if (drawn === undefined || drawnFor !== theme) return;
  if (drawn === 'too-long') fail(block, words.notDrawn(words.tooLong));
  else if (drawn === 'no-picture') fail(block, words.notDrawn(words.noPicture));
  else if ('error' in drawn)
    fail(block, words.notDrawn(drawn.error.split('\n', 1)[0]!.replace(/:\s*$/, '').slice(0, MAX_ERROR)));
  else show(block, keep(source, drawn), context);
}

function keep(source: string, drawn: Drawn | Picture): Picture {
  const url = 'url' in drawn ? drawn.url : URL.createObjectURL(new Blob([drawn.svg], { type: 'image/svg+xml' }));
  const picture = { ...drawn, url };
  pictures.delete(source);
  pictures.set(source, picture);
  if (pictures.size > MAX_CACHED) pictures.delete(pictures.keys().next().value!);
  return picture;
}

function show(block: Element, picture: Picture, context: DiagramContext): void {
  const { words } = context;
  const open = button('diagram', '', () => enlarge(picture, context));
  const image = imageOf(picture, words.diagram);
  image.addEventListener('error', () => fail(block, words.notDrawn(words.noPicture)));
  open.append(image);
  put(block, setAttributes(open, { title: words.enlarge }));
  block.classList.add('drawn');
}

function fail(block: Element, reason: string): void {
  block.classList.remove('drawn');
  put(block, setAttributes(el('p', 'diagram-problem', revealControls(reason)), { role: 'note', dir: 'auto' }));
}

function put(block: Element, element: Element): void {
  for (const old of block.querySelectorAll(':scope > :is(.diagram, .diagram-problem)')) old.remove();
  block.append(element);
}

function imageOf({ url, width, height, label }: Picture, name: string): HTMLImageElement {
  const image = setAttributes(el('img'), { src: url, alt: label || name, width, height, draggable: 'false' });
  return image;
}

function enlarge(picture: Picture, { words, save }: DiagramContext): void {
  const percent = el('span', 'diagram-zoom dim');
  const image = imageOf(picture, words.diagram);
  const view = new ZoomView(image, words.diagram, (zoom) => {
    percent.textContent = formatShare(zoom);
  });
  const named = (text: string, label: string, act: () => void): HTMLButtonElement =>
    setAttributes(button('secondary small', text, act), { 'aria-label': label, title: label });
  const bar = setAttributes(
    el(
      'div',
      'diagram-bar',
      named('−', words.zoom.out, () => view.step(-1)),
      percent,
      named('+', words.zoom.in, () => view.step(1)),
      named('↔', words.zoom.toAll, () => view.fit()),
      el('span', 'grow'),
      button('secondary small', words.save, () => save(picture.svg)),
      button('primary small', words.close, () => dialog.close()),
    ),
    { role: 'toolbar', 'aria-label': words.diagram },
  );
  const dialog = setAttributes(el('dialog', 'diagram-large', bar, view.element), { 'aria-label': words.diagram });
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  view.show(picture);
  view.element.focus();
}

function addStyles(): void {
  if (styled) return;
  styled = true;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}
