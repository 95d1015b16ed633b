// Recognizes calls of the editor's own tools, whatever name the agent gives them, and describes
// their subject and result.

import { isAbsolute, join } from 'node:path';
import { at } from '../../base/untrusted';
import type { ToolName } from '../../editorTools/tools';
import type { EditorToolView } from '../../panel/contract';
import type { ToolEntry } from '../../session/model/state';

const NAMES: Readonly<Record<ToolName, true>> = {
  get_diagnostics: true,
  go_to_definition: true,
  find_references: true,
  find_implementations: true,
  call_hierarchy: true,
  hover: true,
  document_symbols: true,
  workspace_symbols: true,
  get_selection: true,
  open_editors: true,
  get_unsaved: true,
  open_file: true,
  rename_symbol: true,
  apply_code_action: true,
  format: true,
  organize_imports: true,
  run_tests: true,
  test_failures: true,
  run_task: true,
};

/** `mcp__parley__hover`, `parley_hover`, `mcp.parley.hover`, `hover (parley MCP Server)`. */
const CALLS = [/(?:^|[^a-z])parley[_./:]{1,2}([a-z_]+)/, /(?:^|_)parley_([a-z_]+?)__/, /\b([a-z_]+) \(parley\b/];
const MAX_TEXT = 500;

export function editorToolOf(entry: ToolEntry): EditorToolView | undefined {
  const { name, title, toolCallId, rawInput } = entry;
  const tool = [name, title, toolCallId].map(toolNamed).find((name) => name !== undefined);
  if (tool === undefined) return undefined;
  const args = at(rawInput, 'arguments') ?? rawInput;
  const [subject] = ['symbol', 'query', 'path', 'name', 'test'].flatMap((key) => {
    const value = at(args, key);
    return typeof value === 'string' ? [value.slice(0, MAX_TEXT)] : [];
  });
  const summary = summaryOf(entry);
  const result = summary === undefined ? undefined : resultOf(summary);
  // Some agents don't show the arguments.
  const asked = subject ?? / (?:in|of) (\S+?)(?:;|$| in )/.exec(summary ?? '')?.[1];
  return { tool, subject: asked, result };
}

/** For agents that give no location. @param roots of the session */
export function editorToolPlace({ rawInput }: ToolEntry, roots: readonly string[]): { path: string; line?: number }[] {
  const args = at(rawInput, 'arguments') ?? rawInput;
  const [path, line, [root]] = [at(args, 'path'), at(args, 'line'), roots];
  if (typeof path !== 'string' || path === '' || root === undefined) return [];
  return [{ path: isAbsolute(path) ? path : join(root, path), line: typeof line === 'number' ? line : undefined }];
}

function toolNamed(text = ''): ToolName | undefined {
  // Some agents put all arguments into the title.
  const [line = ''] = text.slice(0, MAX_TEXT).split('\n', 1);
  for (const pattern of CALLS) {
    const found = pattern.exec(line)?.[1]?.replace(/__.*$/, '');
    if (found !== undefined && Object.hasOwn(NAMES, found)) return found as ToolName;
  }
  return undefined;
}

function summaryOf({ content, rawOutput, status }: ToolEntry): string | undefined {
  if (status !== 'completed') return undefined;
  const [shown] = content.flatMap((part) =>
    part.type === 'content' && part.block.type === 'text' ? [part.block.text] : [],
  );
  const parts = at(rawOutput, 'result', 'content');
  const raw = Array.isArray(parts) ? at(parts[0], 'text') : undefined;
  const text = shown ?? (typeof raw === 'string' ? raw : '');
  return text.slice(0, MAX_TEXT).match(/(?:^|\n|"|output: )((?:No problems|\d+ [a-z]+)[^\n"]*)/)?.[1];
}

function resultOf(summary: string): EditorToolView['result'] {
  if (/^No problems/.test(summary)) return { errors: 0, warnings: 0 };
  const count = (word: string): number => Number(new RegExp(`(\\d+) ${word}`).exec(summary)?.[1] ?? 0);
  if (/^\d+ (?:error|warning|info|hint)/.test(summary)) return { errors: count('error'), warnings: count('warning') };
  const found = /^(\d+) (?:definition|reference|implementation|call|symbol|file)/.exec(summary)?.[1];
  return found === undefined ? undefined : { found: Number(found) };
}
