// Projects a transcript entry for the webview: bounded, plain JSON, with everything computed that
// needs the whole entry (diffs, labels). Recomputed only when the entry changes.

import * as l10n from '@vscode/l10n';
import { formatNumber } from '../../base/localFormat';
import { localize } from '../../base/localizable';
import { head, tail } from '../../base/text';
import { at } from '../../base/untrusted';
import type {
  BlockView,
  ChangesCount,
  DecisionView,
  DiffView,
  ItemView,
  NestedView,
  TerminalView,
  ToolContentView,
  TurnView,
} from '../../panel/contract';
import type { ContentBlock, ToolContent } from '../../session/events/content';
import type { Entry, MessageEntry, SessionState, Terminal, ToolEntry, Turn } from '../../session/model/state';
import { isEnded } from '../../session/model/tools';
import { editsIn } from '../requests/editedProposal';
import type { FileChange, FragmentPlace } from '../requests/fragmentLines';
import { boundHunks, lineDiff, newEnds } from '../requests/lineDiff';
import { editorToolOf, editorToolPlace } from './editorTool';
import { gapText, noticeTexts, turnNoteText } from './ownTexts';
import { printedIn, shownContent, titleOf } from './toolCall';
import { barrierText, starterText } from './turnWords';

const MAX_TOOL_CHARS = 50_000;
const HEAD_CHARS = 10_000;
const MAX_TERMINAL_CHARS = 100_000;
const MAX_RESOURCE_CHARS = 20_000;
const MAX_URI = 10_000;
const MAX_NOW = 200;
/** Characters of base64: 9 MB. */
const MAX_MEDIA_CHARS = 12_000_000;

export interface ProjectionContext {
  readonly state: Readonly<SessionState>;
  readonly turn: (id: string) => Readonly<Turn> | undefined;
  readonly roots: readonly string[];
  readonly isOpenable: (terminalId: string) => boolean;
  /** Locates a change in its file; absent: files aren't read. */
  readonly locate?: (change: FileChange, entry: ToolEntry) => FragmentPlace | undefined;
  readonly changesOf?: (turnId: string) => ChangesCount | undefined;
  readonly offers?: (entry: MessageEntry) => { readonly canRestore?: true; readonly canEdit?: true };
  /** Returns whether the file differed from the call's diff after the call. */
  readonly isWrittenDifferently?: (entry: ToolEntry, path: string) => boolean;
}

export function projectItem(entry: Entry, context: ProjectionContext, details = false): ItemView {
  const path = context.state.nests.pathOf(entry);
  const base = {
    id: entry.id,
    path: path.length > 0 ? path.map(({ index }) => index) : undefined,
    at: entry.at,
    turnId: entry.turnId,
    late: entry.late ? (true as const) : undefined,
  };
  switch (entry.kind) {
    case 'user':
    case 'agent':
    case 'thought': {
      const edits = entry.kind === 'user' ? editsOf(entry, context.roots) : undefined;
      return {
        ...base,
        kind: entry.kind,
        content: entry.content.map(projectBlock),
        duration: entry.until - entry.at,
        dropped: entry.dropped > 0 ? entry.dropped : undefined,
        elsewhere: entry.elsewhere ? (true as const) : undefined,
        ...(entry.kind === 'user' && context.offers?.(entry)),
        ...(edits && { edits, canEdit: undefined }),
      };
    }
    case 'tool':
      return { ...base, ...projectTool(entry, context, details) };
    case 'plan':
      return {
        ...base,
        kind: 'plan',
        entries: entry.entries,
        markdown: entry.markdown !== undefined ? head(entry.markdown, MAX_TOOL_CHARS) : undefined,
        uri: entry.uri !== undefined ? head(entry.uri, MAX_URI) : undefined,
        removed: entry.removed ? (true as const) : undefined,
      };
    case 'notice': {
      const { severity, detail } = entry;
      const { title, text, action } = noticeTexts(entry);
      return {
        ...base,
        kind: 'notice',
        severity,
        title,
        text,
        detail: detail ? head(detail, MAX_TOOL_CHARS) : undefined,
        json: entry.raw !== undefined ? toJson(entry.raw) : undefined,
        action,
      };
    }
    case 'gap': {
      const { state, gapId } = entry;
      return {
        ...base,
        kind: 'gap',
        text: gapText(entry),
        loading: state === 'loading' || undefined,
        retryId: state === 'retryable' || state === 'unloaded' ? gapId : undefined,
        unloaded: state === 'unloaded' || undefined,
      };
    }
    case 'error': {
      const { code, text, hint, stderr, actions } = entry;
      return {
        ...base,
        kind: 'error',
        code,
        text: localize(text),
        hint: hint ? localize(hint) : undefined,
        stderr: stderr || undefined,
        actions: actions ? actions.map(({ id, label }) => ({ id, label: localize(label) })) : undefined,
      };
    }
    case 'turn_end': {
      const turn = context.turn(entry.turnId);
      return {
        ...base,
        kind: 'turn_end',
        turn: turn
          ? projectTurn(turn, context.changesOf?.(turn.id))
          : { id: entry.turnId, number: 0, origin: 'user', startedAt: entry.at, tools: 0, files: 0 },
      };
    }
  }
}

