// A list that fills while the user chooses: Enter accepts the row that was visible.
import { strict as assert } from 'node:assert';
import { setTimeout as delay } from 'node:timers/promises';
import { commands, type QuickPick, type QuickPickItem, window } from 'vscode';
import { List, type ListRow } from '../../src/workbench/ui/input';
import { once } from './editing';

interface Row extends ListRow {
  readonly id: string;
}

const row = (id: string, more: Partial<ListRow> = {}): Row => ({ id, label: `Row ${id}`, ...more });
const heading = (id: string): Row => row(id, { separates: true });

describe('a list redrawn while open', () => {
  let list: List<Row>;
  let quick: QuickPick<QuickPickItem>;

  beforeEach(() => {
    const { createQuickPick } = window;
    window.createQuickPick = <T extends QuickPickItem>(): QuickPick<T> => {
      const made = createQuickPick<T>();
      quick = made as unknown as QuickPick<QuickPickItem>;
      return made;
    };
    list = new List<Row>('Select a row');
    window.createQuickPick = createQuickPick;
  });
  afterEach(() => list.dispose());

  async function shown(...rows: readonly Row[]): Promise<void> {
    const active = once(list.onDidChangeActive);
    list.draw(rows, []);
    list.show();
    await active;
    await settled();
  }

  async function settled(): Promise<void> {
    await delay(0);
    await commands.executeCommand('setContext', 'parley.test', true);
  }

  const press = (key: 'acceptSelectedQuickOpenItem' | 'quickOpenSelectNext'): Thenable<unknown> =>
    commands.executeCommand(`workbench.action.${key}`);

  async function accepted(): Promise<string> {
    const row = once(list.onDidAccept);
    await press('acceptSelectedQuickOpenItem');
    return (await row).id;
  }

  it('accepts the row focused when Enter was pressed, even if rows are inserted before it', async () => {
    await shown(row('a'), row('b'), row('c'));
    const taken = once(list.onDidAccept);
    const pressed = press('acceptSelectedQuickOpenItem');
    list.draw([heading('first'), row('x'), row('y'), heading('then'), row('a'), row('b'), row('c')], []);
    await pressed;
    assert.equal((await taken).id, 'a');
  });

  it('keeps focus on the first row when rows are inserted before it', async () => {
    await shown(row('a'), row('b'));
    list.draw([row('x'), row('a'), row('b')], []);
    await settled();
    await settled();
    assert.equal(await accepted(), 'a');
  });

  it('keeps focus on the row that the user moved to', async () => {
    await shown(row('a'), row('always', { alwaysShow: true }));
    const moved = once(list.onDidChangeActive);
    await press('quickOpenSelectNext');
    assert.equal((await moved)?.id, 'always');
    list.draw([row('x'), row('a'), row('always', { alwaysShow: true })], []);
    await settled();
    await settled();
    assert.equal(await accepted(), 'always');
  });

  it('focuses the first result if only permanent rows were there', async () => {
    await shown(row('always', { alwaysShow: true }));
    list.draw([row('x'), row('always', { alwaysShow: true })], []);
    await settled();
    await settled();
    assert.equal(await accepted(), 'x');
  });

  it('shows the latest of several updates', async () => {
    await shown(row('a'));
    list.draw([row('b')], []);
    list.draw([row('c')], []);
    list.draw([row('d')], []);
    await settled();
    await settled();
    await settled();
    assert.equal(await accepted(), 'd');
  });

  it('accepts the matching row if Enter comes before VS Code has reported the typed text', async () => {
    await shown(row('a'), row('b'));
    const taken = once(list.onDidAccept);
    quick.value = 'Row b';
    list.draw([row('a'), row('b'), row('c')], []);
    await delay(0);
    await press('acceptSelectedQuickOpenItem');
    assert.equal((await taken).id, 'b');
  });

  it('accepts no row for an Enter before more was typed', async () => {
    await shown(row('a'), row('b'));
    const taken: string[] = [];
    list.onDidAccept(({ id }) => taken.push(id));
    quick.value = 'Row b';
    list.draw([row('a'), row('b'), row('c')], []);
    await delay(0);
    await press('acceptSelectedQuickOpenItem');
    quick.value = 'Row c';
    await settled();
    await settled();
    await settled();
    assert.deepEqual(taken, []);
    assert.equal(await accepted(), 'c');
  });
});
