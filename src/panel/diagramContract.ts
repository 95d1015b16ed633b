// The contract between the panel and the frame that draws diagrams. The frame gets Mermaid and one
// source, and gives back one picture.

/** Maximum characters of a source. */
export const MAX_DIAGRAM = 50_000;
/** Maximum characters of an SVG. */
export const MAX_PICTURE = 2_000_000;

export interface ToFrame {
  readonly id: number;
  readonly source: string;
  /** The script of Mermaid, if the frame does not have it yet. */
  readonly library: string | undefined;
  readonly background: string;
  readonly fontFamily: string;
  readonly theme: Readonly<Record<string, string | boolean>>;
}

/** `error`: in Mermaid's words. */
export type FromFrame = { readonly id: number } & (
  | { readonly error: string }
  | {
      readonly svg: string;
      readonly width: number;
      readonly height: number;
      /** The description of the diagram. */
      readonly label: string;
    }
);
