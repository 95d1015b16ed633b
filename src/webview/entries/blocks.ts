// Content blocks other than text: images, resource links, embedded resources, and unknown types.

import { revealControls } from '../../base/revealControls';
import type { BlockView } from '../../panel/contract';
import { button, el, icon, iconButton, link, setAttributes } from '../dom/dom';
import { openLink } from '../host/host';
import { numbered } from '../text/format';
import { strings } from '../text/strings';
import { createFold } from './fold';

type Resource = Extract<BlockView, { type: 'resource' | 'resource_link' }>;

/** Returns whether the user attached it: a file, pasted content, or the content of a mention. */
export function isAttachment(block: { readonly type: string }): block is Resource {
  const { type, uri = '' } = block as Partial<Resource>;
  return (type === 'resource' || type === 'resource_link') && /^(file|attachment|parley):/i.test(uri);
}

/** Returns distinct names: files of the same name get their folder, then a number. */
export function attachmentNames(all: readonly Resource[]): readonly string[] {
  const own = all.map(({ uri }) => nameOf(uri));
  const withFolder = all.map(({ uri }, index) => {
    const name = own[index]!;
    const isAlone = own.every((other, at) => other !== name || all[at]!.uri === uri);
    return isAlone ? name : `${nameOf(uri.replace(/\/[^/]*$/, ''))}/${name}`;
  });
  return numbered(withFolder).map(revealControls);
}

export function createAttachment(block: Resource, name: string): HTMLElement {
  if (!/^file:/i.test(block.uri)) {
    const text = block.type === 'resource' ? block.text : undefined;
    return text === undefined ? el('span', 'chip', icon('file'), name) : createFold(name, text);
  }
  return createResourceChip(name, block.uri);
}

export function createBlock(block: Exclude<BlockView, { type: 'text' }>, save: () => void): HTMLElement {
  switch (block.type) {
    case 'image': {
      const image = createImage(block.data, block.mimeType);
      return block.uri !== undefined && isArtifact(block.uri)
        ? el('div', 'resource', image, createSave(nameOf(block.uri), save))
        : image;
    }
    case 'audio':
      return createAudio(block.data, block.mimeType);
    case 'resource_link':
      return createResourceChip(block.title ?? block.name, block.uri);
    case 'resource':
      return createResource(block, save);
    case 'tooLarge':
      return el('p', 'dim', strings.tooLarge[block.kind](block.bytes));
    case 'unknown':
      return createFold(block.forAgent ? strings.forAgent : strings.unknownContent(block.kind), block.json);
  }
}

function createResource(
  { uri, text, mimeType, bytes }: Extract<BlockView, { type: 'resource' }>,
  save: () => void,
): HTMLElement {
  const name = revealControls(nameOf(uri));
  const saveButton = createSave(nameOf(uri), save);
  const box = el('div', 'resource');
  if (text !== undefined && isArtifact(uri)) {
    box.append(createFold(name, text), saveButton);
    return box;
  }
  const chip = isArtifact(uri) ? el('span', 'chip', icon('file'), name) : createResourceChip(name, uri);
  if (text !== undefined) box.append(chip, saveButton, createFold(strings.embedded, text));
  else if (bytes === undefined) return chip;
  else {
    const size = strings.resourceSize(revealControls(mimeType ?? strings.embedded), bytes);
    box.append(chip, el('span', 'size', el('span', 'dim', size), saveButton));
  }
  return box;
}

function createSave(name: string, save: () => void): HTMLElement {
  return iconButton('save', strings.saveFile(revealControls(name)), save);
}

/** Returns whether the content was created by the agent and has no location to open. */
function isArtifact(uri: string): boolean {
  return uri.startsWith('artifact:');
}

function createImage(data: string, mimeType: string): HTMLElement {
  if (!/^image\/[\w.+-]+$/.test(mimeType)) return el('p', 'dim', `${strings.image} (${revealControls(mimeType)})`);
  const picture = (className: string): HTMLImageElement => {
    const image = el('img', className);
    image.src = `data:${mimeType};base64,${data}`;
    image.alt = strings.image;
    return image;
  };
  const open = button('picture-button', '', () => enlarge(picture('picture-whole')));
  open.append(picture('picture'));
  return setAttributes(open, { 'aria-label': strings.enlargeImage, title: strings.enlargeImage });
}

function enlarge(image: HTMLImageElement): void {
  const close = button('picture-close', '', () => view.close());
  close.append(image);
  setAttributes(close, { 'aria-label': strings.closeImage, title: strings.closeImage });
  const view = setAttributes(el('dialog', 'picture-view', close), { 'aria-label': strings.image });
  view.addEventListener('close', () => view.remove());
  document.body.append(view);
  view.showModal();
}

/** Nothing is fetched or played automatically. */
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

export function createResourceChip(name: string, uri: string): HTMLElement {
  const chip = link('chip', revealControls(name || uri), revealControls(uri), () => openLink(uri));
  chip.prepend(icon(/^https?:/i.test(uri) ? 'link-external' : 'file'));
  return setAttributes(chip, { 'data-uri': uri });
}

/** Returns the last segment of a URI with the lines of its fragment: `a.ts:4–6`. */
function nameOf(uri: string): string {
  const name = decodeURIComponentSafely(uri.split(/[?#]/, 1)[0]!.split('/').at(-1) || uri);
  const [, first, last] = /#L(\d+)(?:-L?(\d+))?$/.exec(uri) ?? [];
  if (first === undefined) return name;
  return last === undefined ? `${name}:${first}` : `${name}:${first}–${last}`;
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
