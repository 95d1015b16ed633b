// Validates form answers in the webview, and again in the host, which alone can match patterns.
import type { Form, FormContent, FormField, FormValue } from '../session/events/form';

export interface FormProblem {
  readonly code:
    | 'required'
    | 'unanswerable'
    | 'type'
    | 'tooShort'
    | 'tooLong'
    | 'pattern'
    | 'email'
    | 'uri'
    | 'date'
    | 'date-time'
    | 'number'
    | 'integer'
    | 'tooSmall'
    | 'tooLarge'
    | 'option'
    | 'tooFew'
    | 'tooMany';
  readonly limit?: number;
}

/** Keyed by field. */
export type FormProblems = ReadonlyMap<string, FormProblem>;

/** Maximum length of a text, whatever the agent allows. */
export const MAX_FORM_TEXT = 20_000;

/** Empty texts and lists count as unanswered, unless required and allowed. Ignores unknown keys. */
export function checkForm(
  form: Form,
  values: Readonly<Record<string, unknown>>,
): { readonly content: FormContent } | { readonly problems: FormProblems } {
  const content: [string, FormValue][] = [];
  const problems = new Map<string, FormProblem>();
  for (const field of form.fields) {
    const value = Object.hasOwn(values, field.key) ? values[field.key] : undefined;
    const judged = checkField(field, value);
    if (judged.problem) problems.set(field.key, judged.problem);
    else if (judged.value !== undefined) content.push([field.key, judged.value]);
  }
  // Not assigned, since a field can be named `__proto__`.
  return problems.size > 0 ? { problems } : { content: Object.fromEntries(content) };
}

/** Returns an empty object for an optional field without a value. */
export function checkField(field: FormField, value: unknown): { problem?: FormProblem; value?: FormValue } {
  if (field.type === 'unknown') return field.required ? { problem: { code: 'unanswerable' } } : {};
  const empty = value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
  if (empty && !mayBeEmpty(field)) return field.required ? { problem: { code: 'required' } } : {};
  switch (field.type) {
    case 'boolean':
      return typeof value === 'boolean' ? { value } : { problem: { code: 'type' } };
    case 'number':
    case 'integer':
      return checkNumber(field, value);
    case 'choice':
      return typeof value === 'string' && field.options.some((option) => option.value === value)
        ? { value }
        : { problem: { code: 'option' } };
    case 'choices':
      return checkChoices(field, value ?? []);
    case 'text':
      return checkText(field, value);
  }
}

function mayBeEmpty(field: FormField): boolean {
  return field.type === 'choices' && field.required && (field.minItems ?? 0) === 0;
}

function checkNumber(
  field: Extract<FormField, { type: 'number' | 'integer' }>,
  value: unknown,
): { problem?: FormProblem; value?: number } {
  if (typeof value !== 'number' || !Number.isFinite(value)) return { problem: { code: 'number' } };
  if (field.type === 'integer' && !Number.isSafeInteger(value)) return { problem: { code: 'integer' } };
  if (field.minimum !== undefined && value < field.minimum)
    return { problem: { code: 'tooSmall', limit: field.minimum } };
  if (field.maximum !== undefined && value > field.maximum)
    return { problem: { code: 'tooLarge', limit: field.maximum } };
  return { value };
}

function checkChoices(
  field: Extract<FormField, { type: 'choices' }>,
  value: unknown,
): { problem?: FormProblem; value?: readonly string[] } {
  if (!Array.isArray(value)) return { problem: { code: 'type' } };
  const known = new Set(field.options.map((option) => option.value));
  const chosen = [...new Set<unknown>(value)];
  if (!chosen.every((one): one is string => typeof one === 'string' && known.has(one)))
    return { problem: { code: 'option' } };
  if (field.minItems !== undefined && chosen.length < field.minItems)
    return { problem: { code: 'tooFew', limit: field.minItems } };
  if (field.maxItems !== undefined && chosen.length > field.maxItems)
    return { problem: { code: 'tooMany', limit: field.maxItems } };
  return { value: chosen };
}

function checkText(
  field: Extract<FormField, { type: 'text' }>,
  value: unknown,
): { problem?: FormProblem; value?: string } {
  if (typeof value !== 'string') return { problem: { code: 'type' } };
  if (value.length > MAX_FORM_TEXT) return { problem: { code: 'tooLong', limit: MAX_FORM_TEXT } };
  const length = [...value].length;
  if (field.minLength !== undefined && length < field.minLength)
    return { problem: { code: 'tooShort', limit: field.minLength } };
  if (field.maxLength !== undefined && length > field.maxLength)
    return { problem: { code: 'tooLong', limit: field.maxLength } };
  if (field.format && !FORMATS[field.format](value)) return { problem: { code: field.format } };
  return { value };
}

const FORMATS: Readonly<Record<'email' | 'uri' | 'date' | 'date-time', (text: string) => boolean>> = {
  email: (text) => text.length <= 320 && /^[^\s@]{1,64}@[^\s@.]+(?:\.[^\s@.]+)*$/.test(text),
  uri: (text) => /^[a-z][a-z0-9+.-]*:\S+$/i.test(text) && URL.canParse(text),
  date: isDate,
  'date-time': (text) => {
    const parts = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|[+-](\d{2}):(\d{2}))$/.exec(text);
    if (!parts) return false;
    const [, date = '', hour, minute, second, zoneHour = '0', zoneMinute = '0'] = parts;
    return (
      isDate(date) &&
      Number(hour) < 24 &&
      Number(minute) < 60 &&
      Number(second) <= 60 &&
      Number(zoneHour) < 24 &&
      Number(zoneMinute) < 60
    );
  },
};

function isDate(text: string): boolean {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!parts) return false;
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
