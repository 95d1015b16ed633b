// Pasted images, on their way to the host as base64.
import { post } from '../host';
import { reportError } from '../problems';
import { strings } from '../strings';
import { composer } from './composerState';

const LARGEST = 10 * 1024 * 1024;

/** Hands each image to the host, which makes an attachment of it. */
export async function attachImages(images: readonly File[]): Promise<void> {
  for (const image of images) {
    if (image.size > LARGEST) {
      composer.problem.value = strings.imageTooLarge;
      continue;
    }
    try {
      post({ type: 'attachImage', data: await toBase64(image), mimeType: image.type, name: image.name });
    } catch (error) {
      reportError(error);
    }
  }
}

function toBase64(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^data:[^,]*,/, ''));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}
