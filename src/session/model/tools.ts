// Tool calls, upserted by id in any order: updates may precede the call, and a call may be
// announced twice or never (protocol v1 "Tool Calls").
import { grown } from '../../base/text';
import { boundContent, boundRaw, MAX_TOOL_PARTS, MAX_TOOL_TEXT, partSize, shortContent } from '../events/bounds';
import type { ToolContent, ToolStatus } from '../events/content';
import type { EventOf } from '../events/event';
import { keepInput } from './callInput';
import { currentTurn, type ModelContext } from './context';
import type { Entry, ToolEntry } from './state';

type ToolEvent = EventOf<'tool_call'>;

/** Characters kept of each raw value of a shortened call. */
const SHORT_RAW_CHARS = 2000;

export function isEnded(status: ToolStatus): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

export function applyTool(context: ModelContext, event: ToolEvent, at: number): void {
  const { state } = context;
  const known = state.entries[context.tools.get(event.toolCallId) ?? -1];
  // An id announced again in a later turn is a new call, as some agents number calls per turn. So
  // is one announced again after its end, with work to do: others give all calls one id.
  const turn = currentTurn(state);
  const isOfOther = known !== undefined && turn !== undefined && known.turnId !== turn.id;
  // Without a running turn, it may be a replay.
  const isInRunning = known?.kind === 'tool' && state.turn !== undefined && known.turnId === state.turn.id;
  // Agents don't ask about an ended call, so this is an unannounced call that reuses the id.
  const asksForNewCall = event.asks === true && isOfOther && known.kind === 'tool' && isEnded(known.status);
  const reused = asksForNewCall || (event.announced && (isOfOther || (isInRunning && isNewCall(known, event))));
  if (known?.kind === 'tool' && !reused) {
    const { status, title, parent } = known;
    patch(known, event, at);
    measure(context, known, event);
    track(context, known);
    nest(context, known, title !== known.title);
    noteQuestions(context, known);
    if (known.status === status && known.parent === parent && isOnlyMeta(event)) return;
    context.note((changes) => changes.entry(known.index));
    return;
  }
  create(context, event, at);
}

function isNewCall(known: ToolEntry, event: ToolEvent): boolean {
  const { status, title, rawInput, isUnannounced } = known;
  const { patch: announced } = event;
  if (!isEnded(status) || isUnannounced) return false;
  // Some agents announce a stopped call once more, without details.
  if (status === 'cancelled' && hasLessDetail(known, event)) return false;
  // A call without input may be announced once more, with details.
  if (rawInput === undefined && announced.status == null) return false;
  const input = rawInput === undefined ? undefined : announced.rawInput;
  if (input !== undefined && JSON.stringify(input) !== JSON.stringify(rawInput)) return true;
  // An ended call may get a better title.
  const isOpen = announced.status == null || !isEnded(announced.status);
  return isOpen && (announced.status != null || (announced.title != null && announced.title !== title));
}

/** Returns whether an announcement has less detail than the known call. */
function hasLessDetail({ title, toolKind, rawInput }: ToolEntry, { announced, patch: fields }: ToolEvent): boolean {
  if (!announced || title === '' || (fields.kind ?? 'other') !== 'other' || !isEmpty(fields.rawInput)) return false;
  return toolKind !== 'other' || !isEmpty(rawInput);
}

function isEmpty(input: unknown): boolean {
  return input == null || input === '' || (typeof input === 'object' && Object.keys(input).length === 0);
}

export function addToolContent(context: ModelContext, event: EventOf<'tool_content'>, at: number): void {
  const { toolCallId, part } = event;
  const known = context.state.entries[context.tools.get(toolCallId) ?? -1];
  if (known?.kind !== 'tool') {
    create(context, { type: 'tool_call', toolCallId, patch: { content: [part] }, announced: false }, at);
    return;
  }
  const joined = joinText(known.content, part);
  if (!joined && known.content.length >= MAX_TOOL_PARTS) return;
  known.content = joined ?? boundContent([...known.content, part]);
  shortenOldest(context, context.toolSizes.add(known, partSize(part)));
  track(context, known);
  noteQuestions(context, known);
  context.note((changes) => changes.entry(known.index));
}

function noteQuestions(context: ModelContext, { toolCallId }: ToolEntry): void {
  for (const permission of context.state.permissions.values())
    if (permission.toolCallId === toolCallId) context.note((changes) => changes.part('permissions'));
}

