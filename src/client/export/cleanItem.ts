// Removes secrets from the entries of an export, as from all text that leaves the extension.
import { REDACTED } from '../../base/knownSecrets';
import { redact } from '../../base/redact';
import type { SessionItem } from './sessionItems';

/** Of tool calls and notices: values of any shape. Secrets in them are known by their names, too. */
const RAW = new Set(['input', 'output', 'raw']);
/** What is no text: pictures and sounds. Looking through megabytes of them takes long. */
const BASE64 = /^[A-Za-z0-9+/=\s]*$/;

/** Returns the entry without secrets. @param clean removes them from a text; tests replace it */
export function cleanItem(item: SessionItem, clean: (text: string) => string = redact): SessionItem {
  return cleanFields(item, clean);
}

function cleanFields<T extends object>(fields: T, clean: (text: string) => string): T {
  const cleaned = Object.entries(fields).map(([name, value]: [string, unknown]) => [
    name,
    name === 'type' ? value : cleanValue(name, value, clean),
  ]);
  return Object.fromEntries(cleaned) as T;
}

function cleanValue(name: string, value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') {
    const isMedia = (name === 'data' || name === 'blob') && BASE64.test(value);
    return isMedia ? value : clean(value);
  }
  if (RAW.has(name)) return cleanRaw(value, clean);
  if (Array.isArray(value)) return value.map((one) => cleanValue('', one, clean));
  return typeof value === 'object' && value !== null ? cleanFields(value, clean) : value;
}

function cleanRaw(value: unknown, clean: (text: string) => string): unknown {
  if (value === undefined) return undefined;
  try {
    const text = JSON.stringify(value);
    const cleaned = clean(text);
    if (cleaned === text) return value;
    try {
      return JSON.parse(cleaned);
    } catch {
      // What looks like a secret may be more than a string, which breaks the JSON.
      return cleaned;
    }
  } catch {
    // Nested too deeply to be written.
    return REDACTED;
  }
}
