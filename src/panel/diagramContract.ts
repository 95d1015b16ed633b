// The contract between the extension, the page of a diagram and the frame that draws it. The frame
// gets Mermaid and one source, and gives back one picture.

/** Characters of a diagram's source, and of its picture. */
export const MAX_DIAGRAM = 50_000;
export const MAX_PICTURE = 10_000_000;

/** From the extension. `library`: the script of Mermaid; `source`: what the agent wrote. */
export interface ToDiagram {
  readonly type: 'diagram';
  readonly library: string;
  readonly source: string;
}

export type FromDiagram =
  | { readonly type: 'hello' }
  /** Saves the picture where the user wants it. */
  | { readonly type: 'save'; readonly svg: string }
  | { readonly type: 'problem'; readonly kind: 'error' | 'csp'; readonly text: string };

/** From the page to its frame. */
export interface ToFrame {
  /** Of the draft that is answered. */
  readonly id: number;
  readonly source: string;
  /** Where the frame does not have it yet. */
  readonly library: string | undefined;
  readonly background: string;
  readonly fontFamily: string;
  /** Variables of Mermaid's theme “base”. */
  readonly theme: Readonly<Record<string, string | boolean>>;
}

/** From the frame. `error`: why there is no picture, in Mermaid's words. */
export type FromFrame = { readonly id: number } & (
  | { readonly error: string }
  | {
      readonly svg: string;
      readonly width: number;
      readonly height: number;
      /** What the source says about it for people who do not see it. */
      readonly label: string;
    }
);
