// Loading the product once. After a failure, pages report it, keep the user's input, and can retry.
import { strict as assert } from 'node:assert';
import type { Page, PageListener } from '../../../../src/workbench/activation/page';
import { Starter } from '../../../../src/workbench/activation/starter';

class FakePage {
  readonly posted: { type: string; [more: string]: unknown }[] = [];
  readonly hasBegun = Promise.resolve();
  isGone = false;
  #listener: PageListener | undefined;
  #kept: unknown[] = [];
  readonly post = (message: { type: string }): void => void this.posted.push(message);
  onDidDispose(): { dispose(): void } {
    return { dispose() {} };
  }
  listen(listener: PageListener): { dispose(): void } {
    this.#listener = listener;
    for (const message of this.#kept.splice(0)) listener.receive(message);
    return {
      dispose: () => {
        this.#listener = undefined;
      },
    };
  }
  redeliver(messages: readonly unknown[]): void {
    for (const message of messages) this.say(message);
  }
  say(message: unknown): void {
    if (this.#listener) this.#listener.receive(message);
    else this.#kept.push(message);
  }
  get asPage(): Page {
    return this as unknown as Page;
  }
  get failure(): { code: string; hint: string; actions: { id: string; label: string }[] } | undefined {
    const [{ patch } = { patch: undefined }] = (this.posted.at(-1)?.ops ?? []) as { patch: { error: never } }[];
    return patch?.error;
  }
}

describe('a product that fails to load', () => {
  let broken: string | undefined;
  let composed: number;
  let heard: unknown[];
  let ended: number;
  let logged: string[];
  let shown: number;
  let starter: Starter<{ chat: { fill(page: Page): void }; end(): Promise<void> }>;

  beforeEach(() => {
    broken = 'EROFS: read-only file system';
    composed = 0;
    ended = 0;
    shown = 0;
    heard = [];
    logged = [];
    starter = new Starter(
      () => {
        composed += 1;
        if (broken !== undefined) throw new Error(broken);
        return {
          chat: {
            fill: (page) => void page.listen({ receive: (message) => heard.push(message) }),
          },
          end: async () => {
            ended += 1;
          },
        };
      },
      () => ({ error: (text: string | Error) => void logged.push(String(text)), show: () => void shown++ }),
    );
  });

  it('is needed once a page has to be filled', async () => {
    assert.equal(starter.isWanted, false);
    const filled = starter.fill(new FakePage().asPage);
    assert.equal(starter.isWanted, true);
    await filled;
  });

  it('is loaded once, and all callers get the same error', async () => {
    assert.equal(starter.prepare(), false);
    assert.equal(starter.prepare(), false);
    assert.throws(() => starter.product(), { message: "Couldn't start Parley: EROFS: read-only file system" });
    await starter.fill(new FakePage().asPage);
    assert.equal(composed, 1);
    assert.equal(logged.length, 1);
    await starter.end();
    assert.equal(ended, 0);
  });

  it('is reported in the page, with the log and a retry button', async () => {
    const page = new FakePage();
    await starter.fill(page.asPage);
    assert.equal(page.failure?.code, 'start-failed');
    assert.equal(page.failure?.hint, 'EROFS: read-only file system');
    assert.deepEqual(
      page.failure?.actions.map(({ label }) => label),
      ['Try again', 'Show log'],
    );
    page.say({ type: 'action', id: 'showLog' });
    page.say({ type: 'command', command: 'showLog' });
    assert.equal(shown, 2);
  });

  it('is loaded by a retry, and then receives all messages of its pages', async () => {
    const [page, other] = [new FakePage(), new FakePage()];
    page.say({ type: 'hello', version: 1 });
    await starter.fill(page.asPage);
    await starter.fill(other.asPage);
    page.say({ type: 'draft', text: 'half a thought' });
    page.say({ type: 'action', id: 'tryAgain' });
    await page.hasBegun;
    await new Promise(setImmediate);
    assert.equal(composed, 2);
    assert.ok(page.failure && other.failure, 'it still does not start');
    broken = undefined;
    other.say({ type: 'action', id: 'tryAgain' });
    await new Promise(setImmediate);
    assert.equal(composed, 3);
    other.say({ type: 'wake' });
    assert.deepEqual(heard, [
      { type: 'hello', version: 1 },
      { type: 'draft', text: 'half a thought' },
      { type: 'wake' },
    ]);
  });

  it('leaves a message sent in the meantime in the composer', async () => {
    const page = new FakePage();
    await starter.fill(page.asPage);
    page.say({ type: 'send', clientId: 'c1', text: 'fix it' });
    assert.deepEqual(page.posted.at(-1), { type: 'rejected', clientId: 'c1', reason: "Couldn't start Parley." });
  });

  it("reports in the page if the chat itself can't be shown", async () => {
    broken = undefined;
    const page = new FakePage();
    let fails = true;
    starter.product().chat.fill = () => {
      if (fails) throw new Error('no folder to work in');
    };
    await starter.fill(page.asPage);
    assert.equal(page.failure?.hint, 'no folder to work in');
    assert.equal(composed, 1);
    fails = false;
    page.say({ type: 'action', id: 'tryAgain' });
    await new Promise(setImmediate);
    assert.equal(composed, 1);
    assert.equal(page.posted.length, 1);
  });

  it('is not loaded after the window has closed', async () => {
    broken = undefined;
    const page = new FakePage();
    starter.prepare();
    await starter.end();
    await starter.fill(page.asPage);
    assert.deepEqual([composed, ended, page.posted.length], [1, 1, 0]);
    assert.throws(() => starter.product());
  });
});
