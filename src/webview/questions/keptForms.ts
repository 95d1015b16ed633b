// Values typed into open forms, by session and question. Never reused for another form.
import { signal } from '@preact/signals';
import type { FormProblem } from '../../panel/checkForm';
import type { Form } from '../../panel/contract';
import type { FieldValues } from '../host/host';
import { isRecord, SessionStore } from '../host/storage';
import { keepable } from './formState';

type ByQuestion<T> = Readonly<Record<string, T>>;

const store = new SessionStore<ByQuestion<FieldValues>>({
  name: 'forms',
  maxSessions: 20,
  read: (value) =>
    Object.fromEntries(Object.entries(value).filter((entry): entry is [string, FieldValues] => isValues(entry[1]))),
});

/** Includes secrets, which are only kept in memory. */
const inMemory = new Map<string, Map<string, FieldValues>>();

/** Problems found by the host, by question and field. Ids are unique across sessions. */
export const refusedForms = signal<ByQuestion<ByQuestion<FormProblem> | undefined>>({});

export function setRefused(id: string, problems?: ByQuestion<FormProblem>): void {
  const { [id]: _old, ...others } = refusedForms.peek();
  refusedForms.value = problems ? { ...others, [id]: problems } : others;
}

export function storedValues(session: string, id: string): FieldValues {
  return Object.assign({}, ...store.copies(session).map((forms) => forms[id]), inMemory.get(session)?.get(id));
}

export function keepValues(session: string, id: string, form: Form, held: FieldValues): void {
  const ofSession = inMemory.get(session) ?? new Map<string, FieldValues>();
  inMemory.set(session, ofSession.set(id, held));
  store.set(session, { ...formsOf(session), [id]: keepable(form, held) });
}

export function forgetOthers(session: string, open: ReadonlySet<string>): void {
  for (const id of inMemory.get(session)?.keys() ?? []) if (!open.has(id)) inMemory.get(session)?.delete(id);
  const forms = Object.entries(formsOf(session));
  const still = forms.filter(([id]) => open.has(id));
  if (still.length < forms.length) store.set(session, still.length > 0 ? Object.fromEntries(still) : undefined);
}

function formsOf(session: string): ByQuestion<FieldValues> {
  return Object.assign({}, ...store.copies(session));
}

function isValues(value: unknown): value is FieldValues {
  const isText = (text: unknown): boolean => typeof text === 'string';
  return (
    isRecord(value) &&
    Object.values(value).every(
      (field) => isText(field) || typeof field === 'boolean' || (Array.isArray(field) && field.every(isText)),
    )
  );
}
