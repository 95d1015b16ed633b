// What a tool call does and prints, whichever fields the agent uses: some name only the tool in the
// title, and some send the output only as raw output.
import type { ToolContent } from '../../session/events/content';
import type { ToolEntry } from '../../session/model/state';
import { rawCommandsIn } from '../rules/rawCommands';

/** Fields of outputs: the first with text counts; grouped ones are joined. */
const PRINTED = [
  ['formatted_output'],
  ['aggregated_output'],
  ['stdout', 'stderr'],
  ['output'],
  ['result'],
  ['text'],
  ['content'],
  ['error', 'message'],
];
const MAX_DEPTH = 4;
const MAX_PARTS = 1000;

/** Returns the output in a call's raw output; empty if none is recognized. */
export function printedIn(rawOutput: unknown, depth = 0): string {
  if (typeof rawOutput === 'string') return rawOutput;
  if (typeof rawOutput !== 'object' || rawOutput === null || depth === MAX_DEPTH) return '';
  if (Array.isArray(rawOutput)) return joined(rawOutput.slice(0, MAX_PARTS), depth);
  const fields = rawOutput as Readonly<Record<string, unknown>>;
  for (const names of PRINTED) {
    const text = joined(
      names.map((name) => (Object.hasOwn(fields, name) ? fields[name] : undefined)),
      depth,
    );
    if (text !== '') return text;
  }
  return '';
}

function joined(values: readonly unknown[], depth: number): string {
  const texts = values.map((value) => printedIn(value, depth + 1)).filter((text) => text !== '');
  return texts.join('\n');
}

export function shownContent({ content, rawOutput }: Pick<ToolEntry, 'content' | 'rawOutput'>): readonly ToolContent[] {
  if (content.length > 0 || rawOutput === undefined) return content;
  const text = printedIn(rawOutput);
  return text === '' ? [] : [{ type: 'content', block: { type: 'text', text } }];
}

export function commandLinesOf({ rawInput }: Pick<ToolEntry, 'rawInput'>): string | undefined {
  const { commands } = rawCommandsIn(rawInput);
  return commands.length === 0 ? undefined : commands.map(({ line }) => line).join('\n');
}

/** Returns a call's title, or its command if the title only names the tool. */
export function titleOf(entry: Pick<ToolEntry, 'title' | 'name' | 'toolCallId' | 'toolKind' | 'rawInput'>): string {
  const { title, name, toolCallId, toolKind } = entry;
  const isToolName = toolKind === 'execute' && /^[\w.:-]*$/.test(title);
  return (isToolName && commandLinesOf(entry)) || title || name || toolCallId;
}
