// What is kept of a window beside it: for tests that must not take the window away before it is. VS Code in a browser writes which editors are open every five seconds
// and not when its page goes, as a page cannot wait then.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { Server } from './startServer';

/** Waits until a draft of any session has these words in it, in the journal and in what the window remembers of its panel. */
export async function draftIsKept(server: Server, page: Page, words: string): Promise<void> {
  while (!kept(server, 'drafts').some((json) => json.includes(words))) await sleep(50);
  await panelIsKept(page, words);
}

/** Waits until other windows see a turn that has these words, which is some time after its end. */
export async function turnIsKept(server: Server, words: string): Promise<void> {
  const written = (file: DatabaseSync): boolean =>
    file.prepare('SELECT 1 FROM events WHERE json LIKE ?').get(`%${words}%`) !== undefined;
  while (!inJournal(server, written)) await sleep(50);
}

/** Waits until the workbench would open the chat's tab again. */
export async function tabIsKept(page: Page): Promise<void> {
  await panelIsKept(page, 'mainThreadWebview-parley.chat');
}

/** Waits until what the window remembers of its panel has these words in it. */
export async function panelIsKept(page: Page, words: string): Promise<void> {
  while (!(await windowState(page)).includes(words)) await sleep(250);
}

/** Waits until it is known of a session that its reader is not at the end. */
export async function placeIsKept(server: Server): Promise<void> {
  while (!kept(server, 'views').some((json) => json.includes('"atEnd":false'))) await sleep(50);
}

/** What a window that comes back reads: from the journal, and from what was not yet written there. */
function kept(server: Server, table: 'drafts' | 'views'): string[] {
  const folder = storageOf(server);
  const rows = inJournal(server, (file) => file.prepare(`SELECT json FROM ${table}`).all());
  if (!rows) return [];
  const streamed = readdirSync(folder).filter((name) => name.endsWith('.stream'));
  return [...rows.map(({ json }) => String(json)), ...streamed.flatMap((name) => latest(join(folder, name), table))];
}

/** What the journal of the server's windows says; undefined where there is none yet. */
function inJournal<T>(server: Server, read: (file: DatabaseSync) => T): T | undefined {
  const path = join(storageOf(server), 'parley.db');
  if (!existsSync(path)) return undefined;
  const file = new DatabaseSync(path, { readOnly: true });
  try {
    return read(file);
  } finally {
    file.close();
  }
}

function storageOf({ dataDir }: Server): string {
  return join(dataDir, 'data/User/globalStorage/parley.parley');
}

/** The latest value of each session in a stream file, whose lines for it are `[session, table, json]`. */
function latest(path: string, table: string): string[] {
  const values = new Map<unknown, string>();
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
  for (const line of lines) {
    const [session, name, json] = JSON.parse(line) as unknown[];
    if (name === table) values.set(session, String(json));
  }
  return [...values.values()];
}

/** Everything that the workbench has written to its storage in the browser, as text. */
function windowState(page: Page): Promise<string> {
  return page.evaluate(`(async () => {
    const request = (asked) => new Promise((resolve, reject) => {
      asked.onsuccess = () => resolve(asked.result);
      asked.onerror = () => reject(asked.error);
    });
    const texts = [];
    for (const { name } of await indexedDB.databases()) {
      const database = await request(indexedDB.open(name));
      for (const store of database.objectStoreNames)
        texts.push(JSON.stringify(await request(database.transaction(store).objectStore(store).getAll())));
      database.close();
    }
    return texts.join('');
  })()`);
}
