// Add Agent… as a user handles it, and what it leaves on the disk.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { Chat } from './chat';
import type { Server } from './startServer';
import { inList } from './workbench';

interface Entry {
  readonly name: string;
  readonly command: string;
  readonly args?: readonly string[];
}

export class AddAgent {
  readonly #page: Page;
  readonly #server: Server;
  #settings: Readonly<Record<string, unknown>> = {};

  constructor(page: Page, server: Server) {
    this.#page = page;
    this.#server = server;
  }

  get dialog(): Locator {
    return this.#page.locator('.monaco-dialog-box');
  }

  /** While VS Code writes the file, it is empty for a moment: until then it is as it was. */
  get #onDisk(): Readonly<Record<string, unknown>> {
    const text = readFileSync(join(this.#server.dataDir, 'data/Machine/settings.json'), 'utf8');
    if (text !== '') this.#settings = JSON.parse(text);
    return this.#settings;
  }

  get configured(): Readonly<Record<string, Entry>> {
    return (this.#onDisk['parley.agents'] ?? {}) as Readonly<Record<string, Entry>>;
  }

  get downloads(): readonly string[] {
    const folder = join(this.#server.dataDir, 'data/User/globalStorage/parley.parley/agents/.downloads');
    return existsSync(folder) ? readdirSync(folder).sort() : [];
  }

  async choose(name: string, version: string): Promise<void> {
    await inList(this.#page, 'Parley: Add Agent…', async (list, patience) => {
      await list.getByPlaceholder('Select an agent to add').fill(name, patience);
      const row = list.locator('.monaco-list-row', { hasText: name });
      await row.filter({ hasText: version }).first().waitFor(patience);
      await list.locator('input.input').press('Enter', patience);
      await list.waitFor({ state: 'hidden', ...patience });
    });
  }

  async install(name: string, version: string): Promise<void> {
    await this.choose(name, version);
    await this.dialog.getByText(`${name} ${version}?`).waitFor();
    await this.dialog.getByRole('button', { name: 'Install' }).click();
    await this.dialog.waitFor({ state: 'detached' });
  }

  async answers(agent: string, text: string): Promise<void> {
    let chat = await Chat.at(this.#page, 'panel');
    await chat.frame.locator('.agent-name', { hasText: agent }).waitFor({ timeout: 60_000 });
    // The messages of the previous agent disappear when the new session is shown.
    await chat.log.locator('[data-entry-id]').first().waitFor({ state: 'detached', timeout: 60_000 });
    await chat.state('ready', 60_000);
    chat = await Chat.at(this.#page, 'panel');
    await chat.run('hello');
    await chat.entries('agent').getByText(text).last().waitFor();
  }
}
