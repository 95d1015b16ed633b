// The attachments of the next message.
import type { AttachmentView } from '../../panel/contract';
import { Icon } from '../components/icon';
import type { IconName } from '../dom/icons';
import { post } from '../host/host';
import { session } from '../host/session';
import { strings } from '../text/strings';

const ICONS: Readonly<Record<AttachmentView['kind'], IconName>> = {
  file: 'file',
  selection: 'selection',
  image: 'file-media',
  other: 'attach',
};

export function Attachments() {
  const attachments = session.attachments.value;
  if (attachments.length === 0) return null;
  return (
    <ul class="attachments" aria-label={strings.attachments}>
      {attachments.map(({ id, kind, label, detail, thumbnail }) => (
        <li key={id} class="chip" title={detail ?? label}>
          {thumbnail === undefined ? <Icon name={ICONS[kind]} /> : <img class="thumbnail" src={thumbnail} alt="" />}
          <span class="cut">{label}</span>
          <button
            type="button"
            class="chip-remove"
            aria-label={strings.removeAttachment(label)}
            onClick={() => {
              post({ type: 'detach', id });
              // The button is removed with the chip; move the focus to the message.
              document.querySelector<HTMLElement>('.message')?.focus();
            }}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}
