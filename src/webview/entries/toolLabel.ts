// The label of a tool call: a verb, an object, a result. Pure.
import { revealControls } from '../../base/revealControls';
import type { DecisionView, ItemView } from '../../panel/contract';
import { formatDuration, lastLines } from '../text/format';
import { strings } from '../text/strings';

export type ToolItem = Extract<ItemView, { kind: 'tool' }>;

export interface ToolLabel {
  readonly verb: string;
  readonly object: string;
  /** Whether the object is a path, a command or a pattern, shown in monospace. */
  readonly literal: boolean;
  /** Key results: changed lines, a failing exit code, a rejection. */
  readonly facts: readonly string[];
  readonly lastText: string;
  readonly time: string;
  /** For the expanded call: who decided, and how long the call waited. */
  readonly details: readonly string[];
}

const MIN_WAIT_MS = 1000;
const LITERAL = new Set(['read', 'edit', 'delete', 'move', 'search', 'execute', 'fetch']);
/** Leading words of titles that repeat the verb. */
const REDUNDANT_VERBS: Readonly<Record<string, RegExp>> = {
  read: /^(?:read(?:ing)?(?: file)?)\b[:\s]*/i,
  edit: /^(?:edit(?:ing)?(?: file)?|writ(?:e|ing)(?: to)?(?: file)?)\b[:\s]*/i,
  delete: /^(?:delet(?:e|ing)(?: file)?|remov(?:e|ing))\b[:\s]*/i,
  execute: /^(?:run(?:ning)?|execut(?:e|ing)|shell|bash|terminal)\b(?:(?:: *)|\s+(?=`)|$)/i,
  search: /^(?:search(?:ing)?(?: for)?)\b[:\s]+/i,
  fetch: /^(?:fetch(?:ing)?)\b[:\s]+/i,
  think: /^(?:think(?:ing)?)\b[:\s]*$/i,
};

/** Labels the editor's own tools, whatever the agent calls them. */
function editorLabel(item: ToolItem, { tool, subject = '', result }: NonNullable<ToolItem['editor']>): ToolLabel {
  const verbs: Readonly<Record<string, string>> = strings.editorTools;
  const [place] = item.locations;
  const isPlace =
    place !== undefined && (subject === '' || place.path === subject || place.path.endsWith(`/${subject}`));
  return {
    verb: verbs[tool] ?? tool,
    object: isPlace ? place.label : subject,
    literal: true,
    facts: [...refusal(item), ...(result === undefined ? [] : [resultLabel(result)])],
    lastText: '',
    time: timeLabel(item),
    details: details(item),
  };
}

function resultLabel(result: NonNullable<NonNullable<ToolItem['editor']>['result']>): string {
  if ('found' in result) return strings.found(result.found);
  const { errors, warnings } = result;
  if (errors + warnings === 0) return strings.noProblems;
  return [...(errors > 0 ? [strings.errors(errors)] : []), ...(warnings > 0 ? [strings.warnings(warnings)] : [])].join(
    ', ',
  );
}

export function toolLabel(item: ToolItem): ToolLabel {
  if (item.editor) return editorLabel(item, item.editor);
  const verbs: Readonly<Record<string, string>> = strings.verbs;
  const kind = item.nested ? 'subagent' : Object.hasOwn(verbs, item.toolKind) ? item.toolKind : 'other';
  const hasVerb = kind !== 'other';
  const title = item.title.split('\n', 1)[0]!.trim();
  let object = title.replace(REDUNDANT_VERBS[kind] ?? /^$/, '').trim();
  if (/^`[^`]*`$/.test(object)) object = object.slice(1, -1);
  if (object === '') object = item.locations[0]?.label ?? '';
  const location = item.locations.find(({ path }) => path === object);
  if (location) object = location.label;
  if (item.lines !== undefined && object === item.locations[0]?.label) object = `${object}:${item.lines}`;
  return {
    verb: hasVerb ? verbs[kind]! : (item.name ?? verbs.other!),
    object: hasVerb || item.name !== object ? object : '',
    literal: LITERAL.has(kind),
    facts: [...refusal(item), ...facts(item)],
    lastText: item.toolKind === 'subagent' ? lastText(item) : '',
    time: timeLabel(item),
    details: details(item),
  };
}

function timeLabel({ at, endedAt }: ToolItem): string {
  return endedAt === undefined ? '' : formatDuration(endedAt - at);
}

function refusal({ decision }: ToolItem): string[] {
  if (decision === undefined || decision.outcome === 'allowed' || decision.outcome === 'selected') return [];
  return [strings.decisions[decision.outcome]];
}

function details({ decision, at, endedAt, waitedMs = 0 }: ToolItem): string[] {
  return [
    ...(decision ? [decisionLabel(decision)] : []),
    ...(endedAt !== undefined && waitedMs >= MIN_WAIT_MS ? [durationLabel(endedAt - at, waitedMs)] : []),
  ];
}

function decisionLabel(decision: DecisionView): string {
  if (decision.outcome === 'selected') return strings.decisions.selected(revealControls(decision.name));
  if (!('rule' in decision) || decision.rule === undefined) return strings.decisions[decision.outcome];
  const rule = revealControls(decision.rule);
  return decision.outcome === 'allowed'
    ? strings.decisions.allowedByRule(rule)
    : strings.decisions.rejectedByRule(rule);
}

function lastText({ content }: ToolItem): string {
  const last = content.at(-1);
  const text = last?.type === 'content' && last.block.type === 'text' ? last.block.text : '';
  const line = lastLines(text.slice(-400).trimEnd(), 1).replaceAll(/[*`#]/g, '').trim();
  return revealControls(line.slice(0, 160));
}

function facts(item: ToolItem): string[] {
  const words: string[] = [];
  let added = 0;
  let removed = 0;
  let diffs = 0;
  for (const content of item.content) {
    if (content.type === 'diff') {
      diffs++;
      added += content.diff.added;
      removed += content.diff.removed;
    } else if (content.type === 'terminal' && !content.terminal.running) {
      const { exitCode, signal, isStopped } = content.terminal;
      if (isStopped) words.push(strings.endedByStop);
      else if (signal) words.push(strings.signal(signal));
      else if (exitCode) words.push(strings.exitCode(exitCode));
    }
  }
  if (diffs > 1) words.push(strings.files(diffs));
  if (diffs > 0) words.push(`+${added} −${removed}`);
  return words;
}

/** Mentions the time spent waiting for the user if at least a second. */
export function durationLabel(ms: number, waitedMs = 0): string {
  const all = formatDuration(ms);
  return waitedMs < MIN_WAIT_MS ? all : strings.waitedForYou(all, formatDuration(waitedMs));
}

/** Returns the text inside a fence; agents put command output in one. */
export function withoutFence(text: string): string {
  const whole = text.trim();
  const mark = /^(?:`{3,}|~{3,})/.exec(whole)?.[0];
  const first = whole.indexOf('\n');
  const last = whole.lastIndexOf('\n');
  if (mark === undefined || first === -1 || whole.slice(last + 1).trim() !== mark) return text;
  const inner = whole.slice(first + 1, Math.max(first + 1, last));
  return inner.startsWith(mark) || inner.includes(`\n${mark}`) ? text : inner;
}
