// The session list, with a stub of VS Code's list.
import { strict as assert } from 'node:assert';
import type { StatusAnswer } from '../../../../src/acp/proposals/sessionStatus';
import type { SessionPickerServices } from '../../../../src/workbench/sessions/sessionPicker';
import { useFakeEditor } from '../../../support/fakeEditor';

useFakeEditor();
const { window } = (await import('vscode')) as unknown as { window: { createQuickPick: () => unknown } };
const { pickSession } = await import('../../../../src/workbench/sessions/sessionPicker');

interface Row {
  readonly label: string;
  readonly description?: string;
}

class FakeList {
  activeItems: readonly Row[] = [];
  hide: () => void = () => {};
  #items: readonly Row[] = [];
  #drawn: (() => void)[] = [];

  get items(): readonly Row[] {
    return this.#items;
  }
  set items(items: readonly Row[]) {
    this.#items = items;
    for (const look of [...this.#drawn]) look();
  }
  show(): void {}
  dispose(): void {}
  readonly onDidHide = (listener: () => void): { dispose(): void } => {
    this.hide = listener;
    return { dispose: () => {} };
  };
  readonly onDidAccept = never;
  readonly onDidChangeActive = never;
  readonly onDidChangeValue = never;
  readonly onDidTriggerItemButton = never;
  readonly onDidTriggerButton = never;

  until(holds: (rows: readonly Row[]) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (holds(this.#items)) resolve();
      };
      this.#drawn.push(look);
      look();
    });
  }
}

function never(): { dispose(): void } {
  return { dispose: () => {} };
}

describe('the session list', () => {
  const { createQuickPick } = window;
  let list: FakeList;
  let asked: Map<string, AbortSignal>;

  beforeEach(() => {
    list = new FakeList();
    asked = new Map();
    window.createQuickPick = () => list;
  });
  afterEach(() => {
    window.createQuickPick = createQuickPick;
  });

  /** @param status absent: the agent does not offer `session/status` */
  function open(status?: (sessionId: string) => Promise<StatusAnswer>): Promise<void> {
    const ops = {
      can: (action: string) => action === 'list' || (action === 'status' && status !== undefined),
      async *list() {
        yield ['one', 'two', 'here'].map((id) => ({ sessionId: id, title: id, cwd: '/w', updatedAt: 'today' }));
      },
      status: (sessionId: string, signal: AbortSignal) => {
        asked.set(sessionId, signal);
        return status?.(sessionId);
      },
    };
    const lister = { key: 'k', agent: { id: 'ada', name: 'Ada' }, link: {}, ops };
    const nothing = (): void => {};
    return pickSession({
      conversations: {
        list: () => [lister],
        peek: () => lister,
        findSession: (_agent: string, id: string) => (id === 'here' ? lister : undefined),
      },
      kept: {
        foundKeys: new Set(['k']),
        items: () => [],
        has: () => false,
        load: nothing,
        expect: nothing,
        stop: nothing,
      },
    } as unknown as SessionPickerServices);
  }
  const descriptions = (): readonly (string | undefined)[] =>
    ['one', 'two'].map((id) => list.items.find(({ label }) => label === id)?.description);

  it("shows whether an agent's stored sessions are live or saved", async () => {
    const done = open(async (id) => (id === 'one' ? 'live' : 'saved'));
    await list.until(() => descriptions().every((text) => text?.includes(' · ')));
    assert.deepEqual(descriptions(), ['live · today', 'saved · today']);
    assert.deepEqual([...asked.keys()], ['one', 'two'], 'not those that this window has open');
    list.hide();
    await done;
  });

  it('queries no agent without session/status', async () => {
    const done = open();
    await list.until(() => descriptions().every((text) => text === 'today'));
    list.hide();
    await done;
    assert.equal(asked.size, 0);
  });

  it('cancels its requests when closed', async () => {
    const done = open(() => new Promise(() => {}));
    await list.until(() => asked.size === 2);
    list.hide();
    await done;
    assert.ok([...asked.values()].every(({ aborted }) => aborted));
  });
});
