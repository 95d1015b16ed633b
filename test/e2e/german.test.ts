// A VS Code whose language is German: settings and commands, the host's lists and the panel speak it.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { screenshot } from '../support/vscode/openWindow';
import { useVsCode } from '../support/vscode/useVsCode';
import { chatFrame, command, inList } from '../support/vscode/workbench';

const read = (path: string): Readonly<Record<string, string>> => JSON.parse(readFileSync(path, 'utf8'));
const manifest = read('package.nls.de.json');
const bundle = read('l10n/bundle.l10n.de.json');

function german(texts: Readonly<Record<string, string>>, key: string): string {
  const text = texts[key];
  assert.ok(text, key);
  return text;
}

describe('a VS Code in German', function () {
  this.timeout(120_000);
  // The workbench for the browser takes its own texts from a server of its maker, and its language from here.
  const vscode = useVsCode({ inEachDocument: "globalThis._VSCODE_NLS_LANGUAGE = 'de';" });

  it('has commands, lists and the panel in German', async () => {
    const { page } = vscode.window;
    await command(page, `Parley: ${german(manifest, 'command.open')}`);
    const frame = chatFrame(page, 'panel');
    const composer = frame.getByRole('textbox', { name: german(bundle, 'Message') });
    await composer.waitFor();
    assert.equal(await frame.locator('html').getAttribute('lang'), 'de');
    await frame.getByRole('button', { name: german(bundle, 'Send'), exact: true }).waitFor();
    await frame.locator('[role=status][data-state="ready"]').getByText(german(bundle, 'Ready')).waitFor();
    await composer.fill('/edit');
    await composer.press('Enter');
    await frame.locator('.answers button').first().waitFor();
    await screenshot(page, 'german');
    const placeholder = german(bundle, 'Select an agent');
    await inList(page, `Parley: ${german(manifest, 'command.selectAgent')}`, (list, patience) =>
      list.getByPlaceholder(placeholder).waitFor(patience),
    );
    await page.keyboard.press('Escape');
  });
});