function editsOf({ content: [said, ...more] }: MessageEntry, roots: readonly string[]): DiffView | undefined {
  const edits = said?.type === 'text' && more.length === 0 ? editsIn(said.text) : undefined;
  if (!edits) return undefined;
  return { path: edits.path, label: labelOf(edits.path, roots), isNew: false, ...boundHunks(edits.hunks) };
}

export function projectTurn(turn: Readonly<Turn>, changes?: ChangesCount): TurnView {
  const { stopReason, barrier, note } = turn;
  return {
    id: turn.id,
    number: turn.number,
    origin: turn.origin,
    startedAt: turn.startedAt,
    tools: turn.tools,
    files: turn.files.size,
    endedAt: turn.endedAt,
    waitedMs: turn.waitedMs,
    stopReason,
    barrier,
    starter: starterText(turn),
    ending: stopReason && barrierText(barrier, stopReason, note !== undefined),
    note: note ? turnNoteText(note) : undefined,
    interrupted: turn.interrupted,
    isEmpty: isEmpty(turn) ? (true as const) : undefined,
    tokens: turn.tokens,
    tokenParts: turn.tokenParts,
    changes,
  };
}

function isEmpty({ origin, stopReason, replayed, firstOutputAt }: Readonly<Turn>): boolean {
  return origin === 'user' && stopReason === 'end_turn' && !replayed && firstOutputAt === undefined;
}

function projectTool(entry: ToolEntry, context: ProjectionContext, details: boolean) {
  const { subagentId, toolCallId } = entry;
  const editor = editorToolOf(entry);
  const locations = editor && entry.locations.length === 0 ? editorToolPlace(entry, context.roots) : entry.locations;
  return {
    kind: 'tool' as const,
    title: head(titleOf(entry), 2000),
    toolKind: entry.toolKind,
    // The agent's own change was rejected, because the user made it.
    status: entry.decision?.isEdited && isEnded(entry.status) ? ('completed' as const) : entry.status,
    content: projectContent(entry, context),
    locations: locations.map((location) => ({ ...location, label: labelOf(location.path, context.roots) })),
    hasRaw: entry.rawInput !== undefined || entry.rawOutput !== undefined,
    lines: linesOfPlace(entry),
    editor,
    nested: nestedOf(entry, context),
    name: entry.name || undefined,
    rawInput: details && entry.rawInput !== undefined ? toJson(entry.rawInput) : undefined,
    rawOutput: details && entry.rawOutput !== undefined ? toJson(entry.rawOutput) : undefined,
    endedAt: entry.endedAt,
    waitedMs: entry.waitedMs,
    decision: decisionOf(entry),
    stop: isStoppable(entry)
      ? ({ kind: subagentId === undefined ? 'tool' : 'subagent', id: subagentId ?? toolCallId } as const)
      : undefined,
  };
}

function nestedOf(entry: ToolEntry, { state }: ProjectionContext): NestedView | undefined {
  const counts = state.nests.countsOf(entry);
  return counts && { ...counts, ...(counts.now !== undefined && { now: head(counts.now, MAX_NOW) }) };
}

export function isStoppable({ canCancel, status }: Readonly<ToolEntry>): boolean {
  return canCancel === true && !isEnded(status);
}

/**
 * From a single place, or input fields that count from 1 (some agents count a lone `offset` from
 * 0).
 */
