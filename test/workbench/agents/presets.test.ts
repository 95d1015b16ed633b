// Presets in the list of “New Session with…”: rows and buttons.
import { strict as assert } from 'node:assert';
import {
  EventEmitter,
  type ExtensionContext,
  type QuickInputButton,
  type QuickPickItem,
  type ThemeIcon,
  Uri,
  window,
} from 'vscode';
import { silentLog } from '../../../src/base/log';
import { selectAgent } from '../../../src/workbench/commands/selectAgent';
import { AgentCatalog } from '../../../src/workbench/config/agentCatalog';
import { FolderConsent } from '../../../src/workbench/config/folderConsent';
import type { Workbench } from '../../../src/workbench/core/workbench';
import type { NewConversation } from '../../../src/workbench/sessions/conversations';
import { memory } from '../../support/memory';
import { fakeWorkbench } from '../../support/workbench/fakeWorkbench';

/** Prefix of a row's label, and the icon of its button; absent: the row itself. */
type Step = readonly [row: string, icon?: string];

describe('presets in the list of agents', () => {
  const { createQuickPick, showInputBox, showWarningMessage } = window;
  const choices = [{ id: 'model', value: 'large', label: 'Model: Large' }];
  let workbench: Workbench;
  let catalog: AgentCatalog;
  let created: NewConversation[];
  let steps: Step[];
  let shown: string[];
  let typed: string | undefined;

  function fakeList(): unknown {
    const [accepted, hidden, other] = [new EventEmitter<void>(), new EventEmitter<void>(), new EventEmitter<never>()];
    const pressed = new EventEmitter<{ item: QuickPickItem; button: QuickInputButton }>();
    const list = {
      items: [] as QuickPickItem[],
      activeItems: [] as QuickPickItem[],
      selectedItems: [] as QuickPickItem[],
      onDidAccept: accepted.event,
      onDidHide: hidden.event,
      onDidChangeActive: other.event,
      onDidChangeValue: other.event,
      onDidTriggerItemButton: pressed.event,
      onDidTriggerButton: other.event,
      show() {
        shown = list.items.map(({ label, description = '', detail = '' }) => [label, description, detail].join('|'));
        setImmediate(() => {
          const [row, icon] = steps.shift() ?? [];
          const item = list.items.find(({ label }) => row !== undefined && label.startsWith(row));
          if (!item) return hidden.fire();
          const button = item.buttons?.find(({ iconPath }) => (iconPath as ThemeIcon).id === icon);
          list.selectedItems = [item];
          if (icon === undefined) accepted.fire();
          else pressed.fire({ item, button: button ?? assert.fail(`no ${icon}`) });
        });
      },
      hide: () => hidden.fire(),
      dispose() {},
    };
    return list;
  }

  beforeEach(async () => {
    [created, steps, shown, typed] = [[], [], [], undefined];
    Object.assign(window, {
      createQuickPick: fakeList,
      showInputBox: async () => typed,
      showWarningMessage: async (_text: string, _options: unknown, ...items: readonly object[]) => items[0],
    });
    const context = {
      workspaceState: memory(),
      globalState: memory(),
      extensionUri: Uri.file('/ext'),
    } as unknown as ExtensionContext;
    catalog = new AgentCatalog(context, new FolderConsent({ context, log: silentLog }), silentLog);
    await catalog.presets.save('Careful', 'demo', choices);
    workbench = fakeWorkbench({
      AgentCatalog: catalog,
      Conversations: { folders: ['/work'], create: (options: NewConversation) => void created.push(options) },
      ChatHome: { current: [], start() {} },
    });
  });
  afterEach(() => void Object.assign(window, { createQuickPick, showInputBox, showWarningMessage }));

  it('start a session with their agent and options', async () => {
    steps = [['Careful']];
    await selectAgent(workbench);
    assert.deepEqual(shown.slice(0, 4), ['Presets||', 'Careful|Demo|Model: Large', 'Agents||', shown[3]]);
    assert.match(shown[3] ?? '', /^Demo\|/);
    assert.equal(created[0]?.agent, 'demo');
    assert.deepEqual(created[0]?.preset?.choices, choices);
  });

  it("are set as a folder's default, renamed and deleted by buttons, after which the list returns", async () => {
    steps = [['Careful', 'pin']];
    await selectAgent(workbench);
    assert.equal(catalog.presetOf('/work')?.name, 'Careful');
    assert.match(shown[1] ?? '', /^Careful\|Demo · for new sessions in this folder\|/);
    typed = 'Slow';
    steps = [
      ['Careful', 'edit'],
      ['Slow', 'pinned'],
    ];
    await selectAgent(workbench);
    assert.deepEqual(
      [catalog.presets.list().map(({ name }) => name), catalog.presetOf('/work')],
      [['Slow'], undefined],
    );
    steps = [['Slow', 'trash']];
    await selectAgent(workbench);
    assert.deepEqual([catalog.presets.list(), created], [[], []]);
    assert.match(shown[0] ?? '', /^Demo\|/);
  });

  it('have no effect in their folder if their agent was removed', async () => {
    await catalog.presets.save('Gone', 'gone', choices);
    await catalog.presets.use('/work', catalog.presets.named('Gone')?.id);
    assert.equal(catalog.presetOf('/work'), undefined);
    steps = [['Gone']];
    await assert.rejects(selectAgent(workbench), /There is no agent “gone”/);
  });
});
