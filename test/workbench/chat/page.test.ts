// A chat page before and after the product listens, over a webview of the test.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { extensions } from 'vscode';
import { Page } from '../../../src/workbench/activation/page';
import { pageHtml } from '../../../src/workbench/activation/pageHtml';
import { Holder } from './holder';

function open(): { holder: Holder; page: Page } {
  const extension = extensions.getExtension('parley.parley');
  assert.ok(extension);
  const holder = new Holder();
  return { holder, page: new Page(holder, extension.extensionUri) };
}

describe('a chat page', () => {
  it('is drawn before the product is loaded', () => {
    const { holder } = open();
    assert.match(holder.webview.html, /<textarea class="message"/);
    assert.equal(holder.webview.options.enableScripts, true);
  });

  it('passes its texts to a page in another language', () => {
    const extension = extensions.getExtension('parley.parley');
    assert.ok(extension);
    const path = join(extension.extensionPath, 'l10n/bundle.l10n.de.json');
    const german = JSON.parse(readFileSync(path, 'utf8')) as Readonly<Record<string, string>>;
    const bundle: Readonly<Record<string, string>> = { ...german, 'Ask Agent…': '„Agent“ </script> fragen…' };
    const html = pageHtml(new Holder().webview, extension.extensionUri, { language: 'de', bundle });
    assert.match(html, /<html lang="de"/);
    assert.match(html, /<button[^>]* aria-label="Senden"/);
    assert.match(html, /placeholder="&#8222;Agent&#8220; &#60;\/script> fragen&#8230;"/);
    assert.equal(Buffer.byteLength(html), html.length, 'the page is ASCII');
    const texts = JSON.parse(/id="texts">(.*?)<\/script>/.exec(html)?.[1] ?? '') as typeof bundle;
    assert.equal(texts.Send, 'Senden');
    assert.equal(texts['Ask Agent…'], bundle['Ask Agent…']);
  });

  it('keeps what was typed and sent before anybody listened, in order', () => {
    const { holder, page } = open();
    const heard: unknown[] = [];
    holder.said.fire({ type: 'begun' });
    holder.said.fire('hello');
    holder.said.fire('send');
    page.listen({ receive: (message) => heard.push(message) });
    assert.deepEqual(heard, ['hello', 'send']);
    holder.said.fire('cancel');
    assert.deepEqual(heard, ['hello', 'send', 'cancel']);
  });

  it('has the processor for itself until its first script runs', async () => {
    const { holder, page } = open();
    let isOver = false;
    const speaking = page.hasBegun.then(() => {
      isOver = true;
    });
    await Promise.resolve();
    assert.equal(isOver, false);
    holder.said.fire({ type: 'begun' });
    await speaking;
  });

  it('abandons requests if it is closed before responding, or never responds', async () => {
    const { holder, page } = open();
    holder.disposed.fire();
    await page.hasBegun;
    await open().page.hasBegun;
  });

  it('is drawn once, however often VS Code reports the panel', () => {
    const { holder, page } = open();
    const told: boolean[] = [];
    page.listen({ receive() {}, visibilityChanged: (isVisible) => told.push(isVisible) });
    page.fireVisibility();
    holder.visible = false;
    page.fireVisibility();
    page.fireVisibility();
    holder.visible = true;
    page.fireVisibility();
    assert.deepEqual(told, [false, true]);
  });

  it('is not filled after the user has closed it', () => {
    const { holder, page } = open();
    assert.equal(page.isGone, false);
    holder.disposed.fire();
    assert.equal(page.isGone, true);
    assert.equal(page.isVisible, false);
    const heard: unknown[] = [];
    page.listen({ receive: (message) => heard.push(message) });
    holder.said.fire('late');
    assert.deepEqual(heard, []);
  });
});
