// Opens what the texts of a transcript name: locations in files, links, addresses.
import { openAddress, openLink } from './openLink';
import { openLocation } from './openLocation';

export interface LinkOpener {
  /** @throws ParleyError `location-not-found`, `location-refused` */
  openLocation(path: string, line: number | undefined, roots: readonly string[]): Promise<void>;
  openLink(href: string, roots: readonly string[]): Promise<void>;
  /** @returns false if the user or the system refuses */
  openAddress(url: string): Promise<boolean>;
}

export class EditorLinks implements LinkOpener {
  readonly #openPart: (url: string) => Promise<boolean>;

  /** @param openPart opens an address that needs a token; false for others */
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
