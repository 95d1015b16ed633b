// Complete outputs of tool calls that the panel shows cut.
import { plainOutput } from '../../base/ansi';
import type { Entry, Terminal } from '../../session/model/state';
import { printedIn, shownContent } from './toolCall';

/** Without terminal escapes; undefined if the content has no text. */
export function fullOutput(
  entry: Entry | undefined,
  content: number,
  terminals: ReadonlyMap<string, Terminal>,
): string | undefined {
  const part = entry?.kind === 'tool' ? shownContent(entry)[content] : undefined;
  if (entry?.kind !== 'tool' || !part) return undefined;
  if (part.type === 'terminal') {
    const output = terminals.get(part.terminalId)?.output;
    return plainOutput(output || printedIn(entry.rawOutput));
  }
  if (part.type !== 'content') return undefined;
  const { block } = part;
  const text = block.type === 'text' || block.type === 'resource' ? block.text : undefined;
  return text?.includes('\u001b') ? plainOutput(text) : text;
}
