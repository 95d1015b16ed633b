// The packaged extension in the language of VS Code.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { inNewDocuments } from '../support/vscode/newDocuments';
import { screenshot } from '../support/vscode/openWindow';
import { useVsCode } from '../support/vscode/useVsCode';
import { chatFrame, command, inList } from '../support/vscode/workbench';

const read = (path: string): Readonly<Record<string, string>> => JSON.parse(readFileSync(path, 'utf8'));

describe('the installed extension', () => {
  const vscode = useVsCode({ theme: 'dark', settings: { 'parley.defaultAgent': 'demo' } });

  it('speaks German in a VS Code in German: commands, lists and the panel', async () => {
    const manifest = read('package.nls.de.json');
    const bundle = read('l10n/bundle.l10n.de.json');
    const text = (texts: Readonly<Record<string, string>>, key: string): string => {
      const found = texts[key];
      assert.ok(found, key);
      return found;
    };
    const { page } = vscode.window;
    // The workbench for the browser takes its own texts from a server of its maker, and its
    // language from here.
    const endGerman = await inNewDocuments(page, "globalThis._VSCODE_NLS_LANGUAGE = 'de';");
    await page.reload();
    await page.locator('.monaco-workbench .part.statusbar').waitFor({ timeout: 60_000 });
    await command(page, `Parley: ${text(manifest, 'command.open')}`);
    const frame = chatFrame(page, 'panel');
    await frame.getByRole('textbox', { name: text(bundle, 'Message') }).waitFor();
    assert.equal(await frame.locator('html').getAttribute('lang'), 'de');
    await frame.getByRole('button', { name: text(bundle, 'Send'), exact: true }).waitFor();
    await screenshot(page, 'german');
    await inList(page, `Parley: ${text(manifest, 'command.selectAgent')}`, (list, patience) =>
      list.getByPlaceholder(text(bundle, 'Select an agent')).waitFor(patience),
    );
    await page.keyboard.press('Escape');
    await endGerman();
  });
});
