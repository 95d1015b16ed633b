// Sizes of the tool calls of a session. Each call is bounded, but their number is not, so the
// oldest are shortened.
import { roughSize } from '../../base/text';
import { contentSize, MAX_ALL_TOOL_CHARS, MAX_RAW_CHARS } from '../events/bounds';
import type { ToolEntry } from './state';

export class ToolSizes {
  readonly #sizes = new Map<ToolEntry, number>();
  #total = 0;

  /** Measures a call. */
  set(entry: ToolEntry): readonly ToolEntry[] {
    const raw = roughSize(entry.rawInput, MAX_RAW_CHARS) + roughSize(entry.rawOutput, MAX_RAW_CHARS);
    return this.add(entry, contentSize(entry.content) + raw - (this.#sizes.get(entry) ?? 0));
  }

  /**
   * Adds to the size of a call.
   * @param by characters
   */
  add(entry: ToolEntry, by: number): readonly ToolEntry[] {
    this.#sizes.set(entry, (this.#sizes.get(entry) ?? 0) + by);
    this.#total += by;
    const tooMuch: ToolEntry[] = [];
    for (const [oldest, size] of this.#sizes) {
      if (this.#total <= MAX_ALL_TOOL_CHARS) break;
      this.#sizes.delete(oldest);
      this.#total -= size;
      tooMuch.push(oldest);
    }
    return tooMuch;
  }

  clear(): void {
    this.#sizes.clear();
    this.#total = 0;
  }
}
