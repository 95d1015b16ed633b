// The legend of the timeline. The picture reads its colours from the legend's elements.
import { el, setAttributes } from '../dom/dom';
import { strings } from '../text/strings';

type CallKind = keyof typeof strings.verbs;

const KINDS = Object.keys(strings.verbs) as readonly CallKind[];

export function kindOf(kind: string): CallKind {
  return KINDS.find((known) => known === kind) ?? 'other';
}

/** Others use the foreground colour of charts. */
const COLOURS: Readonly<Record<string, string>> = {
  read: 'var(--vscode-charts-blue, var(--link))',
  search: 'color-mix(in srgb, var(--vscode-charts-blue, var(--link)) 60%, var(--bg))',
  edit: 'var(--vscode-charts-orange, var(--warn))',
  move: 'var(--vscode-charts-orange, var(--warn))',
  delete: 'var(--vscode-charts-orange, var(--warn))',
  execute: 'var(--vscode-charts-green, var(--ok))',
  fetch: 'var(--vscode-charts-purple, var(--link))',
  subagent: 'color-mix(in srgb, var(--vscode-charts-purple, var(--link)) 55%, var(--text))',
  waits: 'var(--vscode-charts-yellow, var(--warn))',
  context: 'color-mix(in srgb, var(--vscode-charts-foreground, var(--dim)) 35%, var(--bg))',
  failed: 'var(--bad)',
  dim: 'var(--dim)',
  line: 'var(--line)',
  focus: 'var(--focus)',
};

export function createSwatch(kind: string): HTMLElement {
  const swatch = setAttributes(el('span', 'timeline-swatch'), { 'data-kind': kind, 'aria-hidden': 'true' });
  swatch.style.color = COLOURS[kind] ?? '';
  return swatch;
}

export class Legend {
  readonly element = el('div', 'timeline-legend');
  readonly #hiddenSwatches = ['waits', 'failed', 'dim', 'line', 'focus'].map((name) => {
    const swatch = createSwatch(name);
    swatch.hidden = true;
    return swatch;
  });
  #displayedKey = '';

  constructor() {
    this.show([], false, false);
  }

  show(kinds: readonly string[], hasWaits: boolean, hasContext: boolean): void {
    const usedKinds = KINDS.filter((kind) => kinds.includes(kind));
    const displayedKey = `${usedKinds.join()} ${hasWaits} ${hasContext}`;
    if (displayedKey === this.#displayedKey) return;
    this.#displayedKey = displayedKey;
    const items = usedKinds.map((kind) => el('span', 'timeline-key', createSwatch(kind), strings.verbs[kind]));
    if (hasWaits) items.push(el('span', 'timeline-key', createSwatch('waits'), strings.timeline.waits));
    if (hasContext) items.push(el('span', 'timeline-key', createSwatch('context'), strings.timeline.context));
    this.element.replaceChildren(...this.#hiddenSwatches, ...items);
  }

  colours(): ReadonlyMap<string, string> {
    const swatches = [...this.element.querySelectorAll<HTMLElement>('.timeline-swatch')];
    return new Map(swatches.map((swatch) => [swatch.dataset.kind ?? '', getComputedStyle(swatch).color]));
  }
}
