// Questions that are a form or a page, below the conversation: where the eye is while the agent waits.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ElicitationView } from '../../panel/contract';
import { Icon } from '../components/icon';
import { revealControls } from '../format';
import { post, saveUiState, uiState } from '../host';
import { alertText, session } from '../session';
import { strings } from '../strings';
import { FormCard } from './formCard';
import { PageCard } from './pageCard';

/** @param onDrawn gets the ids of the questions that wait for the user, once they are in the page */
export function Questions({ onDrawn }: { onDrawn(ids: readonly string[]): void }) {
  const questions = session.elicitations.value;
  const announced = useRef<ReadonlySet<string>>(new Set());
  useLayoutEffect(() => {
    const waiting = questions.filter((one) => !(one.mode === 'url' && one.opened));
    for (const { id, message } of waiting) {
      if (!announced.current.has(id)) alertText.value = strings.questionAsked(session.agentName.peek(), message);
    }
    announced.current = new Set(questions.map(({ id }) => id));
    if (session.key.peek() !== '') forgetForms(announced.current);
    onDrawn(waiting.map(({ id }) => id));
  }, [questions]);
  return questions.map((question) => <Card key={question.id} question={question} />);
}

/** What was typed into a form is kept as long as the form is asked. */
function forgetForms(open: ReadonlySet<string>): void {
  const forms = Object.entries(uiState().forms ?? {});
  const kept = forms.filter(([id]) => open.has(id));
  if (kept.length < forms.length) saveUiState({ forms: Object.fromEntries(kept) });
}

function Card({ question }: { readonly question: ElicitationView }) {
  const { id, message, tool } = question;
  const agent = session.agentName.value;
  const element = useRef<HTMLDivElement>(null);

  function onKeyDown(event: KeyboardEvent): void {
    // Keys are for the card they are pressed in: digits answer permissions elsewhere.
    event.stopPropagation();
    if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing) return;
    event.preventDefault();
    // The first time it only leaves the field: what was typed must not be lost by one key.
    const target = event.target instanceof HTMLElement ? event.target : undefined;
    if (target?.matches('input, select, textarea')) element.current?.focus();
    else post({ type: 'elicitation', id, answer: { kind: 'cancel' } });
  }

  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls of one form
    <div
      ref={element}
      class={`question-card ${question.mode === 'url' && question.opened ? 'opened' : ''}`}
      role="group"
      aria-label={strings.question(agent, revealControls(message.slice(0, 300)))}
      data-elicitation-id={id}
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      <div class="question-head">
        <Icon name="question" />
        <b>{strings.agentAsks(agent)}</b>
        {tool && <span class="cut dim">{revealControls(tool)}</span>}
      </div>
      <p class="question-message" dir="auto">
        {revealControls(message)}
      </p>
      {question.mode === 'form' ? <FormCard question={question} /> : <PageCard question={question} />}
    </div>
  );
}
