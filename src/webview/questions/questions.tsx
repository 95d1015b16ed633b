// Forms and pages requested by the agent, below the conversation.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { revealControls, revealHidden } from '../../base/revealControls';
import type { ElicitationAction, ElicitationView } from '../../panel/contract';
import { Icon } from '../components/icon';
import { isComposing } from '../dom/dom';
import { post } from '../host/host';
import { announce, session } from '../host/session';
import { answerGuard } from '../input/answerGuard';
import { strings } from '../text/strings';
import { type Answer, FormCard, Refusals } from './formCard';
import { forgetOthers } from './keptForms';

interface QuestionsProps {
  onDrawn(ids: readonly string[]): void;
  onAnswer(byKey: boolean): void;
  onGone(): void;
}

export function Questions({ onDrawn, onAnswer, onGone }: QuestionsProps) {
  const questions = session.elicitations.value;
  const key = session.key.value;
  const announced = useRef<ReadonlySet<string>>(new Set());
  const answered = useRef<string | undefined>(undefined);
  // Before the update: removing an element or disabling its buttons drops the focus silently.
  const { activeElement, body } = document;
  const focused =
    activeElement === body
      ? answered.current
      : activeElement?.closest<HTMLElement>('[data-elicitation-id]')?.dataset.elicitationId;
  useLayoutEffect(() => {
    const waiting = questions.filter((question) => !(question.mode === 'url' && question.opened));
    for (const { id, message } of waiting) {
      if (!announced.current.has(id)) announce(strings.question(session.agentName.peek(), message), 'assertive');
    }
    announced.current = new Set(questions.map(({ id }) => id));
    if (key !== '') forgetOthers(key, announced.current);
    onDrawn(waiting.map(({ id }) => id));
    if (focused !== undefined && !announced.current.has(focused)) onGone();
  }, [questions, key]);
  return questions.map((question) => (
    <Card
      key={`${key} ${question.id}`}
      question={question}
      sessionKey={key}
      onAnswer={(byKey) => {
        answered.current = question.id;
        onAnswer(byKey);
      }}
    />
  ));
}

interface CardProps {
  readonly question: ElicitationView;
  readonly sessionKey: string;
  onAnswer(byKey: boolean): void;
}

function Card({ question, sessionKey, onAnswer }: CardProps) {
  const { id, message, tool } = question;
  const agent = session.agentName.value;
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => answerGuard.watch(element.current!), []);

  function answer(event: Event, action: ElicitationAction): boolean {
    const byKey = !(event instanceof MouseEvent && event.detail > 0);
    const pressed = byKey ? document.activeElement : event.currentTarget;
    if (!answerGuard.allows(element.current!, event, pressed instanceof Element ? pressed : undefined)) return false;
    onAnswer(byKey);
    post({ type: 'elicitation', id, answer: action });
    return true;
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || event.defaultPrevented || isComposing(event)) return;
    event.preventDefault();
    if (event.repeat) return;
    // The first Escape only leaves the field, so that a single key does not discard typed text.
    const target = event.target instanceof HTMLElement ? event.target : undefined;
    if (target?.matches('input, select, textarea')) element.current?.focus();
    else answer(event, { kind: 'cancel' });
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
        {tool && (
          <span class="cut dim" title={revealControls(tool)}>
            {revealControls(tool)}
          </span>
        )}
      </div>
      <p class="question-message" dir="auto">
        {revealHidden(message)}
      </p>
      {question.mode === 'form' ? (
        <FormCard question={question} sessionKey={sessionKey} onAnswer={answer} />
      ) : (
        <PageCard question={question} onAnswer={answer} />
      )}
    </div>
  );
}

type PageView = Extract<ElicitationView, { mode: 'url' }>;

/**
 * A page that the agent asks the user to open: the whole URL, warnings about it, and a button for
 * consent. Nothing is loaded from it.
 */
function PageCard({ question, onAnswer }: { readonly question: PageView; readonly onAnswer: Answer }) {
  const { opened } = question;
  // The host has parsed and normalised the URL.
  const url = new URL(question.url);
  const before = `${url.protocol}//`;
  const open = (event: MouseEvent): unknown => onAnswer(event, { kind: 'open' });
  return (
    <>
      <p class="address" dir="ltr">
        <span class="dim">{before}</span>
        <b>{url.host}</b>
        <span class="dim">{url.href.slice(before.length + url.host.length)}</span>
      </p>
      {/(?:^|\.)xn--/i.test(url.hostname) && (
        <p class="address-warning">
          <Icon name="warning" /> {strings.punycode}
        </p>
      )}
      {opened ? (
        <div class="answers">
          <span class="icon-line">
            <Icon name="loading" /> {strings.waitsForBrowser}
          </span>
          <button type="button" class="secondary" onClick={open}>
            {strings.openAgain}
          </button>
          <button type="button" class="secondary" onClick={(event) => onAnswer(event, { kind: 'cancel' })}>
            {strings.dismiss}
          </button>
        </div>
      ) : (
        <div class="answers">
          <button type="button" class="primary" onClick={open}>
            <Icon name="link-external" />
            {strings.openPage(url.host)}
          </button>
          <Refusals onAnswer={onAnswer} />
        </div>
      )}
    </>
  );
}
