// The attachments of the next message, and what can be added from the active editor.
import type { AttachmentView } from '../../panel/contract';
import { Icon } from '../components/icon';
import type { IconName } from '../dom/icons';
import { post } from '../host/host';
import { activeEditor, session } from '../host/session';
import { numbered } from '../text/format';
import { strings } from '../text/strings';
import { composer } from './composerState';

const ICONS: Readonly<Record<AttachmentView['kind'], IconName>> = {
  file: 'file',
  selection: 'selection',
  image: 'file-media',
  other: 'attach',
};

export function Attachments() {
  const attachments = session.attachments.value;
  const offer = activeEditor.value;
  const isOffered = offer !== undefined && !attachments.some(({ label }) => label === offer.label);
  if (attachments.length === 0 && !isOffered) return null;
  const names = numbered(attachments.map(({ label }) => label));
  const bytes = attachments.reduce((sum, attachment) => sum + (attachment.bytes ?? 0), 0);
  return (
    <ul class="attachments" aria-label={strings.attachments}>
      {attachments.map((attachment, index) => (
        <Attachment key={attachment.id} attachment={attachment} name={names[index]!} />
      ))}
      {attachments.length > 1 && bytes > 0 && <li class="sent-size">{strings.sentSize(bytes)}</li>}
      {isOffered && (
        <li key="offer">
          <button
            type="button"
            class="chip offered"
            aria-label={strings.addActive(offer.label)}
            title={strings.addActive(offer.label)}
            onClick={() => {
              post({ type: 'mention', id: offer.id });
              composer.focus(); // the pressed button is removed
            }}
          >
            <Icon name="add" />
            <span class="cut">{offer.label}</span>
          </button>
        </li>
      )}
    </ul>
  );
}

function Attachment({ attachment, name }: { readonly attachment: AttachmentView; readonly name: string }) {
  const { id, kind, label, detail, bytes, thumbnail } = attachment;
  const isPath = kind === 'file' && bytes === undefined;
  return (
    <li class="chip" title={[detail ?? label, ...(isPath ? [strings.sentAsPath] : [])].join('\n')}>
      {thumbnail === undefined ? <Icon name={ICONS[kind]} /> : <img class="thumbnail" src={thumbnail} alt="" />}
      <span class="cut">{name}</span>
      {bytes !== undefined && <span class="dim chip-size">{strings.size(bytes)}</span>}
      <button
        type="button"
        class="chip-remove"
        aria-label={strings.removeAttachment(name)}
        onClick={() => {
          if (!composer.removeMentions(label)) post({ type: 'detach', id });
          composer.focus(); // the pressed button is removed
        }}
      >
        <Icon name="close" />
      </button>
    </li>
  );
}
