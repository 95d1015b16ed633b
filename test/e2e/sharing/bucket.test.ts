// A bucket whose keys are wrong, in the installed extension: one warning with what to do, a count of what waits, no link to nothing; with the right keys all goes by itself.
import { strict as assert } from 'node:assert';
import type { Locator } from 'playwright-core';
import { parseDescriptor } from '../../../src/distributed/fetch/descriptor';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { BUCKET, BUCKET_KEYS, type BucketServer, startBucketServer } from '../../support/servers/bucketServer';
import type { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { useChat } from '../../support/vscode/useChat';
import { command, copied, inList, quickInput } from '../../support/vscode/workbench';

/** Filled before VS Code starts, which reads it then. */
const settings: Record<string, unknown> = { 'parley.defaultAgent': 'demo' };

describe('a bucket of the user', () => {
  let server: BucketServer;
  let chat: Chat;

  before('serve a bucket that checks signatures', async () => {
    server = await startBucketServer({ directory: await scratchFolder() });
    const endpoint = `http://127.0.0.1:${server.port}`;
    settings['parley.resources'] = { type: 's3', endpoint, region: 'us-east-1', bucket: BUCKET };
  });
  const vscode = useChat({ theme: 'dark', settings }, (opened) => {
    chat = opened;
  });
  after(async () => {
    await server.close();
    await removeScratch();
  });

  /** The notifications with a text, in the list of all. */
  async function notices(hasText: string): Promise<Locator> {
    const { page } = vscode.window;
    await command(page, 'Notifications: Show Notifications');
    return page.locator('.notifications-center .notification-list-item', { hasText });
  }
  const dialog = () => vscode.window.page.locator('.monaco-dialog-box');
  const waiting = () => vscode.window.page.locator('.statusbar-item', { hasText: 'not uploaded' });

  async function enterKeys({ accessKeyId, secretAccessKey }: typeof BUCKET_KEYS, run: () => Promise<void>) {
    const { page } = vscode.window;
    await run();
    const box = quickInput(page);
    for (const [title, text] of [
      ['Access key ID', accessKeyId],
      ['Secret access key', secretAccessKey],
    ] as const) {
      await box.getByText(`: ${title}`).waitFor();
      await box.locator('input.input').fill(text);
      await page.keyboard.press('Enter');
    }
  }

  /** Copies the link as a user does, up to the last question that is always asked. */
  async function copyLink(): Promise<void> {
    const { page } = vscode.window;
    await inList(page, 'Parley: Copy Session Link', (list, patience) =>
      list.locator('.monaco-list-row', { hasText: 'opens the session in VS Code' }).click(patience),
    );
    await dialog().getByRole('button', { name: 'Copy', exact: true }).click();
  }

  it('is not needed, and nothing is served, where another agent continues the session', async () => {
    const { page } = vscode.window;
    await chat.run('/echo one');
    await inList(page, 'Parley: Continue with Another Agent…', (list, patience) =>
      list.locator('.monaco-list-row', { hasText: 'Demo' }).first().click(patience),
    );
    await chat.entries('notice').getByText('Continued from Demo').first().waitFor();
    await chat.entries('user').getByText('/echo one').waitFor();
    assert.equal(await page.locator('.statusbar-item', { hasText: 'Parley: Sharing' }).count(), 0);
    await (await notices('has no credentials yet')).waitFor();
    await command(page, 'Notifications: Clear All Notifications');
  });

  it('is tested as soon as it has keys, and wrong keys are reported with what to do', async () => {
    const { page } = vscode.window;
    await enterKeys({ ...BUCKET_KEYS, secretAccessKey: 'wrong' }, () =>
      command(page, 'Parley: Set Storage Credentials…'),
    );
    const warning = await notices('denied access (SignatureDoesNotMatch)');
    await warning.getByText('Check the access key').waitFor();
    for (const name of ['Enter Credentials', 'Open Settings', 'Retry'])
      await warning.getByRole('button', { name }).waitFor();
    await screenshot(page, 'bucket-refused-dark');
  });

  it('holds back links to messages that it does not have yet, and the status bar counts them', async () => {
    const { page } = vscode.window;
    await chat.send('/echo two');
    // The first turn of the session that goes on from the other one.
    await chat.log.locator('[role=separator][data-turn-id="t1"]').waitFor();
    await page.evaluate('navigator.clipboard.writeText("before")');
    await copyLink();
    await dialog().getByText("The storage server doesn't have all messages").waitFor();
    await dialog().getByText('Nothing was copied.').waitFor();
    assert.equal(await dialog().getByRole('button', { name: 'Copy Anyway' }).count(), 0);
    await screenshot(page, 'bucket-not-copied-dark');
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'before');
    await waiting().waitFor();
    assert.match((await waiting().textContent()) ?? '', /[2-9] messages not uploaded/);
    assert.equal(await (await notices('denied access')).count(), 1, 'it is said once');
    await screenshot(page, 'bucket-waiting-dark');
  });

  it('gets all waiting messages once its keys are right, and links to them work', async () => {
    const { page } = vscode.window;
    const warning = await notices('denied access');
    await enterKeys(BUCKET_KEYS, () => warning.getByRole('button', { name: 'Enter Credentials' }).click());
    await waiting().waitFor({ state: 'hidden' });
    const link = await copied(page, copyLink);
    const source = parseDescriptor(link);
    assert.equal(source.kind, 'descriptor');
    const { history } = source.descriptor;
    assert.equal(history.length, 4);
    for (const url of history) assert.equal((await fetch(url)).status, 200, url);
    assert.equal(await dialog().count(), 0);
    await screenshot(page, 'bucket-mended-dark');
  });
});
