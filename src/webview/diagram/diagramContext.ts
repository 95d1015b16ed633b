// What the script that draws diagrams gets from the panel, whose state it does not share.
import type { strings, zoomStrings } from '../text/strings';

export interface DiagramContext {
  readonly words: typeof strings.diagrams & { readonly zoom: typeof zoomStrings };
  save(svg: string): void;
}
