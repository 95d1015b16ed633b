// Classifies a line on the wire: request, response or notification of JSON-RPC, a request to an
// HTTP agent, or text.
import { oneLine } from '../base/text';
import { at } from '../base/untrusted';
import type { TrafficRow } from '../panel/trafficContract';
import type { TrafficEntry, WireMessage } from './trafficLog';

/** Maximum characters of a method or of text in a row. */
const MAX_METHOD = 200;
/** Characters at the beginning of a truncated message that are searched for its method and id. */
const MAX_LOOK = 2_000;

export type LineFacts = Pick<TrafficRow, 'kind' | 'method' | 'id' | 'isError'>;

/** Returns the facts of a line. */
export function readFacts(
  { kind, text, length }: TrafficEntry,
  whole: WireMessage | undefined,
  clean: (text: string) => string,
): LineFacts {
  if (kind === 'stderr' || kind === 'noise') return textFacts(text, clean, kind === 'noise');
  const message = length === text.length ? whole : beginning(text);
  if (message === undefined) return httpFacts(text, kind) ?? textFacts(text, clean, false);
  const { id, method } = message;
  const hasId = typeof id === 'string' || typeof id === 'number';
  const shownId = hasId ? { id: oneLine(clean(String(id)), MAX_METHOD) } : {};
  if (typeof method === 'string') {
    const name = oneLine(clean(method), MAX_METHOD);
    return { kind: hasId ? 'request' : 'notification', method: detail(name, message), ...shownId };
  }
  if (hasId || 'result' in message || 'error' in message) {
    const isError = message.error !== undefined && message.error !== null;
    return { kind: 'response', method: '', ...shownId, isError: isError || undefined };
  }
  // An event of an HTTP agent.
  const type = at(message, 'type');
  return { kind: 'notification', method: typeof type === 'string' ? oneLine(clean(type), MAX_METHOD) : '' };
}

function detail(method: string, message: unknown): string {
  const update = at(message, 'params', 'update', 'sessionUpdate');
  return method === 'session/update' && typeof update === 'string' ? `${method} ${oneLine(update, 60)}` : method;
}

function textFacts(text: string, clean: (text: string) => string, isError: boolean): LineFacts {
  const method = oneLine(clean(text.slice(0, MAX_LOOK)), MAX_METHOD);
  return { kind: 'text', method, isError: isError || undefined };
}

function httpFacts(text: string, kind: 'in' | 'out'): LineFacts | undefined {
  const found = /^(?:(\d{3}|\(no answer\)) )?((?:GET|HEAD|POST|PUT|PATCH|DELETE) \S{1,190})/.exec(text);
  const [, status, method] = found ?? [];
  if (method === undefined || (kind === 'in') !== (status !== undefined)) return undefined;
  if (status === undefined) return { kind: 'request', method };
  return { kind: 'response', method, isError: !/^[123]/.test(status) || undefined };
}

function beginning(text: string): WireMessage | undefined {
  const start = text.slice(0, MAX_LOOK);
  if (!/^\s*\{/.test(start)) return undefined;
  const method = /"method"\s*:\s*"([^"\\]{1,200})"/.exec(start)?.[1];
  const [, word, number] = /"id"\s*:\s*(?:"([^"\\]{1,200})"|(-?\d{1,15}))/.exec(start) ?? [];
  const id = word ?? (number === undefined ? undefined : Number(number));
  const isError = method === undefined && /"error"\s*:\s*\{/.test(start);
  return {
    method,
    id,
    error: isError ? {} : undefined,
  };
}
