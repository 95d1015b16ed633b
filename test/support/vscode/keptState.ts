// Waits until VS Code has saved the state of a window, for tests that then close it. VS Code in a
// browser saves which editors are open every five seconds, and not when its page closes, as a page
// cannot wait then.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { Server } from './startServer';

export async function draftIsKept(server: Server, page: Page, words: string): Promise<void> {
  while (!keptDrafts(server).some((json) => json.includes(words))) await sleep(50);
  await panelIsKept(page, words);
}

/** Waits until the workbench would open the chat's tab again. */
export async function tabIsKept(page: Page): Promise<void> {
  await panelIsKept(page, 'mainThreadWebview-parley.chat');
}

export async function panelIsKept(page: Page, words: string): Promise<void> {
  while (!(await windowState(page)).includes(words)) await sleep(250);
}

/**
 * The drafts that a window that comes back reads: from the journal, and from what was not yet
 * written there.
 */
function keptDrafts(server: Server): string[] {
  const folder = storageOf(server);
  const path = join(folder, 'parley.db');
  if (!existsSync(path)) return [];
  const file = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = file.prepare('SELECT json FROM drafts').all();
    const streamed = readdirSync(folder).filter((name) => name.endsWith('.stream'));
    return [...rows.map(({ json }) => String(json)), ...streamed.flatMap((name) => latestDrafts(join(folder, name)))];
  } finally {
    file.close();
  }
}

function storageOf({ dataDir }: Server): string {
  return join(dataDir, 'data/User/globalStorage/parley.parley');
}

function latestDrafts(path: string): string[] {
  const drafts = new Map<unknown, string>();
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
  for (const line of lines) {
    const [session, table, json] = JSON.parse(line) as unknown[];
    if (table === 'drafts') drafts.set(session, String(json));
  }
  return [...drafts.values()];
}

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
