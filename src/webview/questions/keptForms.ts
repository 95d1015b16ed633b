// What is typed into forms that are open, by session and question: it stays while other sessions are shown
// and over a reload of the page, and no other form ever gets it.
import { signal } from '@preact/signals';
import type { FormProblem } from '../../panel/checkForm';
import type { Form } from '../../panel/contract';
import { type FieldValues, saveUiState, uiState } from '../host/host';
import { keepable } from './formState';

/** Sessions whose forms are remembered over a reload; those that were typed in last stay. */
const MOST_SESSIONS = 20;

type ByQuestion<T> = Readonly<Record<string, T>>;

/** Also what must not be written down, such as a password, as long as the page lives. */
const inMemory = new Map<string, Map<string, FieldValues>>();

/** What the host found wrong in the answers to forms, by question and field. Ids are unique over sessions. */
export const refusedForms = signal<ByQuestion<ByQuestion<FormProblem> | undefined>>({});

/** Sets or, without problems, forgets what the host found wrong. */
export function setRefused(id: string, problems?: ByQuestion<FormProblem>): void {
  const { [id]: _old, ...others } = refusedForms.peek();
  refusedForms.value = problems ? { ...others, [id]: problems } : others;
}

/** Returns what was typed into a form of a session. */
export function keptValues(session: string, id: string): FieldValues {
  return { ...uiState().forms?.[session]?.[id], ...inMemory.get(session)?.get(id) };
}

/** Keeps what stands in a form of a session. */
export function keepValues(session: string, id: string, form: Form, held: FieldValues): void {
  const ofSession = inMemory.get(session) ?? new Map<string, FieldValues>();
  inMemory.set(session, ofSession.set(id, held));
  const { [session]: written, ...others } = uiState().forms ?? {};
  const kept = Object.entries(others).slice(1 - MOST_SESSIONS);
  saveUiState({ forms: { ...Object.fromEntries(kept), [session]: { ...written, [id]: keepable(form, held) } } });
}

/** Forgets the forms of a session that are no longer open. */
export function forgetOthers(session: string, open: ReadonlySet<string>): void {
  for (const id of inMemory.get(session)?.keys() ?? []) if (!open.has(id)) inMemory.get(session)?.delete(id);
  const { [session]: written, ...others } = uiState().forms ?? {};
  if (!written) return;
  const kept = Object.entries(written).filter(([id]) => open.has(id));
  if (kept.length === Object.keys(written).length) return;
  saveUiState({ forms: kept.length === 0 ? others : { ...others, [session]: Object.fromEntries(kept) } });
}
