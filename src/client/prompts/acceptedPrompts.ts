// Messages that the agent holds in a queue of its own: the user may ask to have one back until a
// turn takes it in (src/acp/proposals/promptLifecycle.ts).
import type { PromptQueue } from '../../session/queue/queue';

/** In milliseconds. */
const TAKE_BACK_MS = 5000;

interface AcceptedPrompt {
  readonly takeBack: AbortController;
  /** What happens when the agent gives it back; undefined: the user has not asked. */
  wanted?: 'remove' | 'edit' | undefined;
  timer?: ReturnType<typeof setTimeout>;
}

export class AcceptedPrompts {
  readonly #queue: PromptQueue;
  readonly #prompts = new Map<string, AcceptedPrompt>();

  constructor(queue: PromptQueue) {
    this.#queue = queue;
  }

  /**
   * A message is sent while others run.
   * @returns a signal that is aborted when the user wants it back
   */
  add(id: string): AbortSignal {
    const takeBack = new AbortController();
    this.#prompts.set(id, { takeBack });
    return takeBack.signal;
  }

  /** Asks the agent to give a message back (`$/cancel_request` for its prompt). */
  takeBack(id: string, why: 'remove' | 'edit'): void {
    const item = this.#queue.find(id);
    const prompt = this.#prompts.get(id);
    if (item?.state !== 'accepted' || !prompt) return;
    prompt.wanted = why;
    this.#queue.setState(item, 'accepted', 'taking-back');
    prompt.takeBack.abort();
    prompt.timer ??= setTimeout(() => {
      prompt.wanted = undefined;
      this.#queue.setState(item, 'accepted', 'not-given-back');
    }, TAKE_BACK_MS);
  }

  /** @returns what the user wanted of it */
  forget(id: string): 'remove' | 'edit' | undefined {
    const prompt = this.#prompts.get(id);
    clearTimeout(prompt?.timer);
    this.#prompts.delete(id);
    return prompt?.wanted;
  }

  clear(): void {
    for (const id of [...this.#prompts.keys()]) this.forget(id);
  }
}
