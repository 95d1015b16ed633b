// Loads the card about the time away when there is first something to tell.
import type { AwayView } from '../../panel/contract';
import { fileUrl } from '../dom/pageStyles';
import type { AwayCard } from './awayPart';
import type { AwayServices } from './awayServices';

let services: AwayServices;
let loading: Promise<AwayCard> | undefined;
let shown: AwayView | undefined;

/** Call it before anything else here. */
export function connectAway(to: AwayServices): void {
  services = to;
}

/** Shows what happened, or removes the card. */
export function showAway(view: AwayView | undefined): void {
  shown = view;
  if (!view && !loading) return;
  loading ??= import(fileUrl('away.js')).then((module: typeof import('./awayPart')) => new module.AwayCard(services));
  // Another view may have come meanwhile.
  void loading.then((card) => card.show(shown));
}
