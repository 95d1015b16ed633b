// Languages for tests of the panel: English, those of the bundles, and a pseudo-language in which
// every text of the product is distinct.
import { bundleOf, ENGLISH, readBundle } from '../../../scripts/lib/texts';

export type Language = 'en' | 'de' | 'pseudo';

export const englishTexts: readonly string[] = Object.keys(readBundle(process.cwd(), ENGLISH));

export function textsIn(language: Language): Readonly<Record<string, unknown>> | undefined {
  if (language === 'en') return undefined;
  if (language === 'de') return readBundle(process.cwd(), bundleOf('de'));
  return Object.fromEntries(englishTexts.map((text) => [text, pseudo(text)]));
}

export type Translate = (text: string, ...values: readonly (string | number)[]) => string;

/** Throws for a text that the product does not have. */
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

function pseudo(text: string): string {
  const letters = text.split(/(\{[^}]+\})/).map((part, index) => (index % 2 ? part : part.replaceAll(/[!-~]/g, wide)));
  return `⟦${letters.join('')}⟧`;
}

function wide(character: string): string {
  return String.fromCharCode(character.charCodeAt(0) + 0xfee0);
}
