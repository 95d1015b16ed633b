// Formats durations, counts and paths in the language of the page.
import * as l10n from '@vscode/l10n';
import { config } from '@vscode/l10n';

// Unit tests have no page.
const page = globalThis.document;
const bundle = page?.getElementById('texts')?.textContent;
if (bundle) config({ contents: bundle });

export const language = page?.documentElement.lang || 'en';

// Created on first use: creating all of them would delay the first paint.
const numbers = once(() => new Intl.NumberFormat(language, { maximumFractionDigits: 1 }));
const counts = once(() => new Intl.NumberFormat(language, { notation: 'compact' }));
const shares = once(() => new Intl.NumberFormat(language, { style: 'percent' }));
const ages = once(() => new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' }));
const plurals = once(() => new Intl.PluralRules(language));

/** "0.5", "12,345" */
export function formatNumber(value: number): string {
  return numbers().format(value);
}

/** "45%" */
export function formatShare(share: number): string {
  return shares().format(share);
}

/** "812", "8.1K", "1.2M" */
export function formatCount(count: number): string {
  return counts().format(count);
}

/**
 * "$0.25"
 * @param currency usually ISO 4217
 */
export function formatCost(amount: number, currency: string): string {
  const isCode = /^[a-z]{3}$/i.test(currency);
  const options = isCode ? ({ style: 'currency', currency } as const) : { maximumFractionDigits: 2 };
  const text = new Intl.NumberFormat(language, options).format(amount);
  return isCode ? text : `${text} ${currency}`;
}

/** "0.1 s", "12.4 s", "2 min 5 s", "1 h 3 min" */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 0.05) return l10n.t('< {0} s', formatNumber(0.1));
  if (seconds < 99.95) return l10n.t('{0} s', formatNumber(seconds));
  const whole = Math.round(seconds);
  if (whole < 3600) {
    const minutes = Math.floor(whole / 60);
    return whole % 60 ? l10n.t('{0} min {1} s', minutes, whole % 60) : l10n.t('{0} min', minutes);
  }
  const minutes = Math.round(whole / 60);
  const hours = formatNumber(Math.floor(minutes / 60));
  return minutes % 60 ? l10n.t('{0} h {1} min', hours, minutes % 60) : l10n.t('{0} h', hours);
}

/** Whole seconds, at least one: "4 s". */
export function formatSeconds(ms: number): string {
  return formatDuration(Math.max(1, Math.round(ms / 1000)) * 1000);
}

/** "now", "5 min. ago", "yesterday" */
export function formatAgo(ms: number): string {
  return relative(-Math.floor(Math.max(0, ms) / 60_000), Math.trunc);
}

/** "in 5 min.", "in 2 hr.", "tomorrow" */
export function formatIn(ms: number): string {
  return relative(Math.ceil(Math.max(0, ms) / 60_000), Math.round);
}

function relative(minutes: number, whole: (value: number) => number): string {
  const size = Math.abs(minutes);
  if (size < 1) return ages().format(0, 'second');
  if (size < 60) return ages().format(minutes, 'minute');
  return size < 24 * 60 ? ages().format(whole(minutes / 60), 'hour') : ages().format(whole(minutes / (24 * 60)), 'day');
}

/** @param one, other the plural forms, with the count as `{0}` */
export function counted(one: string, other: string): (count: number) => string {
  return (count) => (plurals().select(count) === 'one' ? one : other).replace('{0}', () => formatNumber(count));
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Splits a path before its last part: ["src/webview/", "main.tsx"]. */
export function splitPath(path: string): readonly [folder: string, name: string] {
  const cut = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'), 0);
  if (cut === 0 || cut >= path.length - 1) return ['', path];
  return [path.slice(0, cut + 1), path.slice(cut + 1)];
}

/** Browsers lay out a line as a whole, which takes seconds for longer ones in several scripts. */
const LINE_CHARS = 5_000;
const LONG_LINE = new RegExp(`^(.{${LINE_CHARS}}).+$`, 'gm');

export function shortLines(text: string): string {
  return text.length > LINE_CHARS ? text.replace(LONG_LINE, '$1…') : text;
}

export function lastLines(text: string, count: number): string {
  let index = text.endsWith('\n') ? text.length - 1 : text.length;
  for (let line = 0; line < count; line++) {
    const lineEnd = index === 0 ? -1 : text.lastIndexOf('\n', index - 1);
    if (lineEnd === -1) return text;
    index = lineEnd;
  }
  return text.slice(index + 1);
}

/** Makes equal labels distinct: `a.png`, `a.png (2)`. */
export function numbered(labels: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  return labels.map((label) => {
    const count = (counts.get(label) ?? 0) + 1;
    counts.set(label, count);
    return count === 1 ? label : `${label} (${count})`;
  });
}
