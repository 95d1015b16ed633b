// Content blocks other than text: images, links to resources, embedded ones, and what nobody knows.
import type { BlockView } from '../../panel/contract';
import { el, icon, link, setAttributes } from '../dom';
import { revealControls } from '../format';
import { strings } from '../strings';
import { createFold } from './fold';

interface BlockContext {
  openLink(href: string): void;
  copy(text: string): void;
}

/** Draws a block that is not text. */
export function createBlock(block: Exclude<BlockView, { type: 'text' }>, context: BlockContext): HTMLElement {
  switch (block.type) {
    case 'image':
      return createImage(block.data, block.mimeType);
    case 'audio':
      return createAudio(block.data, block.mimeType);
    case 'resource_link':
      return createResourceChip(block.title ?? block.name, block.uri, context);
    case 'resource': {
      // What an agent made has a name and no place where it could be opened.
      const isArtifact = block.uri.startsWith('artifact:');
      const name = revealControls(nameOf(block.uri));
      if (isArtifact && block.text !== undefined) return createFold(name, block.text, context);
      const chip = isArtifact ? el('span', 'chip', icon('file'), name) : createResourceChip(name, block.uri, context);
      if (block.text === undefined) {
        if (block.bytes === undefined) return chip;
        const size = strings.resourceSize(revealControls(block.mimeType ?? strings.embedded), block.bytes);
        return el('span', 'resource', chip, el('span', 'dim', ` ${size}`));
      }
      return el('div', 'resource', chip, createFold(strings.embedded, block.text, context));
    }
    case 'unknown':
      return createFold(strings.unknownContent(block.kind), block.json, context);
  }
}

function createImage(data: string, mimeType: string): HTMLElement {
  if (!/^image\/[\w.+-]+$/.test(mimeType)) return el('p', 'dim', `${strings.image} (${revealControls(mimeType)})`);
  const image = el('img', 'picture');
  image.src = `data:${mimeType};base64,${data}`;
  image.alt = strings.image;
  return image;
}

/** Plays what came with the message; nothing is fetched, and nothing plays by itself. */
function createAudio(data: string, mimeType: string): HTMLElement {
  const name = revealControls(mimeType);
  if (!/^audio\/[\w.+-]+$/.test(mimeType)) return el('p', 'dim', strings.audioNotPlayed(name));
  const sound = setAttributes(el('audio', 'sound'), {
    controls: true,
    preload: 'none',
    'aria-label': strings.audio(name),
  });
  sound.src = `data:${mimeType};base64,${data}`;
  return sound;
}

function createResourceChip(name: string, uri: string, context: BlockContext): HTMLElement {
  const chip = link('chip', revealControls(name || uri), revealControls(uri), () => context.openLink(uri));
  chip.prepend(icon(/^https?:/i.test(uri) ? 'link-external' : 'file'));
  return setAttributes(chip, { 'data-uri': uri });
}

function nameOf(uri: string): string {
  return decodeURIComponentSafely(uri.split(/[?#]/, 1)[0]!.split('/').at(-1) ?? uri);
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
