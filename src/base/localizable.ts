// Texts that are stored or passed on before they are shown: an English key and its arguments. They
// are translated when shown.
import * as l10n from '@vscode/l10n';
import { head } from './text';

export interface Localizable {
  readonly key: string;
  readonly args: readonly LocalizableArg[];
  readonly inner?: true;
}

type LocalizableArg = string | number | Localizable;

export type LocalizableText = string | Localizable;

const MAX_DEPTH = 8;
const MAX_KEY = 1000;
const MAX_ARGS = 20;

/** `npm run l10n` extracts the key from the call, so it must be a literal. */
export function localizable(key: string, ...args: readonly LocalizableArg[]): Localizable {
  return { key, args };
}

export function framed(frame: string, ...args: readonly LocalizableArg[]): Localizable {
  return { key: frame, args };
}

export function lines(texts: readonly LocalizableText[]): LocalizableText {
  return framed(texts.map((_text, index) => `{${index}}`).join('\n'), ...texts);
}

export function localize(text: LocalizableText): string {
  return formatText(text, (key, args) => l10n.t(key, ...args));
}

export function inEnglish(text: LocalizableText): string {
  return formatText(text, (key, args) => key.replace(/\{(\d+)\}/g, (gap, index) => args[Number(index)] ?? gap));
}

export function withoutFullStop(text: LocalizableText): LocalizableText {
  return typeof text === 'string' ? text.replace(/\.$/, '') : { ...text, inner: true };
}

export function mapForeign(text: LocalizableText, change: (foreign: string) => string): LocalizableText {
  if (typeof text === 'string') return change(text);
  const args = text.args.map((arg) => (typeof arg === 'number' ? arg : mapForeign(arg, change)));
  return { ...text, args };
}

export function boundText(text: LocalizableText, maxChars: number, depth = 0): LocalizableText {
  if (typeof text === 'string') return head(text, maxChars);
  if (depth === 0 && !isLocalizable(text)) return '';
  const args = text.args.slice(0, MAX_ARGS).map((arg) => {
    if (typeof arg === 'number') return arg;
    return depth < MAX_DEPTH || typeof arg === 'string' ? boundText(arg, maxChars, depth + 1) : '…';
  });
  return { ...text, key: head(text.key, MAX_KEY), args };
}

export function isLocalizable(value: unknown, depth = 0): value is Localizable {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH + 1) return false;
  const { key, args } = value as Partial<Localizable>;
  if (typeof key !== 'string' || !Array.isArray(args)) return false;
  return args.every((arg) => typeof arg === 'string' || typeof arg === 'number' || isLocalizable(arg, depth + 1));
}

function formatText(
  text: LocalizableText,
  format: (key: string, args: readonly string[]) => string,
  depth = 0,
): string {
  if (typeof text === 'string') return text;
  if (depth === 0 && !isLocalizable(text)) return '';
  const words = format(
    text.key,
    text.args.map((arg) => (typeof arg === 'number' ? String(arg) : formatText(arg, format, depth + 1))),
  );
  return text.inner ? words.replace(/\.$/, '') : words;
}
