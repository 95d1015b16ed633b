// A host that searches the session of a panel.
import { projectItem } from '../../../src/client/view/projectItem';
import { SessionFind } from '../../../src/client/view/sessionFind';
import type { FromWebview, ItemView } from '../../../src/panel/contract';
import type { SessionEvent } from '../../../src/session/events/event';
import { SessionModel } from '../../../src/session/model/model';
import type { Panel } from './browser';

export class FindHost {
  readonly model = new SessionModel();
  #panel: Panel | undefined;
  #find: SessionFind | undefined;
  #serving: Promise<void> | undefined;
  #isOver = false;

  constructor(...events: readonly SessionEvent[]) {
    for (const event of events) this.model.apply(event, 0);
  }

  get items(): ItemView[] {
    return this.model.state.entries.map((entry) => this.#project(entry));
  }

  serve(panel: Panel): void {
    this.#panel = panel;
    this.#serving = this.#serve(panel);
  }

  async apply(event: SessionEvent): Promise<void> {
    const { entries } = this.model.state;
    this.model.apply(event, 0);
    const index = entries.length - 1;
    await this.#panel?.update({ op: 'put', index, item: this.#project(entries[index]!) });
  }

  /** Call it while the panel is still open. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#find?.dispose();
    await this.#panel?.page.evaluate(() => window.dispatchEvent(new Event('find-host-over')));
    await this.#serving;
  }

  async #serve({ page }: Panel): Promise<void> {
    let seen = 0;
    while (!this.#isOver) {
      const messages: readonly FromWebview[] = await page.evaluate(
        (from) =>
          new Promise<readonly FromWebview[]>((resolve) => {
            const look = (): void => {
              if (host.posted.length > from) resolve(host.posted.slice(from));
              else requestAnimationFrame(look);
            };
            window.addEventListener('find-host-over', () => resolve([]), { once: true });
            look();
          }),
        seen,
      );
      seen += messages.length;
      for (const message of messages) this.#receive(message);
    }
  }

  #receive(message: FromWebview): void {
    const panel = this.#panel;
    if (message.type === 'page') {
      const items = this.items.slice(message.from, message.to);
      void panel?.send({ type: 'page', revision: panel.revision, from: message.from, items });
    }
    if (message.type === 'nested') {
      const { entries, nests } = this.model.state;
      const all = nests.childrenOf(entries[message.index]!);
      const items = all.map((entry) => ({ index: entry.index, item: this.#project(entry) }));
      const answer = { index: message.index, from: 0, total: all.length, items };
      void panel?.send({ type: 'nested', revision: panel.revision, ...answer });
    }
    if (message.type === 'findIn') this.#find?.findIn(message);
    if (message.type !== 'find' && message.type !== 'endFind') return;
    this.#find?.dispose();
    this.#find = undefined;
    if (message.type === 'endFind') return;
    const source = { model: this.model, whole: undefined, roots: [] };
    this.#find = new SessionFind(source, message, (answer) => void panel?.send(answer));
  }

  #project(entry: Parameters<typeof projectItem>[0]): ItemView {
    const { model } = this;
    return projectItem(entry, { state: model.state, turn: (id) => model.turn(id), roots: [], isOpenable: () => false });
  }
}