/** Appends text to the content's last block; undefined if the two cannot be joined. */
function joinText(content: readonly ToolContent[], part: ToolContent): readonly ToolContent[] | undefined {
  const last = content.at(-1);
  if (part.type !== 'content' || part.block.type !== 'text') return undefined;
  if (last?.type !== 'content' || last.block.type !== 'text') return undefined;
  const text = grown(last.block.text, part.block.text);
  const parts: ToolContent[] = [...content.slice(0, -1), { type: 'content', block: { type: 'text', text } }];
  // Trimming on every chunk would copy a megabyte, so let the text grow by a quarter first.
  return text.length > MAX_TOOL_TEXT * 1.25 ? boundContent(parts) : parts;
}

function create(context: ModelContext, event: ToolEvent, at: number): void {
  const { state } = context;
  const index = context.push((base) => {
    const entry: ToolEntry = {
      ...base,
      kind: 'tool',
      toolCallId: event.toolCallId,
      isUnannounced: !event.announced || undefined,
      title: '',
      toolKind: 'other',
      status: 'pending',
      content: [],
      locations: [],
    };
    patch(entry, event, at);
    return entry;
  }, at);
  context.tools.set(event.toolCallId, index);
  const turn = currentTurn(state);
  if (turn) turn.tools++;
  const entry = state.entries[index];
  if (entry?.kind !== 'tool') return;
  measure(context, entry, event);
  track(context, entry);
  beginNest(context, entry);
}

export function beginNest(context: ModelContext, entry: ToolEntry): void {
  const { nests } = context.state;
  const changed = nests.announce(entry.toolCallId, entry, isOpen);
  for (const { index } of changed) context.note((changes) => changes.entry(index));
  nest(context, entry, false);
}

export function nest(context: ModelContext, entry: ToolEntry, isRenamed: boolean): void {
  const { nests } = context.state;
  const { parent } = entry;
  if (parent === undefined) return;
  // The subagent's next text is a new message.
  context.nestedMessages.delete(parent);
  const changed = nests.parentOf(entry)
    ? nests.touch(entry, isOpen(entry), isRenamed)
    : nests.add(entry, parent, callOf(context, parent), isOpen(entry));
  for (const { index } of changed) context.note((changes) => changes.entry(index));
}

export function callOf(context: ModelContext, toolCallId: string): ToolEntry | undefined {
  const entry = context.state.entries[context.tools.get(toolCallId) ?? -1];
  return entry?.kind === 'tool' ? entry : undefined;
}

function isOpen(entry: Entry): boolean {
  return entry.kind === 'tool' && !isEnded(entry.status);
}

function measure(context: ModelContext, entry: ToolEntry, { patch: fields }: ToolEvent): void {
  if (fields.content === undefined && fields.rawInput === undefined && fields.rawOutput === undefined) return;
  shortenOldest(context, context.toolSizes.set(entry));
}

export function shortenOldest(context: ModelContext, tooMuch: readonly ToolEntry[]): void {
  for (const entry of tooMuch) {
    entry.content = shortContent(entry.content);
    if (entry.rawInput !== undefined) entry.rawInput = boundRaw(entry.rawInput, SHORT_RAW_CHARS);
    if (entry.rawOutput !== undefined) entry.rawOutput = boundRaw(entry.rawOutput, SHORT_RAW_CHARS);
    context.note((changes) => changes.entry(entry.index));
  }
}

/** Cancels the calls that a turn left open, except background work. */
export function cancelOpenTools(context: ModelContext, at: number): void {
  for (const index of context.openTools) {
    const entry = context.state.entries[index];
    if (entry?.kind === 'tool') cancelTool(context, entry, at);
  }
  context.openTools.clear();
}

export function cancelTool(context: ModelContext, entry: ToolEntry, at: number): void {
  const isInBackground = context.state.background.some(
    ({ type, id }) => type === 'tool_call' && id === entry.toolCallId,
  );
  if (isInBackground || isEnded(entry.status)) return;
  entry.status = 'cancelled';
  entry.endedAt = at;
  nest(context, entry, false);
  context.note((changes) => changes.entry(entry.index));
}

export function noteDecision(context: ModelContext, event: EventOf<'permission_closed'>): void {
  const permission = context.state.permissions.get(event.permissionId);
  const entry =
    permission?.toolCallId === undefined
      ? undefined
      : context.state.entries[context.tools.get(permission.toolCallId) ?? -1];
  if (!permission || entry?.kind !== 'tool') return;
  const option = permission.options.find((candidate) => candidate.optionId === event.optionId);
  entry.decision = {
    outcome: event.outcome,
    by: event.by,
    ...(option && { name: option.name, kind: option.kind }),
    rule: event.rule,
    ...(event.isEdited && { isEdited: true }),
  };
  // Not every agent reports that the call now runs.
  if (entry.status === 'pending' && option?.kind.startsWith('allow')) entry.status = 'in_progress';
  context.note((changes) => changes.entry(entry.index));
}

