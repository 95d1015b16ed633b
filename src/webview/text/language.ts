// The language of the page. The host embeds the translated texts in the page and sets `lang` to
// their language.
import { config } from '@vscode/l10n';

// Unit tests have no page.
const page = globalThis.document;
const bundle = page?.getElementById('texts')?.textContent;
if (bundle) config({ contents: bundle });

export const language = page?.documentElement.lang || 'en';
