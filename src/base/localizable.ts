// Texts of the product that are stored or passed on before they are shown: the English text, which is
// the key of the translations, and its arguments. They become words where they are shown.
import * as l10n from '@vscode/l10n';
import { head } from './text';

/** A text of the product. */
export interface Localizable {
  /** The English text with `{0}`, `{1}` … for the arguments. */
  readonly key: string;
  readonly args: readonly LocalizableArg[];
  /** Without the full stop at its end, as part of another text. */
  readonly inner?: true;
}

type LocalizableArg = string | number | Localizable;

/** A text of the product, or of an agent, a server or the system, which stays as it is. */
export type LocalizableText = string | Localizable;

/** Levels of arguments that are texts of the product themselves. */
const MAX_DEPTH = 8;
const MAX_KEY = 1000;
const MAX_ARGS = 20;

/**
 * Returns a text of the product. `npm run l10n` takes the key from the call, so it is a literal.
 * @param key the English text, as for `l10n.t`
 */
export function localizable(key: string, ...args: readonly LocalizableArg[]): Localizable {
  return { key, args };
}

/** Puts texts into a frame of punctuation that is the same in each language, as `{0}: {1}.` */
export function framed(frame: string, ...args: readonly LocalizableArg[]): Localizable {
  return { key: frame, args };
}

/** Puts texts below one another. */
export function lines(texts: readonly LocalizableText[]): LocalizableText {
  return framed(texts.map((_text, index) => `{${index}}`).join('\n'), ...texts);
}

/** Returns the words in the language of the user. A text without translation is in English. */
export function localize(text: LocalizableText): string {
  return wordsOf(text, (key, args) => l10n.t(key, ...args));
}

/** Returns the words in English, for other machines and for what is compared. */
export function inEnglish(text: LocalizableText): string {
  return wordsOf(text, (key, args) => key.replace(/\{(\d+)\}/g, (gap, index) => args[Number(index)] ?? gap));
}

/** Returns the text as a part of another one: without the full stop at its end. */
export function withoutFullStop(text: LocalizableText): LocalizableText {
  return typeof text === 'string' ? text.replace(/\.$/, '') : { ...text, inner: true };
}

/** Changes what a text holds of others: all of a plain one, the arguments of one of the product. */
export function mapForeign(text: LocalizableText, change: (foreign: string) => string): LocalizableText {
  if (typeof text === 'string') return change(text);
  const args = text.args.map((arg) => (typeof arg === 'number' ? arg : mapForeign(arg, change)));
  return { ...text, args };
}

/** Cuts each part of a text to `maxChars`. What is nested too deeply, or damaged, is left out. */
export function boundText(text: LocalizableText, maxChars: number, depth = 0): LocalizableText {
  if (typeof text === 'string') return head(text, maxChars);
  if (depth === 0 && !isLocalizable(text)) return '';
  const args = text.args.slice(0, MAX_ARGS).map((arg) => {
    if (typeof arg === 'number') return arg;
    return depth < MAX_DEPTH || typeof arg === 'string' ? boundText(arg, maxChars, depth + 1) : '…';
  });
  return { ...text, key: head(text.key, MAX_KEY), args };
}

/** Returns whether a stored value is a text of the product. */
export function isLocalizable(value: unknown, depth = 0): value is Localizable {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH + 1) return false;
  const { key, args } = value as Partial<Localizable>;
  if (typeof key !== 'string' || !Array.isArray(args)) return false;
  return args.every((arg) => typeof arg === 'string' || typeof arg === 'number' || isLocalizable(arg, depth + 1));
}

/** What is damaged has no words. */
function wordsOf(text: LocalizableText, format: (key: string, args: readonly string[]) => string, depth = 0): string {
  if (typeof text === 'string') return text;
  if (depth === 0 && !isLocalizable(text)) return '';
  const words = format(
    text.key,
    text.args.map((arg) => (typeof arg === 'number' ? String(arg) : wordsOf(arg, format, depth + 1))),
  );
  return text.inner ? words.replace(/\.$/, '') : words;
}
