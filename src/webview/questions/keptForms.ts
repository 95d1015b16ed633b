// Values typed into open forms by session and question. They are kept while other sessions are
// shown, over a reload and a crash of the extension host, and never appear in another form.
import { signal } from '@preact/signals';
import type { FormProblem } from '../../panel/checkForm';
import type { Form } from '../../panel/contract';
import { type FieldValues, saveUiState, uiState } from '../host/host';
import { readStored, removeStored, store } from '../host/storage';
import { keepable } from './formState';

/** Maximum number of sessions; the least recently edited one is removed. */
const MOST_SESSIONS = 20;
const STORE = { prefix: 'parley.forms.', most: MOST_SESSIONS } as const;

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
  return { ...uiState().forms?.[session]?.[id], ...storedForms(session)[id], ...inMemory.get(session)?.get(id) };
}

/** Without the page's state, which is lost in a crash. */
function storedForms(session: string): ByQuestion<FieldValues> {
  const stored = Object.entries(readStored(STORE, session) ?? {});
  return Object.fromEntries(stored.filter((one): one is [string, FieldValues] => isValues(one[1])));
}

function isValues(value: unknown): value is FieldValues {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).every(
    (one) => typeof one === 'string' || typeof one === 'boolean' || (Array.isArray(one) && one.every(isString)),
  );
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

/** Keeps the values of a form of a session. */
export function keepValues(session: string, id: string, form: Form, held: FieldValues): void {
  const ofSession = inMemory.get(session) ?? new Map<string, FieldValues>();
  inMemory.set(session, ofSession.set(id, held));
  const { [session]: written, ...others } = uiState().forms ?? {};
  const kept = Object.entries(others).slice(1 - MOST_SESSIONS);
  const values = keepable(form, held);
  saveUiState({ forms: { ...Object.fromEntries(kept), [session]: { ...written, [id]: values } } });
  store(STORE, session, { ...storedForms(session), [id]: values });
}

/** Removes the forms of a session that are no longer open. */
export function forgetOthers(session: string, open: ReadonlySet<string>): void {
  for (const id of inMemory.get(session)?.keys() ?? []) if (!open.has(id)) inMemory.get(session)?.delete(id);
  const stored = storedForms(session);
  const still = Object.entries(stored).filter(([id]) => open.has(id));
  if (still.length === 0) removeStored(STORE, session);
  else if (still.length < Object.keys(stored).length) store(STORE, session, Object.fromEntries(still));
  const { [session]: written, ...others } = uiState().forms ?? {};
  if (!written) return;
  const kept = Object.entries(written).filter(([id]) => open.has(id));
  if (kept.length === Object.keys(written).length) return;
  saveUiState({ forms: kept.length === 0 ? others : { ...others, [session]: Object.fromEntries(kept) } });
}
