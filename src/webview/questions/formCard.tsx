// A form of the agent, validated here while the user types and by the host before it is sent.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { revealControls } from '../../base/revealControls';
import { checkField, type FormProblem } from '../../panel/checkForm';
import type { ElicitationAction, ElicitationView } from '../../panel/contract';
import { isComposing } from '../dom/dom';
import type { FieldValue } from '../host/host';
import { strings } from '../text/strings';
import { FormFieldView } from './formFieldView';
import { initialValues, readValue, readValues } from './formState';
import { keepValues, refusedForms, setRefused, storedValues } from './keptForms';

type FormView = Extract<ElicitationView, { mode: 'form' }>;

/**
 * Sends the answer if the event counts as one (see AnswerGuard).
 * @returns whether it did
 */
export type Answer = (event: Event, action: ElicitationAction) => boolean;

interface FormCardProps {
  readonly question: FormView;
  readonly sessionKey: string;
  readonly onAnswer: Answer;
}

export function FormCard({ question, sessionKey, onAnswer }: FormCardProps) {
  const { id, form } = question;
  const [values, setValues] = useState(() => ({ ...initialValues(form), ...storedValues(sessionKey, id) }));
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [sent, setSent] = useState(false);
  const element = useRef<HTMLFormElement>(null);
  const refused = refusedForms.value[id];
  // Only the host checks patterns: its problems are shown until the user changes something.
  const busy = sent && !refused;

  const problemOf = (key: string): FormProblem | undefined => {
    const field = form.fields.find((field) => field.key === key);
    return (field && checkField(field, readValue(field, values[key])).problem) ?? refused?.[key];
  };
  const wrong = form.fields.filter(({ key }) => problemOf(key) !== undefined);
  const answerable = !form.fields.some(({ type, required }) => type === 'unknown' && required);

  function change(key: string, value: FieldValue): void {
    const next = { ...values, [key]: value };
    setValues(next);
    if (refused) setRefused(id);
    setSent(false);
    keepValues(sessionKey, id, form, next);
  }

  function submit(event: Event): void {
    if (busy || !answerable) return;
    if (wrong.length > 0) {
      setLeft(new Set(form.fields.map(({ key }) => key)));
      setFocusOn(wrong[0]?.key);
      return;
    }
    if (!onAnswer(event, { kind: 'submit', values: readValues(form, values) })) return;
    setSent(true);
    setRefused(id);
  }

  // Set when the problems are rendered, so that they are announced with the field.
  const [focusOn, setFocusOn] = useState<string | undefined>(undefined);
  useLayoutEffect(() => {
    if (focusOn === undefined) return;
    const fields = [...(element.current?.querySelectorAll<HTMLElement>('[data-field]') ?? [])];
    const field = fields.find((element) => element.dataset.field === focusOn);
    field?.querySelector<HTMLElement>('input, select, textarea')?.focus();
    setFocusOn(undefined);
  }, [focusOn]);
  useLayoutEffect(() => {
    const first = sent && refused && form.fields.find(({ key }) => refused[key]);
    // Disabling a sent form drops the focus. If the focus is elsewhere, the user has moved on.
    const { activeElement, body } = document;
    if (first && (activeElement === body || element.current?.contains(activeElement))) setFocusOn(first.key);
  }, [refused]);

  return (
    <form
      ref={element}
      noValidate
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        const isText = event.target instanceof HTMLTextAreaElement;
        if (!isText || event.key !== 'Enter' || event.shiftKey || isComposing(event)) return;
        event.preventDefault();
        submit(event);
      }}
    >
      {form.title && <h3 class="form-title">{revealControls(form.title)}</h3>}
      {form.description && <p class="form-description">{revealControls(form.description)}</p>}
      {form.fields.map((field) => (
        <FormFieldView
          key={field.key}
          field={field}
          value={values[field.key] ?? ''}
          problem={left.has(field.key) || refused ? problemOf(field.key) : undefined}
          disabled={busy}
          onChange={(value) => change(field.key, value)}
          onLeave={() => {
            // A field that was only tabbed through is not marked.
            const value = values[field.key];
            if (value !== '' && !left.has(field.key)) setLeft(new Set([...left, field.key]));
          }}
        />
      ))}
      {!answerable && <p class="field-problem">{strings.cannotAnswer}</p>}
      <div class="answers">
        {/* Enter in a field presses it too. */}
        <button type="submit" class="primary" disabled={busy || !answerable} onClick={submit}>
          {strings.submit}
        </button>
        <Refusals onAnswer={onAnswer} />
      </div>
    </form>
  );
}

export function Refusals({ onAnswer }: { readonly onAnswer: Answer }) {
  return (
    <>
      <button
        type="button"
        class="secondary"
        title={strings.declineHint}
        onClick={(event) => onAnswer(event, { kind: 'decline' })}
      >
        {strings.decline}
      </button>
      <button
        type="button"
        class="secondary"
        title={strings.cancelHint}
        onClick={(event) => onAnswer(event, { kind: 'cancel' })}
      >
        {strings.cancel}
      </button>
      <span class="dim dismiss-hint" aria-hidden="true">
        {strings.escCancels}
      </span>
    </>
  );
}
