// A permission request inside its entry: first what will happen, then a button for each option.

import { revealControls, revealHidden } from '../../base/revealControls';
import { MAX_REASON, type PermissionView } from '../../panel/contract';
import { isMac } from '../dom/ctrlKey';
import { button, el, isComposing, setAttributes } from '../dom/dom';
import { post } from '../host/host';
import { session } from '../host/session';
import { answerGuard } from '../input/answerGuard';
import { createAskedText, LONG, SHORT } from '../output/askedText';
import { strings } from '../text/strings';
import type { EntryContext } from './entryView';
import { createFold } from './fold';

export interface PermissionCard {
  readonly element: HTMLElement;
  readonly permission: PermissionView;
}

/**
 * @param content what the request is about; moved before the options
 * @param shownText text already shown in the entry; the title is only shown if it differs
 */
export function createPermissionCard(
  permission: PermissionView,
  content: readonly HTMLElement[],
  shownText: string,
  context: Pick<EntryContext, 'answered'>,
): PermissionCard {
  const { title, description, commands = [], texts = [], input } = permission;
  const decidedBy = permission.by === undefined ? undefined : revealControls(permission.by);
  const name = revealControls(title);
  const element = setAttributes(el('div', 'permission', ...content), {
    role: 'group',
    'aria-label': strings.permission(decidedBy === undefined ? name : `${name} (${decidedBy})`),
    'data-permission-id': permission.id,
    tabindex: '-1',
  });
  const isCommand = commands.some(({ line }) => line.trim() === plain(title));
  if (plain(title) !== plain(shownText) && !isCommand) element.append(createAskedText('question', title, SHORT));
  if (decidedBy !== undefined)
    element.append(setAttributes(el('p', 'question-details', strings.askedBy(decidedBy)), { dir: 'auto' }));
  if (description) element.append(createAskedText('question-details', description, SHORT));
  for (const { line, cwd } of commands) {
    element.append(createAskedText('asked-command', line, LONG, '$ '));
    if (cwd) element.append(createAskedText('question-details', strings.commandIn(cwd), SHORT));
  }
  for (const { path, text } of texts) {
    element.append(createAskedText('question-details', strings.contentOf(path), SHORT));
    element.append(createAskedText('asked-file', text, LONG));
  }
  if (input) {
    const fold = createFold(strings.otherInput, input.json, input.isUnknown, true);
    element.append(el('div', 'tool-facts', fold));
  }
  const answers = el('div', 'answers');
  let answered = false;

  function answer(optionId: string | null, event: Event, pressed?: Element, reason?: string): void {
    if (answered || !answerGuard.allows(element, event, pressed)) return;
    answered = true;
    element.classList.add('answered');
    for (const button of element.querySelectorAll<HTMLButtonElement>(':is(.answers, .more-answers) button'))
      button.disabled = true;
    post({ type: 'permission', id: permission.id, optionId, reason: reason || undefined });
    context.answered(permission.id, !(event instanceof MouseEvent && event.detail > 0));
  }

  /** Offers to create a rule; the extension asks for confirmation before saving it. */
  function offerButton(): HTMLElement | undefined {
    const { ruleOffer } = permission;
    if (!ruleOffer) return undefined;
    const label = strings.ruleOffers[ruleOffer.kind](revealHidden(ruleOffer.pattern));
    const offering = button('text-button', label, (event) => {
      if (!answered && answerGuard.allows(element, event, offering))
        post({ type: 'permissionRule', id: permission.id });
    });
    return setAttributes(offering, { title: revealHidden(ruleOffer.folder) });
  }

  function editButton(): HTMLElement | undefined {
    if (!permission.canEdit) return undefined;
    return button('text-button', strings.editProposal, () => {
      if (!answered) post({ type: 'editProposal', id: permission.id });
    });
  }

  // Prefers the approval with the smallest scope; some agents list the permanent one first.
  const once = permission.options.findIndex(({ kind }) => kind === 'allow_once');
  const firstAllow = once >= 0 ? once : permission.options.findIndex(({ kind }) => kind.startsWith('allow'));
  permission.options.forEach((option, index) => {
    const choice = button(
      index === firstAllow ? 'primary' : 'secondary',
      revealHidden(option.name || option.optionId),
      (event) => answer(option.optionId, event, choice),
    );
    choice.dataset.optionKind = option.kind;
    if (index < 9) {
      choice.append(setAttributes(el('kbd', '', String(index + 1)), { 'aria-hidden': 'true' }));
      setAttributes(choice, { 'aria-keyshortcuts': String(index + 1), 'data-key': String(index + 1) });
    }
    answers.append(choice);
  });
  if (permission.options.length === 0) {
    answers.append(
      el('span', 'dim', strings.noOptions),
      button('secondary', strings.dismiss, (event) => answer(null, event)),
    );
  }
  element.append(answers);
  const reject = ['reject_once', 'reject_always'].flatMap(
    (kind) => permission.options.find((option) => option.kind === kind) ?? [],
  )[0];
  const more: HTMLElement[] = [
    reject &&
      createReasonField(permission.id, (reason, event, pressed) => answer(reject.optionId, event, pressed, reason)),
    editButton(),
    offerButton(),
  ].filter((part) => part !== undefined);
  if (permission.options.length > 0) more.push(keyHint());
  if (more.length > 0) element.append(el('div', 'more-answers', ...more));
  if (permission.options.some(({ kind }) => kind === 'allow_always'))
    element.append(el('p', 'dim agent-always', strings.alwaysIsAgents(session.agentName.peek())));
  element.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    event.preventDefault();
    if (!event.repeat) answer(null, event);
  });
  answerGuard.watch(element);
  return { element, permission };
}

