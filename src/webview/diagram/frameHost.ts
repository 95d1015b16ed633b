// The panel's side of the sandboxed frame that draws: created on demand, removed if it hangs.
import { type FromFrame, MAX_DIAGRAM, MAX_PICTURE, type ToFrame } from '../../panel/diagramContract';
import { setAttributes } from '../dom/dom';
import { fileUrl } from '../dom/fileUrl';

const PATIENCE_MS = 10_000;

type Order = Omit<ToFrame, 'id' | 'library'>;
export type Drawn = Omit<Extract<FromFrame, { svg: string }>, 'id'>;
type Answer = Drawn | { readonly error: string } | 'too-long' | 'no-picture';

export class FrameHost {
  #frame: HTMLIFrameElement | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #orderCount = 0;

  /**
   * Draws diagrams one after another.
   * @param title accessible name of the frame
   * @returns undefined if no longer wanted when its turn comes; `error` is Mermaid's message
   */
  draw(order: Order, title: string, isWanted: () => boolean): Promise<Answer | undefined> {
    if (order.source.length > MAX_DIAGRAM) return Promise.resolve('no-picture');
    const drawn = this.#queue.then(() => (isWanted() ? this.#draw(order, title) : undefined));
    this.#queue = drawn.catch(() => {});
    return drawn;
  }

  async #draw(order: Order, title: string): Promise<Answer> {
    const id = ++this.#orderCount;
    let library: string | undefined;
    if (!this.#frame) {
      const mermaid: { readonly default: string } = await import(fileUrl('mermaid.js'));
      library = mermaid.default;
      this.#frame = await frameFor(title);
    }
    const { contentWindow } = this.#frame;
    const answer = await new Promise<FromFrame | undefined>((resolve) => {
      const timer = setTimeout(() => end(), PATIENCE_MS);
      const onMessage = ({ source, data }: MessageEvent<FromFrame>): void => {
        if (source === contentWindow && data.id === id) end(data);
      };
      const end = (data?: FromFrame): void => {
        clearTimeout(timer);
        window.removeEventListener('message', onMessage);
        resolve(data);
      };
      window.addEventListener('message', onMessage);
      const message: ToFrame = { ...order, id, library };
      // The frame has an opaque origin.
      contentWindow?.postMessage(message, '*');
    });
    if (answer) return checked(answer);
    this.#frame.remove();
    this.#frame = undefined;
    return 'too-long';
  }
}

async function frameFor(title: string): Promise<HTMLIFrameElement> {
  const template = document.querySelector<HTMLTemplateElement>('#frame')!;
  const frame = template.content.firstElementChild!.cloneNode(true) as HTMLIFrameElement;
  setAttributes(frame, { title, class: 'diagram-frame', 'aria-hidden': 'true', tabindex: -1 });
  const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
  document.body.append(frame);
  await loaded;
  return frame;
}

function checked(answer: FromFrame): Answer {
  if ('error' in answer) return { error: String(answer.error) };
  const { svg, width, height, label } = answer;
  const isSize = (value: unknown): boolean => typeof value === 'number' && value > 0 && value < 1e6;
  const isPicture = typeof svg === 'string' && svg.length <= MAX_PICTURE && isSize(width) && isSize(height);
  return isPicture ? { svg, width, height, label: String(label).slice(0, 1_000) } : 'no-picture';
}
