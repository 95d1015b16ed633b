// Pasted images, sounds and other files, on their way to the host as base64.
import { post } from '../host';
import { reportError } from '../problems';
import { session } from '../session';
import { strings } from '../strings';
import { composer } from './composerState';

const LARGEST = 10 * 1024 * 1024;

/** Hands each file that the agent can take to the host, which makes an attachment of it; says why where it cannot. */
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
      post({ type, data: await toBase64(file), mimeType, name: file.name }, key);
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

function toBase64(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^data:[^,]*,/, ''));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}
