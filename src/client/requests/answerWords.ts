// What the user answered to a form, in one line: the names of what was chosen. What may be a secret
// is not written down.
import * as l10n from '@vscode/l10n';
import { head } from '../../base/text';
import type { Form, FormContent, FormField, FormValue } from '../../session/events/form';

/** Characters of all answers of a form. */
const MAX_ANSWER = 300;
/** Fields whose text may be one. */
const SECRET = /pass(word|phrase|code)|secret|token|credential|\bpin\b|key\b/i;

/**
 * Returns the answers of a form: `Blue`, or `Colour: Blue · Size: 3` where it has more than one
 * field. Empty where nothing was filled in.
 */
export function answerWords({ fields }: Form, content: FormContent): string {
  const answers = fields.flatMap((field) => {
    const value = content[field.key];
    return value === undefined ? [] : [{ name: field.title ?? field.key, text: valueWords(field, value) }];
  });
  const words = answers.map(({ name, text }) => (fields.length === 1 ? text : `${name}: ${text}`)).join(' · ');
  return head(words.replace(/\s+/g, ' ').trim(), MAX_ANSWER);
}

function valueWords(field: FormField, value: FormValue): string {
  const nameOf = (one: string): string =>
    ('options' in field ? field.options.find((option) => option.value === one)?.title : undefined) ?? one;
  if (typeof value === 'boolean') return value ? l10n.t('Yes') : l10n.t('No');
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return value.map(nameOf).join(', ');
  return field.type === 'text' && SECRET.test(`${field.key} ${field.title ?? ''}`) ? '•••' : nameOf(value);
}
