// The contract between panel and diagram frame: Mermaid source in, one picture out.

export const MAX_DIAGRAM = 50_000;
export const MAX_PICTURE = 2_000_000;

export interface ToFrame {
  readonly id: number;
  readonly source: string;
  /** Mermaid's script, unless the frame has loaded it. */
  readonly library: string | undefined;
  readonly background: string;
  readonly fontFamily: string;
  readonly theme: Readonly<Record<string, string | boolean>>;
}

/** `error`: Mermaid's message. */
export type FromFrame = { readonly id: number } & (
  | { readonly error: string }
  | {
      readonly svg: string;
      readonly width: number;
      readonly height: number;
      readonly label: string;
    }
);
