// Matches replayed tool calls by id and content. Some agents restart their ids with each turn or
// process, and some retitle a running call, so the strongest similarity is tried first.
import { head } from '../../base/text';
import { jsonText } from '../events/bounds';
import type { ToolEntry } from '../model/state';

/** Characters of an input that identify it, together with its length. */
const INPUT_CHARS = 2000;

export type Similarity = 'both' | 'content' | 'id' | 'kind';
export const SIMILARITIES: readonly Similarity[] = ['both', 'content', 'id', 'kind'];

const inputs = new WeakMap<object, string>();

export class ToolMatcher {
  readonly #byKey = new Map<string, ToolEntry[]>();
  readonly #matched = new Set<ToolEntry>();

  add(entry: ToolEntry): void {
    for (const similarity of SIMILARITIES) {
      for (const key of keysOf(entry, similarity)) {
        const same = this.#byKey.get(key);
        if (same) same.push(entry);
        else this.#byKey.set(key, [entry]);
      }
    }
  }

  take(theirs: ToolEntry, similarity: Similarity): ToolEntry | undefined {
    for (const key of keysOf(theirs, similarity)) {
      const same = this.#byKey.get(key) ?? [];
      while (same[0] && this.#matched.has(same[0])) same.shift();
      const [ours] = same;
      if (!ours) continue;
      this.#matched.add(ours);
      return ours;
    }
    return undefined;
  }
}

function keysOf(entry: ToolEntry, similarity: Similarity): string[] {
  const { toolCallId, toolKind, title } = entry;
  if (similarity === 'id') return [`id ${toolCallId}`];
  if (similarity === 'kind') return [`kind ${toolKind}`];
  const input = inputOf(entry);
  const contents = [
    ...(input === undefined ? [] : [`input ${toolKind} ${input}`]),
    ...(title === '' ? [] : [`title ${toolKind} ${title}`]),
  ];
  return similarity === 'content' ? contents : contents.map((content) => `${toolCallId} ${content}`);
}

function inputOf({ rawInput }: ToolEntry): string | undefined {
  if (typeof rawInput !== 'object' || rawInput === null) return typeof rawInput === 'string' ? rawInput : undefined;
  const known = inputs.get(rawInput);
  if (known !== undefined) return known;
  const json = jsonText(rawInput);
  const input = `${json.length} ${head(json, INPUT_CHARS)}`;
  inputs.set(rawInput, input);
  return input;
}