function keyHint(): HTMLElement {
  const hints = [
    el('span', 'to-card', strings.answerHint(isMac)),
    el('span', 'to-number', strings.numberHint),
    el('span', 'in-card', strings.dismissHint),
  ];
  return setAttributes(el('span', 'dim key-hint', ...hints), { 'aria-hidden': 'true' });
}

/** Some agents put commands in backticks. */
export function plain(title: string): string {
  return title.replaceAll('`', '').trim();
}

/**
 * Presses the option for a key, "1" to "9".
 * @returns whether there is one
 */
export function pressByKey(card: Element, key: string): boolean {
  const choice = card.querySelector<HTMLButtonElement>(`button[data-key="${key}"]:not(:disabled)`);
  choice?.click();
  return choice !== null;
}

/** Unsent reasons by request, kept because cards may be redrawn. */
const written = new Map<string, string>();

function createReasonField(id: string, reject: (reason: string, event: Event, pressed?: Element) => void): HTMLElement {
  const field = el('textarea', 'field reason-text');
  const opener = button('text-button', strings.rejectWithReason, () => {
    show();
    field.focus({ preventScroll: true });
    box.scrollIntoView({ block: 'nearest' });
  });
  const box = el('div', 'reason', opener);
  const send = button('primary reason-send', strings.rejectAndSend, (event) => submit(event, send));
  const hint = setAttributes(el('p', 'dim', strings.rejectionNext), { id: `reason-${id}` });
  const buttons = el('div', 'reason-buttons', send, button('secondary', strings.cancel, close));
  setAttributes(field, {
    rows: 2,
    maxlength: MAX_REASON,
    dir: 'auto',
    'aria-label': strings.rejectionReason,
    'aria-describedby': hint.id,
    placeholder: strings.rejectionHint(session.agentName.peek()),
  });

  function show(): void {
    field.value = written.get(id) ?? '';
    written.set(id, field.value);
    box.replaceChildren(field, hint, buttons);
    enable();
  }

  function close(): void {
    written.delete(id);
    box.replaceChildren(opener);
    opener.focus();
  }

  function enable(): void {
    send.disabled = field.value.trim() === '';
  }

  function submit(event: Event, pressed?: Element): void {
    if (field.value.trim() !== '') reject(field.value, event, pressed);
  }

  field.addEventListener('input', () => {
    written.set(id, field.value);
    enable();
  });
  box.addEventListener('keydown', (event) => {
    if (event.target === opener || isComposing(event)) return;
    if (event.key === 'Escape') {
      event.preventDefault();
      if (!event.repeat) close();
    } else if (event.key === 'Enter' && event.target === field && !event.shiftKey) {
      event.preventDefault();
      if (!event.repeat) submit(event);
    }
  });
  if (written.has(id)) show();
  return box;
}
