// The bars above the composer: at most two, those that need the user first; others collapse.
import { useSignal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { isAwayShown, session } from '../host/session';
import { focusComposer } from '../input/wake';
import { strings } from '../text/strings';

const MAX_BARS = 2;

export interface BarPlace {
  reveal(index: number): void;
}

export interface Bar {
  readonly id: string;
  /** Lower ranks come first; undefined hides the bar. */
  rank(): number | undefined;
  label(): string;
  readonly Content: FunctionComponent<{ readonly place: BarPlace }>;
}

export function Bars({ bars, place }: { readonly bars: readonly Bar[]; readonly place: BarPlace }) {
  const chosen = useSignal<string | undefined>(undefined);
  const element = useRef<HTMLDivElement>(null);
  const key = session.key.value;
  const ranks = new Map(bars.map((bar) => [bar, bar.rank()]));
  const due = bars.filter((bar) => ranks.get(bar) !== undefined).sort((one, two) => ranks.get(one)! - ranks.get(two)!);
  // The bar with the focus stays expanded.
  const used = document.activeElement?.closest<HTMLElement>('[data-bar]')?.dataset.bar;
  const order = [used, chosen.value].flatMap((id) => due.filter((bar) => bar.id === id));
  const expandedBars = new Set([...new Set([...order, ...due])].slice(0, isAwayShown.value ? MAX_BARS - 1 : MAX_BARS));
  const folded = due.filter((bar) => !expandedBars.has(bar));

  useLayoutEffect(() => {
    chosen.value = undefined;
  }, [key]);
  useLayoutEffect(() => {
    if (chosen.value === undefined) return;
    const bar = element.current?.querySelector<HTMLElement>(`[data-bar="${chosen.value}"]`);
    const first = bar?.querySelector<HTMLElement>('button:enabled, summary, [tabindex]');
    // Its button, which had the focus, was removed.
    if (first) first.focus();
    else focusComposer();
  }, [chosen.value]);
  return (
    <div class="mount" ref={element}>
      {folded.length > 0 && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls of a form
        <div class="folded-bars" role="group" aria-label={strings.more}>
          {folded.map((bar) => (
            <button key={bar.id} type="button" class="chip" onClick={() => (chosen.value = bar.id)}>
              <span class="cut">{bar.label()}</span>
            </button>
          ))}
        </div>
      )}
      {bars.map(({ id, Content }, at) => (
        <div key={id} class="mount" data-bar={id} hidden={!expandedBars.has(bars[at]!)}>
          <Content place={place} />
        </div>
      ))}
    </div>
  );
}
