// What stands in the fields of a form, and what it means. A field holds what was typed; only when it is judged it becomes a number or a time. Pure.
import type { Form, FormField } from '../../panel/contract';
import type { FieldValue, FieldValues } from '../host/host';

/** What the fields hold before anybody wrote: the agent's suggestions, which the user sees and can change. */
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

/** The values as the agent wants them; what cannot be one stays what it is, and is found wrong. */
export function readValues(form: Form, held: FieldValues): Record<string, unknown> {
  return Object.fromEntries(form.fields.map((field) => [field.key, readValue(field, held[field.key])]));
}

/** The value of one field. */
export function readValue(field: FormField, held: FieldValue | undefined): unknown {
  if (typeof held !== 'string' || held === '') return held;
  if (field.type === 'number' || field.type === 'integer') return held.trim() === '' ? undefined : Number(held);
  if (field.type !== 'text' || field.format !== 'date-time') return held;
  const time = new Date(held);
  return Number.isNaN(time.getTime()) ? held : time.toISOString();
}

/** A time with its zone as the picker of the browser takes it: in the user's own zone, without it. */
function toLocalTime(text: string): string {
  const time = new Date(text);
  if (text === '' || Number.isNaN(time.getTime())) return '';
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

/** Whether a field seems to ask for what a form must never carry: its value is not kept, and the user is warned. */
export function isSecret({ key, title = '', description = '' }: FormField): boolean {
  return /pass(?:word|phrase|code)|secret|credential|\btoken\b|api[ _-]?key|private[ _-]?key|\bpin\b|\bcvc\b/i.test(
    `${key.replaceAll(/[_-]/g, ' ')} ${key} ${title} ${description}`,
  );
}

/** What of the fields may be kept while the panel is away. */
export function keepable(form: Form, held: FieldValues): FieldValues {
  const secret = new Set(form.fields.filter(isSecret).map(({ key }) => key));
  return Object.fromEntries(Object.entries(held).filter(([key]) => !secret.has(key)));
}
