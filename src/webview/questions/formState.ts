// The values of form fields, stored as typed; they are only converted for validation. Pure.
import type { Form, FormField } from '../../panel/contract';
import type { FieldValue, FieldValues } from '../host/host';

export function initialValues(form: Form): FieldValues {
  return Object.fromEntries(form.fields.map((field) => [field.key, initialOf(field)]));
}

function initialOf(field: FormField): FieldValue {
  switch (field.type) {
    case 'boolean':
      return field.initial ?? false;
    case 'choices':
      return field.initial ?? [];
    case 'number':
    case 'integer':
      return field.initial === undefined ? '' : String(field.initial);
    case 'choice':
      return field.initial ?? '';
    case 'text':
      if (isSecret(field)) return '';
      return field.format === 'date-time' ? toLocalTime(field.initial ?? '') : (field.initial ?? '');
    case 'unknown':
      return '';
  }
}

/** Returns the values as the agent expects them; invalid ones unchanged. */
export function readValues(form: Form, values: FieldValues): Record<string, unknown> {
  return Object.fromEntries(form.fields.map((field) => [field.key, readValue(field, values[field.key])]));
}

export function readValue(field: FormField, value: FieldValue | undefined): unknown {
  if (typeof value !== 'string' || value === '') return value;
  if (field.type === 'number' || field.type === 'integer') return value.trim() === '' ? undefined : Number(value);
  if (field.type !== 'text' || field.format !== 'date-time') return value;
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? value : time.toISOString();
}

/** Returns local time without a time zone, as the browser's picker expects it. */
function toLocalTime(text: string): string {
  const time = new Date(text);
  if (text === '' || Number.isNaN(time.getTime())) return '';
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

/** Forms must not ask for secrets: their values are not stored, and the user is warned. */
export function isSecret({ key, title = '', description = '' }: FormField): boolean {
  return /pass(?:word|phrase|code)|secret|credential|\btoken\b|api[ _-]?key|private[ _-]?key|\bpin\b|\bcvc\b/i.test(
    `${key.replaceAll(/[_-]/g, ' ')} ${key} ${title} ${description}`,
  );
}

export function keepable(form: Form, values: FieldValues): FieldValues {
  const secret = new Set(form.fields.filter(isSecret).map(({ key }) => key));
  return Object.fromEntries(Object.entries(values).filter(([key]) => !secret.has(key)));
}
