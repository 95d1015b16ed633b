// Formats numbers and times in VS Code's display language. The engine's default is the system's.

let language: string | undefined;

/** @param tag BCP 47; an unknown one resets to the default */
export function formatFor(tag: string): void {
  try {
    [language] = Intl.getCanonicalLocales(tag);
  } catch {
    language = undefined;
  }
}

export function formatNumber(value: number, digits = 0): string {
  return value.toLocaleString(language, { maximumFractionDigits: digits });
}

export function formatTenths(value: number): string {
  return value.toLocaleString(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}

/** @param at ms since 1970 */
export function formatTime(at: number): string {
  return new Date(at).toLocaleString(language, { dateStyle: 'medium', timeStyle: 'short' });
}
