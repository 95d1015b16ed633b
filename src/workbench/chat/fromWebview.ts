// Validates messages from the webview, which is not trusted because it renders agents' text.
import { at } from '../../base/untrusted';
import { type FromWebview, fromWebview, MAX_ID } from '../../panel/fromWebview';

const BEFORE_SESSION: ReadonlySet<string> = new Set([
  'wake',
  'send',
  'unsent',
  'draft',
  'command',
  'attachImage',
  'attachFile',
  'find',
  'findIn',
  'endFind',
  'timeline',
]);

/** Why a message was refused, with its ids, so that the page can say what wasn't done. */
export interface Refusal {
  readonly refused: 'too-large' | 'invalid';
  readonly type: string;
  readonly clientId?: string;
  readonly id?: string;
}

export function readFromWebview(message: unknown): FromWebview | Refusal {
  const parsed = fromWebview.safeParse(message);
  if (!parsed.success) {
    const tooLarge = parsed.error.issues.some(({ code }) => code === 'too_big');
    return { refused: tooLarge ? 'too-large' : 'invalid', ...idsOf(message) };
  }
  const { data } = parsed;
  if ('key' in data && data.key === null && !BEFORE_SESSION.has(data.type))
    return { refused: 'invalid', ...idsOf(message) };
  return data as FromWebview;
}

export function idsOf(message: unknown): Omit<Refusal, 'refused'> {
  const [type, clientId, id] = ['type', 'clientId', 'id'].map((name) => {
    const value = at(message, name);
    return typeof value === 'string' && value.length <= MAX_ID ? value : undefined;
  });
  return { type: type ?? 'unknown', clientId, id };
}
