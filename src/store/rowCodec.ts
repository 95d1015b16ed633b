// Events as columns: JSON text, deflated where that saves room. What is read back may be damaged, and is never trusted.
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { SessionEvent } from '../session/event';

/** Characters of the JSON of one event; a picture fits. A larger event is replaced by a notice that says so. */
const MAX_EVENT_CHARS = 32 * 1024 * 1024;
/** Below this many characters a deflated row saves no page. */
const MIN_DEFLATED = 700;
/** Above this many characters deflating would hold up the extension host for more than a few milliseconds. */
const MAX_DEFLATED = 256 * 1024;
/** The same of a terminal, once a second at most: all that is kept of its lines fits, as JSON. Few texts shrink as much. */
const MAX_DEFLATED_TERMINAL = 2.5 * 1024 * 1024;
/** Fast; outputs of tools shrink to a third or less at any level. */
const LEVEL = 1;

/** The column of an event. Never throws: an event without a JSON text, or with too much of it, becomes a notice. */
export function encode(event: SessionEvent): string | Uint8Array {
  const json = toJson(event);
  const most = event.type === 'terminal' ? MAX_DEFLATED_TERMINAL : MAX_DEFLATED;
  if (json.length < MIN_DEFLATED || json.length > most) return json;
  const deflated = deflateRawSync(json, { level: LEVEL });
  return deflated.length < json.length * 0.9 ? deflated : json;
}

/** The event of a column; undefined where it is damaged. */
export function decode(column: unknown): SessionEvent | undefined {
  try {
    const value: unknown = JSON.parse(textOfColumn(column) ?? '');
    return isEvent(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function textOfColumn(column: unknown): string | undefined {
  if (typeof column === 'string') return column;
  if (!(column instanceof Uint8Array)) return undefined;
  return inflateRawSync(column, { maxOutputLength: 4 * MAX_DEFLATED_TERMINAL }).toString();
}

function toJson(event: SessionEvent): string {
  let problem = 'it cannot be written as JSON';
  try {
    const json = JSON.stringify(event);
    if (json.length <= MAX_EVENT_CHARS) return json;
    problem = `it has ${json.length} characters`;
  } catch {
    // The notice says it.
  }
  const notice: SessionEvent = {
    type: 'notice',
    severity: 'warning',
    title: 'A part of this session was not kept',
    description: `An event of kind ${event.type}: ${problem}.`,
    own: true,
  };
  return JSON.stringify(notice);
}

function isEvent(value: unknown): value is SessionEvent {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
