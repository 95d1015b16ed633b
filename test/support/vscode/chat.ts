// A conversation in the panel as a person handles it: types, looks, answers, and waits for what the
// panel shows. Nothing here knows more than what can be seen.
import { strict as assert } from 'node:assert';
import type { ElementHandle, FrameLocator, Locator, Page } from 'playwright-core';
import { type ChatPlace, chatReady, command, copied, inList, quickInput, sendMessage } from './workbench';

export type ShownState =
  | 'idle'
  | 'starting'
  | 'initializing'
  | 'authRequired'
  | 'ready'
  | 'running'
  | 'requiresAction'
  | 'recovering'
  | 'exited'
  | 'failed';

type Role = Parameters<FrameLocator['getByRole']>[0];

export class Chat {
  readonly page: Page;
  readonly frame: FrameLocator;
  #turns = 0;

  private constructor(page: Page, frame: FrameLocator) {
    this.page = page;
    this.frame = frame;
  }

  static async open(page: Page): Promise<Chat> {
    await command(page, 'Parley: Focus Chat');
    const chat = await Chat.at(page, 'panel');
    await chat.state('ready');
    return chat;
  }

  static async at(page: Page, place: ChatPlace): Promise<Chat> {
    return new Chat(page, await chatReady(page, place));
  }

  get composer(): Locator {
    return this.frame.getByRole('textbox', { name: 'Message' });
  }

  get log(): Locator {
    return this.frame.getByRole('log', { name: 'Conversation' });
  }

  get permission(): Locator {
    return this.frame.getByRole('group', { name: /^Permission:/ });
  }

  /**
   * Waits until a question can be answered: one that has just appeared or moved cannot.
   * @param card absent: the open permission
   */
  async answerable(card: Locator = this.permission): Promise<void> {
    await card.locator('.answers button:not([aria-disabled])').first().waitFor();
  }

  /**
   * Presses an answer of a question. It is not pressed before it counts: each try would scroll, and
   * so move the card.
   */
  async answer(name: string, card: Locator = this.permission): Promise<void> {
    await this.answerable(card);
    await card.getByRole('button', { name, exact: true }).click();
  }

  get queue(): Locator {
    return this.frame.getByRole('list', { name: 'Queued messages' }).getByRole('listitem');
  }

  get failure(): Locator {
    return this.frame.locator('[data-error-code]');
  }

  button(name: string | RegExp): Locator {
    return this.frame.getByRole('button', { name, exact: true });
  }

  entries(kind: 'user' | 'agent' | 'thought' | 'tool' | 'plan' | 'notice' | 'error' | 'gap'): Locator {
    return this.frame.locator(`[role=article][data-kind=${kind}]`);
  }

  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  named(role: Role, name: string | RegExp): Locator {
    return this.frame.getByRole(role, { name, ...(typeof name === 'string' && { exact: true }) });
  }

  /** Waits until this has the focus. */
  focused(role: Role, name: string | RegExp): Promise<void> {
    return this.named(role, name).and(this.frame.locator(':focus')).waitFor();
  }

  /** Presses a key until this has the focus. */
  async reach(role: Role, name: string | RegExp, key: string): Promise<void> {
    const found = this.named(role, name).and(this.frame.locator(':focus'));
    for (let left = 25; left > 0 && (await found.count()) === 0; left--) await this.press(key);
    assert.equal(await found.count(), 1, `${key} leads to ${role} ${name}`);
  }

  async state(state: ShownState, timeout = 30_000): Promise<void> {
    await this.frame.locator(`[role=status][aria-label="Agent"][data-state="${state}"]`).waitFor({ timeout });
  }

  async send(text: string): Promise<void> {
    await sendMessage(this.frame, text);
  }

  async turnEnd(timeout?: number): Promise<string | null> {
    this.#turns += 1;
    // By its id and not by counting: of a long conversation the page holds only a part.
    const end = this.frame.locator(`[role=separator][data-turn-id="t${this.#turns}"]`);
    await end.waitFor(timeout === undefined ? {} : { timeout });
    return end.getAttribute('data-stop-reason');
  }

  async run(text: string): Promise<string | null> {
    await this.send(text);
    return this.turnEnd();
  }

  async newSession(): Promise<void> {
    const old = await this.#firstEntry();
    if (old) {
      await this.button('New session').click();
      await old.waitForElementState('hidden');
    }
    this.#turns = 0;
    await this.state('ready');
  }

  /** The element and not a locator: the next session may begin with an entry of the same id. */
  async #firstEntry(): Promise<ElementHandle | undefined> {
    return (await this.log.locator('[data-entry-id], [role=separator]').elementHandles())[0];
  }

  /**
   * Chooses an agent by its name, in the list that VS Code shows: a new session. Does not wait for
   * it to be ready.
   */
  async selectAgent(name: string): Promise<void> {
    const old = await this.#firstEntry();
    const list = quickInput(this.page);
    const show = async (): Promise<void> => {
      await this.frame.locator('.agent-name').click();
      await this.frame.getByRole('menuitem', { name: 'New session with…' }).click();
    };
    await inList(this.page, show, async (_list, patience) => {
      await list.getByPlaceholder('Select an agent').fill(name, patience);
      const row = list.locator('.monaco-list-row', { has: this.page.getByText(name, { exact: true }) });
      await row.first().waitFor(patience);
      await this.page.keyboard.press('Enter');
    });
    await list.waitFor({ state: 'hidden' });
    this.#turns = 0;
    await this.frame.locator('.agent-name', { hasText: name }).waitFor();
    // The session before may have been one of the same agent.
    await old?.waitForElementState('hidden');
  }

  async pick(picker: string, value: string): Promise<void> {
    await this.frame.getByRole('button', { name: new RegExp(`^${picker}: `) }).click();
    await this.frame.getByRole('listbox', { name: picker, exact: true }).getByText(value, { exact: true }).click();
    await this.button(`${picker}: ${value}`).waitFor();
  }

  async copyTurn(): Promise<string> {
    return this.copied(this.frame.getByRole('button', { name: 'Copy response' }).last());
  }

  async copied(button: Locator): Promise<string> {
    return copied(this.page, () => button.click());
  }
}
