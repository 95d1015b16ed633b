// Values typed into open forms by session and question. They are kept while other sessions are
// shown and over a reload, and never appear in another form.
import { signal } from '@preact/signals';
import type { FormProblem } from '../../panel/checkForm';
import type { Form } from '../../panel/contract';
import { type FieldValues, saveUiState, uiState } from '../host/host';
import { keepable } from './formState';

/** Maximum number of sessions; the least recently edited one is removed. */
const MOST_SESSIONS = 20;

type ByQuestion<T> = Readonly<Record<string, T>>;

/** Includes secrets, which must not be stored, while the page lives. */
const inMemory = new Map<string, Map<string, FieldValues>>();

/** Problems found by the host, by question and field. Ids are unique across sessions. */
export const refusedForms = signal<ByQuestion<ByQuestion<FormProblem> | undefined>>({});

/** Sets the problems found by the host, or removes them. */
export function setRefused(id: string, problems?: ByQuestion<FormProblem>): void {
  const { [id]: _old, ...others } = refusedForms.peek();
  refusedForms.value = problems ? { ...others, [id]: problems } : others;
}

/** Returns the values typed into a form of a session. */
export function keptValues(session: string, id: string): FieldValues {
  return { ...uiState().forms?.[session]?.[id], ...inMemory.get(session)?.get(id) };
}

/** Keeps the values of a form of a session. */
export function keepValues(session: string, id: string, form: Form, held: FieldValues): void {
  const ofSession = inMemory.get(session) ?? new Map<string, FieldValues>();
  inMemory.set(session, ofSession.set(id, held));
  const { [session]: written, ...others } = uiState().forms ?? {};
  const kept = Object.entries(others).slice(1 - MOST_SESSIONS);
  saveUiState({ forms: { ...Object.fromEntries(kept), [session]: { ...written, [id]: keepable(form, held) } } });
}

/** Removes the forms of a session that are no longer open. */
export function forgetOthers(session: string, open: ReadonlySet<string>): void {
  for (const id of inMemory.get(session)?.keys() ?? []) if (!open.has(id)) inMemory.get(session)?.delete(id);
  const { [session]: written, ...others } = uiState().forms ?? {};
  if (!written) return;
  const kept = Object.entries(written).filter(([id]) => open.has(id));
  if (kept.length === Object.keys(written).length) return;
  saveUiState({ forms: kept.length === 0 ? others : { ...others, [session]: Object.fromEntries(kept) } });
}
