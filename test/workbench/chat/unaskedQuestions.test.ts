// Dialogs that appear while the user types: which button has focus.
import { strict as assert } from 'node:assert';
import { type ExtensionContext, type MessageItem, type MessageOptions, window } from 'vscode';
import { silentLog } from '../../../src/base/log';
import { FolderConsent } from '../../../src/workbench/config/folderConsent';
import { RemoteHeaders } from '../../../src/workbench/config/remoteHeaders';

describe('an unexpected dialog', () => {
  const { showWarningMessage } = window;
  const memento = { get: (_key: string, fallback: unknown) => fallback, update: async () => {} };
  const context = { workspaceState: memento, globalState: memento } as unknown as ExtensionContext;
  let shown: { readonly isModal: boolean | undefined; readonly buttons: readonly string[] }[];

  /** Presses Enter, which chooses the first button. */
  const press = async (_text: string, { modal }: MessageOptions, ...items: MessageItem[]) => {
    shown.push({ isModal: modal, buttons: items.map(({ title }) => title) });
    return items[0];
  };

  beforeEach(() => {
    shown = [];
    Object.assign(window, { showWarningMessage: press });
  });
  afterEach(() => Object.assign(window, { showWarningMessage }));

  it("does not start a folder's program on Enter", async () => {
    const consent = new FolderConsent({ context, log: silentLog });
    assert.equal(await consent.ask({ content: 'x', question: 'Start it?', detail: 'sh -c x' }), 'no');
    assert.deepEqual(shown, [{ isModal: true, buttons: ["Don't Allow", 'Allow'] }]);
  });

  it('does not connect without encryption on Enter', async () => {
    assert.equal(await new RemoteHeaders(context).allowCleartext('ws://far.example', 'Far'), false);
    assert.deepEqual(shown, [{ isModal: true, buttons: ["Don't Connect", 'Connect Anyway'] }]);
  });
});
