// How much memory a value keeps, measured on the heap of this process.
import v8 from 'node:v8';
import vm from 'node:vm';

let collect: (() => void) | undefined;

export function collectGarbage(): void {
  if (!collect) {
    v8.setFlagsFromString('--expose-gc');
    collect = vm.runInNewContext('gc') as () => void;
  }
  collect();
  collect();
}

/**
 * Bytes that the heap has more while what `make` returns is alive. Good to about a hundred
 * kilobytes.
 */
export function retainedBytes(make: () => unknown): number {
  collectGarbage();
  const before = process.memoryUsage();
  const kept = { value: make() };
  collectGarbage();
  const after = process.memoryUsage();
  if (kept.value === undefined) throw new Error('nothing was made');
  kept.value = undefined;
  return after.heapUsed + after.external - before.heapUsed - before.external;
}
