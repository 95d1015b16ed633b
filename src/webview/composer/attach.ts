// Sends pasted or dropped data to the host: files as base64 or URI, long texts as files.
import { MAX_THUMBNAIL } from '../../panel/contract';
import { post } from '../host/host';
import { session } from '../host/session';
import { strings } from '../text/strings';
import { composer } from './composerState';
import { type AttachMessage, postAttachment } from './keptAttachments';

const LARGEST = 10 * 1024 * 1024;
/** Longer side of a thumbnail; chips show it at a third of this size, for high-density screens. */
const THUMBNAIL_PX = 64;

const LONG_TEXT = 2000;
const MAX_DROPPED = 100;

/** The last pasted long text with its session; undo inserts it into the message. */
let lastPaste: { readonly text: string; readonly label: string; readonly key: string } | undefined;
let count = 0;

/**
 * Attaches pasted files, and texts that are too long for the message.
 * @returns whether the paste was handled
 */
export function pasteIn(data: DataTransfer): boolean {
  const text = data.getData('text/plain');
  const files = [...data.files];
  lastPaste = undefined;
  // Office apps add an image of the copied text.
  if (files.length > 0 && text === '') void attachFiles(files);
  else if (text.length > LONG_TEXT && new Blob([text]).size <= LARGEST) void attachText(text);
  else return false;
  return true;
}

export function dropIn(data: DataTransfer): boolean {
  const uris = urisOf(data);
  const files = [...data.files];
  if (uris.length > 0) post({ type: 'attachUris', uris });
  else if (files.length > 0) void attachFiles(files);
  else return false;
  return true;
}

/**
 * Replaces the attachment of the last pasted text by the text itself.
 * @returns whether there was one
 */
export function undoPaste(): boolean {
  const paste = lastPaste;
  lastPaste = undefined;
  const attachment = session.attachments.peek().find(({ label }) => label === paste?.label);
  if (!paste || !attachment || paste.key !== session.key.peek()) return false;
  composer.insert(paste.text);
  post({ type: 'detach', id: attachment.id });
  return true;
}

export function forgetPaste(): void {
  lastPaste = undefined;
}

async function attachText(text: string): Promise<void> {
  const key = session.key.peek() || null;
  count += 1;
  const label = `${strings.pastedText(count)}.txt`;
  lastPaste = { text, label, key: session.key.peek() };
  const data = await toBase64(new Blob([text]));
  postAttachment({ type: 'attachFile', data, mimeType: 'text/plain', name: label }, key);
}

/**
 * Returns the URIs that VS Code sets for items dragged from its lists, one per line. Links of web
 * pages count as text.
 */
function urisOf(data: DataTransfer): readonly string[] {
  const list = data.getData('application/vnd.code.uri-list') || data.getData('text/uri-list');
  const lines = list.split(/\r?\n/).filter((line) => line !== '' && !/^(?:#|https?:)/i.test(line));
  return lines.slice(0, MAX_DROPPED);
}

/** Sends each file that the agent supports to the host; shows why others are rejected. */
export async function attachFiles(files: readonly File[]): Promise<void> {
  const key = session.key.peek() || null; // the user may switch sessions while a file is read
  for (const file of files) {
    const refusal = refusalOf(file);
    if (refusal !== undefined) {
      composer.problem.value = refusal;
      continue;
    }
    try {
      const type = file.type.startsWith('image/') ? 'attachImage' : 'attachFile';
      const mimeType = file.type.split(';', 1)[0] ?? '';
      const thumbnail = type === 'attachImage' ? await thumbnailOf(file) : undefined;
      const content = { data: await toBase64(file), mimeType, name: file.name };
      postAttachment({ type, ...content, thumbnail } as AttachMessage, key);
    } catch (error) {
      reportError(error);
    }
  }
}

function refusalOf({ type, size }: File): string | undefined {
  const { canAttachImages, canAttachAudio, canAttachFiles } = session;
  if (type.startsWith('image/') && !canAttachImages.peek()) return strings.imagesNotAllowed;
  if (type.startsWith('audio/') && !canAttachAudio.peek() && !canAttachFiles.peek()) return strings.audioNotAllowed;
  if (!/^(image|audio)\//.test(type) && !canAttachFiles.peek()) return strings.filesNotAllowed;
  return size > LARGEST ? strings.imageTooLarge : undefined;
}

/** Returns undefined if the browser cannot decode the image or the thumbnail is too large. */
async function thumbnailOf(image: Blob): Promise<string | undefined> {
  const bitmap = await createImageBitmap(image).catch(() => undefined);
  if (!bitmap) return undefined;
  const scale = Math.min(1, THUMBNAIL_PX / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  const address = canvas.toDataURL('image/webp', 0.7);
  return address.length <= MAX_THUMBNAIL ? address : undefined;
}

function toBase64(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^data:[^,]*,/, ''));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}
