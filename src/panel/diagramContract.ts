// The contract between the extension, the page of a diagram and the frame that draws it. The frame
// gets Mermaid and one source, and gives back one picture.

export const MAX_DIAGRAM = 50_000;
export const MAX_PICTURE = 10_000_000;

/** `library`: the script of Mermaid. */
export interface ToDiagram {
  readonly type: 'diagram';
  readonly library: string;
  readonly source: string;
}

export type FromDiagram =
  | { readonly type: 'hello' }
  | { readonly type: 'save'; readonly svg: string }
  | { readonly type: 'problem'; readonly kind: 'error' | 'csp'; readonly text: string };

export interface ToFrame {
  readonly id: number;
  readonly source: string;
  /** If the frame does not have it yet. */
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