function linesOfPlace({ toolKind, locations, rawInput }: ToolEntry): string | undefined {
  if ((toolKind !== 'read' && toolKind !== 'search') || locations.length !== 1) return undefined;
  const number = (...names: readonly string[]): number | undefined =>
    names.map((name) => at(rawInput, name)).find((value) => Number.isSafeInteger(value)) as number | undefined;
  const range = at(rawInput, 'view_range');
  const [start, end] = Array.isArray(range)
    ? range
    : [number('start_line', 'startLine'), number('end_line', 'endLine')];
  const first = locations[0]?.line ?? start;
  const limit = number('limit');
  const last = end ?? (limit === undefined || first === undefined ? undefined : first + limit - 1);
  if (!Number.isSafeInteger(first) || first < 1) return undefined;
  return Number.isSafeInteger(last) && last > first ? `${first}–${last}` : `${first}`;
}

export function decisionOf({ decision }: ToolEntry): DecisionView | undefined {
  if (!decision) return undefined;
  if (decision.outcome === 'cancelled') return { outcome: decision.by === 'user' ? 'dismissed' : 'withdrawn' };
  if (decision.isEdited) return { outcome: 'allowedEdited' };
  const { rule } = decision;
  const by = rule === undefined ? {} : { rule };
  if (decision.kind?.startsWith('reject')) return { outcome: 'rejected', ...by };
  if (decision.kind?.startsWith('allow')) return { outcome: 'allowed', ...by };
  return { outcome: 'selected', name: decision.name ?? '' };
}

function projectContent(entry: ToolEntry, context: ProjectionContext): ToolContentView[] {
  const parts = shownContent(entry);
  const content = parts.map((part) => projectPart(part, context, entry));
  return content.map((part, at) => {
    const source = parts[at];
    if (part.type !== 'diff' || source?.type !== 'diff') return part;
    const nth = content
      .slice(0, at)
      .filter((other) => other.type === 'diff' && other.diff.path === part.diff.path).length;
    const startLine = entry.locations.filter(({ path }) => path === source.path)[nth]?.line;
    const place = source.hunks ? undefined : context.locate?.(source, entry);
    const withoutMiddleIfLong = place && place.whole !== source ? projectDiff(place.whole, context.roots) : part.diff;
    const diff = numbered(withoutMiddleIfLong, source, lineOfPart(source, startLine) ?? place?.line);
    const isOther = context.isWrittenDifferently?.(entry, source.path) === true;
    return { ...part, diff: isOther ? { ...diff, writtenDifferently: true } : diff };
  });
}

/**
 * A text with fewer lines than the line number of the call's place is the part of the file from
 * there.
 */
function lineOfPart({ oldText = '', newText }: FileChange, startLine = 1): number | undefined {
  return startLine > Math.max(linesOf(oldText, startLine), linesOf(newText, startLine)) ? startLine : undefined;
}

/** Numbers the lines of a diff as in the file, if known. Patches have their own numbers. */
function numbered(diff: DiffView, { oldText, hunks }: FileChange, line: number | undefined): DiffView {
  if (hunks || oldText === undefined) return diff;
  if (line === undefined) return { ...diff, unnumbered: true };
  const moved = diff.hunks.map(({ oldStart, newStart, lines }) => ({
    oldStart: oldStart + line - 1,
    newStart: newStart + line - 1,
    lines,
  }));
  return { ...diff, hunks: moved };
}

