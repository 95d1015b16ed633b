// Opens what the texts of a transcript name: locations in files, links, addresses.
import { openAddress, openLink } from './openLink';
import { openLocation } from './openLocation';

/** Opens what a text names. What fails is thrown. */
export interface LinkOpener {
  /**
   * @param roots relative paths begin at one of these
   * @throws ParleyError `location-not-found`, `location-refused`
   */
  openLocation(path: string, line: number | undefined, roots: readonly string[]): Promise<void>;
  openLink(href: string, roots: readonly string[]): Promise<void>;
  /** Opens an address in the browser of the system; false where the user or the system does not. */
  openAddress(url: string): Promise<boolean>;
}

/** Opens links in editors of VS Code and in the browser. */
export class EditorLinks implements LinkOpener {
  readonly #openPart: (url: string) => Promise<boolean>;

  /**
   * @param openPart shows what lies behind an address that needs a token; false where it is another
   * one
   */
  constructor(openPart: (url: string) => Promise<boolean>) {
    this.#openPart = openPart;
  }

  openLocation(path: string, line: number | undefined, roots: readonly string[]): Promise<void> {
    return openLocation({ path, line }, roots);
  }

  async openLink(href: string, roots: readonly string[]): Promise<void> {
    if (!(await this.#openPart(href))) await openLink(href, roots);
  }

  openAddress(url: string): Promise<boolean> {
    return openAddress(url);
  }
}
