// Contents and lines of versions and present files.

import { type TextLines, textLines } from '../lines/hunks';
import { Slices } from '../lines/slices';
import type { FileVersion, FolderStates } from '../model/fileChange';

export const NO_LINES: TextLines = { bytes: Buffer.alloc(0), count: 0, starts: new Uint32Array(1), isOpen: false };

export class FileTexts {
  readonly slices = new Slices();
  readonly root: string;
  readonly #states: FolderStates;

  constructor(states: FolderStates, root: string) {
    this.#states = states;
    this.root = root;
  }

  bytes(version: FileVersion): Promise<Buffer> {
    return this.#states.read(this.root, version);
  }

  /** Undefined for links and binary files. Throws ParleyError `state-gone`, `version-not-kept`. */
  async lines(version: FileVersion | undefined): Promise<TextLines | undefined> {
    if (!version) return NO_LINES;
    return version.mode === '120000' ? undefined : textLines(await this.bytes(version), this.slices);
  }

  linesOf(content: Buffer): Promise<TextLines | undefined> {
    return textLines(content, this.slices);
  }

  /** Like {@link lines}; also undefined if only the hash is known. */
  async comparable(version: FileVersion | undefined): Promise<TextLines | undefined> {
    return version?.isHashOnly ? undefined : this.lines(version);
  }

  async keep(content: Buffer, mode: FileVersion['mode'], like?: FileVersion): Promise<FileVersion> {
    const isUnchanged =
      like && !like.isHashOnly && like.size === content.length && (await this.bytes(like)).equals(content);
    return isUnchanged ? { ...like, mode } : this.#states.write(this.root, content, mode);
  }
}

export function areFiles(one: FileVersion | undefined, two: FileVersion | undefined): boolean {
  return one !== undefined && two !== undefined && [one, two].every((v) => v.mode !== '120000' && !v.isHashOnly);
}
