// The language of the page: the host puts the translated texts into it, and its `lang` says which language they are in.
import { config } from '@vscode/l10n';

// Unit tests have no page.
const page = globalThis.document;
const bundle = page?.getElementById('texts')?.textContent;
if (bundle) config({ contents: bundle });

/** BCP 47, for `Intl`. */
export const language = page?.documentElement.lang || 'en';