function patch(entry: ToolEntry, event: ToolEvent, at: number): void {
  const { announced } = event;
  if (announced) delete entry.isUnannounced;
  const { title: _title, kind: _kind, rawInput: _input, ...rest } = event.patch;
  const fields = keepInput(entry, hasLessDetail(entry, event) ? rest : event.patch, event.asks === true);
  if (fields.title) entry.title = fields.title;
  else if (fields.title === null) entry.title = '';
  if (fields.name === null) delete entry.name;
  else if (fields.name !== undefined) entry.name = fields.name;
  if (fields.kind !== undefined) entry.toolKind = fields.kind ?? 'other';
  if (fields.status !== undefined) setStatus(entry, fields.status ?? 'pending', announced, at);
  // A late announcement with empty lists must not discard earlier updates.
  if (fields.content && !(announced && fields.content.length === 0))
    entry.content = withAdopted(entry, boundContent(fields.content));
  if (fields.locations && !(announced && fields.locations.length === 0))
    entry.locations = fields.locations.slice(0, MAX_TOOL_PARTS);
  if (fields.parent !== undefined) entry.parent ??= fields.parent;
  if (fields.canCancel !== undefined) entry.canCancel = fields.canCancel;
  if (fields.content === null) entry.content = withAdopted(entry, []);
  if (fields.locations === null) entry.locations = [];
  if (fields.rawInput === null) delete entry.rawInput;
  else if (fields.rawInput !== undefined) entry.rawInput = boundRaw(fields.rawInput);
  if (fields.rawOutput === null) delete entry.rawOutput;
  else if (fields.rawOutput !== undefined) entry.rawOutput = boundRaw(fields.rawOutput);
}

/**
 * Sets the status unless that would reopen a finished call: announcements and "in progress" can
 * arrive late. A status of the agent replaces "cancelled", which the client assumed.
 */
function setStatus(entry: ToolEntry, status: ToolStatus, announced: boolean, at: number): void {
  const ended = isEnded(entry.status);
  if (ended && !isEnded(status)) return;
  if (announced && entry.status === 'in_progress' && status === 'pending') return;
  entry.status = status;
  if (isEnded(status)) entry.endedAt = at;
}

function track(context: ModelContext, entry: ToolEntry): void {
  const turn = currentTurn(context.state);
  if (isEnded(entry.status)) context.openTools.delete(entry.index);
  else if (!turn || entry.turnId === turn.id) context.openTools.add(entry.index);
  for (const part of entry.content) {
    if (part.type === 'diff' && entry.status === 'completed') turn?.files.add(part.path);
    if (part.type !== 'terminal') continue;
    if (!entry.adopted?.includes(part.terminalId)) disown(context, part.terminalId);
    const entryIndexes = context.terminalShownIn.get(part.terminalId) ?? new Set();
    entryIndexes.add(entry.index);
    context.terminalShownIn.set(part.terminalId, entryIndexes);
  }
}

export function adoptTerminal(context: ModelContext, toolCallId: string, terminalId: string): void {
  const entry = callOf(context, toolCallId);
  if (!entry || context.terminalShownIn.get(terminalId)?.size) return;
  entry.adopted = [...(entry.adopted ?? []), terminalId];
  entry.content = withAdopted(entry, entry.content);
  track(context, entry);
  context.note((changes) => changes.entry(entry.index));
}

function withAdopted({ adopted = [] }: ToolEntry, content: readonly ToolContent[]): readonly ToolContent[] {
  const missing = adopted.filter((id) => !content.some((part) => part.type === 'terminal' && part.terminalId === id));
  return missing.length === 0
    ? content
    : [...content, ...missing.map((terminalId) => ({ type: 'terminal', terminalId }) as const)];
}

function disown(context: ModelContext, terminalId: string): void {
  const shownIn = context.terminalShownIn.get(terminalId);
  for (const index of shownIn ?? []) {
    const entry = context.state.entries[index];
    if (entry?.kind !== 'tool' || !entry.adopted?.includes(terminalId)) continue;
    entry.adopted = entry.adopted.filter((id) => id !== terminalId);
    entry.content = entry.content.filter((part) => part.type !== 'terminal' || part.terminalId !== terminalId);
    shownIn?.delete(index);
    context.note((changes) => changes.entry(index));
  }
}

function isOnlyMeta(event: ToolEvent): boolean {
  return !event.announced && Object.values(event.patch).every((value) => value === undefined);
}
