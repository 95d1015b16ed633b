// The frame that draws, as its page sees it: made when it is needed, and taken away when it hangs.
import { type FromFrame, MAX_PICTURE, type ToFrame } from '../../panel/diagramContract';
import { setAttributes } from '../dom/dom';

const PATIENCE_MS = 20_000;

type Order = Omit<ToFrame, 'id' | 'library'>;
export type Drawn = Omit<Extract<FromFrame, { svg: string }>, 'id'>;

export class FrameHost {
  readonly #library: string;
  readonly #title: string;
  readonly #patienceMs: number;
  #frame: Promise<HTMLIFrameElement> | undefined;
  #drafts = 0;

  /** @param title accessible name of the frame */
  constructor(library: string, title: string, patienceMs = PATIENCE_MS) {
    this.#library = library;
    this.#title = title;
    this.#patienceMs = patienceMs;
  }

  /**
   * @returns the picture or Mermaid's error; null if it took too long; undefined if another order
   * followed
   */
  async draw(order: Order): Promise<Drawn | string | null | undefined> {
    const id = ++this.#drafts;
    const isNew = this.#frame === undefined;
    this.#frame ??= this.#start();
    const frame = await this.#frame;
    const { contentWindow } = frame;
    const answer = await new Promise<FromFrame | undefined>((resolve) => {
      const timer = setTimeout(() => end(), this.#patienceMs);
      const hear = ({ source, data }: MessageEvent<FromFrame>): void => {
        if (source === contentWindow && data.id === id) end(data);
      };
      const end = (data?: FromFrame): void => {
        clearTimeout(timer);
        window.removeEventListener('message', hear);
        resolve(data);
      };
      window.addEventListener('message', hear);
      const message: ToFrame = { ...order, id, library: isNew ? this.#library : undefined };
      // Its origin has no name.
      contentWindow?.postMessage(message, '*');
    });
    if (id !== this.#drafts) return undefined;
    if (!answer) {
      frame.remove();
      this.#frame = undefined;
      return null;
    }
    return 'error' in answer ? answer.error : checked(answer);
  }

  async #start(): Promise<HTMLIFrameElement> {
    const template = document.querySelector<HTMLTemplateElement>('#frame')!;
    const frame = template.content.firstElementChild!.cloneNode(true) as HTMLIFrameElement;
    setAttributes(frame, { title: this.#title, 'aria-hidden': 'true', tabindex: -1 });
    const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
    document.body.append(frame);
    await loaded;
    return frame;
  }
}

/** Checks the answer of the frame, which is not trusted. Returns '' if it is no picture. */
function checked({ svg, width, height, label }: Drawn): Drawn | string {
  const isSize = (value: unknown): boolean => typeof value === 'number' && value > 0 && value < 1e6;
  const isPicture = typeof svg === 'string' && svg.length <= MAX_PICTURE && isSize(width) && isSize(height);
  return isPicture ? { svg, width, height, label: String(label).slice(0, 1_000) } : '';
}
