// Numbers and times as people write them in the language that VS Code shows. The engine's own default
// is the language of the system.

let language: string | undefined;

/** Sets the language for the whole process. @param tag of BCP 47; one that the engine does not know counts as none */
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

/** A day and a time of day. @param at ms since 1970 */
export function formatTime(at: number): string {
  return new Date(at).toLocaleString(language, { dateStyle: 'medium', timeStyle: 'short' });
}