function linesOf(text: string, limit: number): number {
  let count = 1;
  for (let at = text.indexOf('\n'); at !== -1 && count < limit; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

function projectPart(part: ToolContent, context: ProjectionContext, { rawOutput }: ToolEntry): ToolContentView {
  switch (part.type) {
    case 'content':
      return {
        type: 'content',
        block: part.block.type === 'text' ? { type: 'text', text: whole(part.block.text) } : projectBlock(part.block),
        cut: isCut(part.block) ? (true as const) : undefined,
      };
    case 'diff':
      return { type: 'diff', diff: projectDiff(part, context.roots) };
    case 'terminal': {
      const terminal = projectTerminal(part.terminalId, context.state.terminals.get(part.terminalId), context);
      if (terminal.output !== '' || terminal.running || terminal.openable) return { type: 'terminal', terminal };
      return { type: 'terminal', terminal: { ...terminal, output: tail(printedIn(rawOutput), MAX_TERMINAL_CHARS) } };
    }
    case 'unknown':
      return { type: 'raw', kind: part.kind, json: toJson(part.raw) };
  }
}

export function projectTerminal(id: string, terminal: Terminal | undefined, context: ProjectionContext): TerminalView {
  if (!terminal) return { id, output: '', truncated: false, running: true, openable: false };
  const { command, output, exit, released, isStopped } = terminal;
  return {
    id,
    output: tail(output, MAX_TERMINAL_CHARS),
    truncated: terminal.truncated || output.length > MAX_TERMINAL_CHARS,
    running: !exit && !released,
    openable: context.isOpenable(id),
    command: command || undefined,
    exitCode: exit?.exitCode,
    signal: exit?.signal ? exit.signal : undefined,
    isStopped,
  };
}

/** Returns new terminal output, cut to what the webview keeps. */
export function terminalAppend(text: string): { text: string; drop: number } {
  return text.length > MAX_TERMINAL_CHARS
    ? { text: tail(text, MAX_TERMINAL_CHARS), drop: Number.MAX_SAFE_INTEGER }
    : { text, drop: 0 };
}

export function projectBlock(block: ContentBlock): BlockView {
  if (block.type === 'unknown') {
    const { type, kind, raw, forAgent } = block;
    return { type, kind, json: toJson(raw), forAgent };
  }
  if (block.type === 'image' || block.type === 'audio') {
    if (block.data.length <= MAX_MEDIA_CHARS) return block;
    return { type: 'tooLarge', kind: block.type, bytes: bytesOf(block.data) };
  }
  if (block.type !== 'resource') return block;
  const { text, blob, ...rest } = block;
  if (text !== undefined) return { ...rest, text: head(text, MAX_RESOURCE_CHARS) };
  return blob === undefined ? rest : { ...rest, bytes: bytesOf(blob) };
}

function bytesOf(base64: string): number {
  // From the end: a regular expression would rescan everything that looks like padding.
  let end = base64.length;
  while (end > 0 && base64[end - 1] === '=') end -= 1;
  return Math.floor((end * 3) / 4);
}

export function whole(text: string): string {
  return text.length <= MAX_TOOL_CHARS ? text : withoutMiddle(text);
}

function isCut(block: ContentBlock): boolean {
  if (block.type === 'text') return block.text.length > MAX_TOOL_CHARS;
  return block.type === 'resource' && (block.text?.length ?? 0) > MAX_RESOURCE_CHARS;
}

/** Keeps both ends, cut at line breaks: failures are reported at the end. */
function withoutMiddle(text: string): string {
  const first = head(text, HEAD_CHARS);
  const last = tail(text, MAX_TOOL_CHARS - HEAD_CHARS);
  const headEnd = first.lastIndexOf('\n') + 1 || first.length;
  const lineBreak = last.indexOf('\n');
  const tailStart = lineBreak === -1 ? 0 : lineBreak + 1;
  const omitted = text.length - headEnd - (last.length - tailStart);
  const separator = first[headEnd - 1] === '\n' ? '' : '\n';
  const lines = breaksIn(text, headEnd, text.length - (last.length - tailStart));
  const note =
    lines > 1
      ? l10n.t('… {0} lines not shown …', formatNumber(lines))
      : l10n.t('… {0} characters not shown …', formatNumber(omitted));
  return `${first.slice(0, headEnd)}${separator}${note}\n${last.slice(tailStart)}`;
}

function breaksIn(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

function projectDiff(diff: FileChange, roots: readonly string[]): DiffView {
  const { path, oldPath, operation } = diff;
  const to = labelOf(path, roots);
  const name = oldPath === undefined ? to : `${labelOf(oldPath, roots)} → ${to}`;
  const label =
    operation === 'delete' ? l10n.t('{0} (deleted)', name) : operation === 'copy' ? l10n.t('{0} (copy)', name) : name;
  return { path, label, isNew: diff.oldText === undefined && operation !== 'delete', ...comparisonOf(diff) };
}

type Comparison = Omit<DiffView, 'path' | 'label' | 'isNew'>;

/** By the content, which never changes: every snapshot includes the newest ones again. */
const comparisons = new WeakMap<FileChange, Comparison>();

function comparisonOf(diff: FileChange): Comparison {
  const cached = comparisons.get(diff);
  if (cached) return cached;
  const { hunks, oldText = '', newText } = diff;
  const found = hunks ? boundHunks(hunks) : lineDiff(oldText, newText);
  const comparison = found ?? { added: 0, removed: 0, ...newEnds(oldText, newText), tooMany: true as const };
  comparisons.set(diff, comparison);
  return comparison;
}

export function labelOf(path: string, roots: readonly string[]): string {
  for (const root of roots) {
    const prefix = /[\\/]$/.test(root) ? root : `${root}${root.includes('\\') ? '\\' : '/'}`;
    if (path.startsWith(prefix)) return path.slice(prefix.length);
  }
  return path;
}

export function toJson(value: unknown): string {
  return whole(typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? String(value)));
}
