// Watches a folder for added and removed entries.
import { type FSWatcher, watch } from 'node:fs';
import { type Disposable, toDisposable } from '../base/disposable';

/** @param pollMs interval of calls if the folder can't be watched, ms */
export function watchFolder(folder: string, pollMs: number, onChange: () => void): Disposable {
  let watcher: FSWatcher | undefined;
  let timer: NodeJS.Timeout | undefined;
  const poll = (): void => {
    watcher?.close();
    timer ??= setInterval(onChange, pollMs).unref();
  };
  try {
    watcher = watch(folder, { persistent: false }, onChange).on('error', poll);
  } catch {
    poll();
  }
  return toDisposable(() => {
    clearInterval(timer);
    watcher?.close();
  });
}
