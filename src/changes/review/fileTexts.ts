// Contents of versions and of present files, and their lines.

import { Slices } from '../lines/slices';
import { type TextLines, textLines } from '../lines/textLines';
import type { FileVersion } from '../model/fileChange';
import type { FolderStates } from '../model/folderStore';

/** A text file without lines. */
export const NO_LINES: TextLines = { bytes: Buffer.alloc(0), count: 0, starts: new Uint32Array(1), isOpen: false };

/** Reads and writes versions of one folder. */
export class FileTexts {
  readonly slices = new Slices();
  readonly root: string;
  readonly #states: FolderStates;

  constructor(states: FolderStates, root: string) {
    this.#states = states;
    this.root = root;
  }

  /** @throws ParleyError `state-gone`, `version-not-kept` */
  bytes(version: FileVersion): Promise<Buffer> {
    return this.#states.read(this.root, version);
  }

  /**
   * The lines of a version; none where there is no file.
   * @returns undefined where it has no lines to compare: it is a link, or not text
   * @throws ParleyError `state-gone`, `version-not-kept`
   */
  async lines(version: FileVersion | undefined): Promise<TextLines | undefined> {
    if (!version) return NO_LINES;
    return version.mode === '120000' ? undefined : textLines(await this.bytes(version), this.slices);
  }

  /** The lines of a content; undefined where it is not text. */
  linesOf(content: Buffer): Promise<TextLines | undefined> {
    return textLines(content, this.slices);
  }

  /** As {@link lines}, also undefined where only the hash of the version is known. */
  async comparable(version: FileVersion | undefined): Promise<TextLines | undefined> {
    return version?.isHashOnly ? undefined : this.lines(version);
  }

  /** Keeps a content; `like`: a version that may have the same. */
  async keep(content: Buffer, mode: FileVersion['mode'], like?: FileVersion): Promise<FileVersion> {
    const isLike = like && !like.isHashOnly && like.size === content.length && (await this.bytes(like)).equals(content);
    return isLike ? { ...like, mode } : this.#states.write(this.root, content, mode);
  }
}

/** Returns whether two versions have lines that can be compared: neither is missing or a link. */
export function areFiles(one: FileVersion | undefined, two: FileVersion | undefined): boolean {
  return one !== undefined && two !== undefined && [one, two].every((v) => v.mode !== '120000' && !v.isHashOnly);
}
