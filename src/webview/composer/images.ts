// Sends pasted images, audio and other files to the host as base64.
import { MAX_THUMBNAIL } from '../../panel/contract';
import { post } from '../host/host';
import { reportError } from '../host/problems';
import { session } from '../host/session';
import { strings } from '../text/strings';
import { composer } from './composerState';

const LARGEST = 10 * 1024 * 1024;
/** Longer side of a thumbnail; chips show it at a third of that, for high-density screens. */
const THUMBNAIL_PX = 64;

/**
 * Sends each file that the agent supports to the host, which makes an attachment of it; announces
 * why others are refused.
 */
export async function attachPasted(files: readonly File[]): Promise<void> {
  const key = session.key.peek() || null; // the user may go to another session while a file is read
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
      post({ type, ...content, ...(thumbnail !== undefined && { thumbnail }) }, key);
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

/**
 * Returns a thumbnail of an image; undefined if the browser cannot decode it or the result is too
 * large.
 */
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
