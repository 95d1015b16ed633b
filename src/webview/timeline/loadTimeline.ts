// Loads the timeline when it is first opened.
import { fileUrl } from '../dom/pageStyles';
import type { Timeline } from './timelinePart';
import type { TimelineServices } from './timelineServices';

let services: TimelineServices;
let timeline: Timeline | undefined;
let loading: Promise<Timeline> | undefined;

/** Call it before anything else here. */
export function connectTimeline(to: TimelineServices): void {
  services = to;
}

/** Returns the timeline if it is loaded. */
export function loadedTimeline(): Timeline | undefined {
  return timeline;
}

/** Opens the timeline and focuses it. */
export function openTimeline(): void {
  loading ??= import(fileUrl('timeline.js')).then((module: typeof import('./timelinePart')) => {
    timeline = new module.Timeline(services);
    return timeline;
  });
  void loading.then((loaded) => loaded.open());
}
