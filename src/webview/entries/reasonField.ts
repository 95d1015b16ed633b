// The way to reject a permission request with a reason: a link, which opens a field for it.
import { MAX_REASON } from '../../panel/contract';
import { button, el, isComposing, setAttributes } from '../dom/dom';
import { session } from '../host/session';
import { strings } from '../text/strings';

/** Unsent reasons by request; its card may be drawn again. */
const written = new Map<string, string>();

/** Creates a link that opens the field. */
export function createReasonField(
  id: string,
  reject: (reason: string, event: Event, pressed?: Element) => void,
): HTMLElement {
  const field = el('textarea', 'field reason-text');
  const opener = button('text-button', strings.rejectWithReason, () => open());
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

  function open(): void {
    show();
    field.focus({ preventScroll: true });
    box.scrollIntoView({ block: 'nearest' });
  }

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
