// The languages that a panel is tested in: English, those of the bundles, and one that nobody speaks, in which every text of the product is told from any other.
import { bundleOf, ENGLISH, readBundle } from '../../../scripts/lib/texts';

export type Language = 'en' | 'de' | 'pseudo';

/** The English texts of the product. */
export const englishTexts: readonly string[] = Object.keys(readBundle(process.cwd(), ENGLISH));

/** The bundle that the host gives to a page; undefined for English. */
export function textsIn(language: Language): Readonly<Record<string, unknown>> | undefined {
  if (language === 'en') return undefined;
  if (language === 'de') return readBundle(process.cwd(), bundleOf('de'));
  return Object.fromEntries(englishTexts.map((text) => [text, pseudo(text)]));
}

/** A text of the product in a language, as the host says it. */
export type Translate = (text: string, ...values: readonly (string | number)[]) => string;

/** Returns how the host translates its own words. It throws for a text that the product does not have. */
export function translateTo(language: Language): Translate {
  const texts = textsIn(language);
  return (text, ...values) => {
    if (!englishTexts.includes(text)) throw new Error(`the product has no text “${text}”`);
    const found = texts?.[text];
    return (typeof found === 'string' ? found : text).replaceAll(/\{(\d+)\}/g, (_whole, index) =>
      String(values[Number(index)]),
    );
  };
}

/** A text in letters that no keyboard writes; its placeholders stay. */
function pseudo(text: string): string {
  const letters = text.split(/(\{[^}]+\})/).map((part, index) => (index % 2 ? part : part.replaceAll(/[!-~]/g, wide)));
  return `⟦${letters.join('')}⟧`;
}

/** The full-width form of an ASCII character. */
function wide(character: string): string {
  return String.fromCharCode(character.charCodeAt(0) + 0xfee0);
}
