// What the panel passes to the script that draws diagrams, which does not share its state.
import type { strings, zoomStrings } from '../text/strings';

export interface DiagramContext {
  readonly words: typeof strings.diagrams & { readonly zoom: typeof zoomStrings };
  save(svg: string): void;
}
