// When a session counts as unattended, and when the summary is shown.
import { strict as assert } from 'node:assert';
import { Emitter } from '../../../../src/base/event';
import { silentLog } from '../../../../src/base/log';
import { SessionModel } from '../../../../src/session/model/model';
import { Away, type AwayOptions } from '../../../../src/workbench/chat/away';

const MINUTE = 60_000;

describe('the summary of a session that continued out of sight', () => {
  let model: SessionModel;
  let now: number;
  let isFocused: boolean;
  let isShown: boolean;
  let isAttaching: boolean;
  let stored: Record<string, unknown>;
  let away: Away;
  let told: (string | undefined)[];
  const changed = new Emitter<string>();
  const focused = new Emitter<void>();
  const none = () => ({ dispose: () => {} });

  function start(): void {
    const conversation = {
      key: 'A',
      model,
      roots: ['/w'],
      changes: { total: () => undefined, changesOf: async () => [] },
      whole: undefined,
      get isAttaching() {
        return isAttaching;
      },
    } as never;
    const options: AwayOptions = {
      conversations: {
        find: () => conversation,
        list: () => [conversation],
        peek: () => conversation,
        onDidChange: changed.event,
        onDidActivate: none,
        onDidAdd: none,
        onDidRemove: none,
      },
      isShown: () => isShown,
      isFocused: () => isFocused,
      onDidFocus: (listener) => focused.event(listener),
      memento: {
        get: (key: string, otherwise?: unknown) => (stored[key] ?? otherwise) as never,
        update: async (key, value) => {
          stored[key] = structuredClone(value);
        },
      },
      now: () => now,
      log: silentLog,
    };
    away = new Away(options);
    told = [];
    away.onDidChange((key) => told.push(key));
  }

  function runs(line: string): void {
    const patch = { kind: 'execute', title: line, status: 'completed' } as const;
    model.apply({ type: 'tool_call', toolCallId: line, announced: true, patch }, now);
    changed.fire('A');
  }
  const lines = (): unknown => away.of('A')?.commands.shown.map(({ line }) => line);
  const settled = (): Promise<void> => new Promise(setImmediate);

  beforeEach(() => {
    model = new SessionModel();
    now = 1_000_000;
    [isFocused, isShown, isAttaching] = [true, true, false];
    stored = {};
    start();
  });

  afterEach(() => away.dispose());

  it('is shown when the window regains focus', async () => {
    runs('seen');
    isFocused = false;
    now += MINUTE;
    runs('unseen');
    const since = now;
    now += 2 * MINUTE;
    runs('later');
    assert.equal(away.of('A'), undefined);
    isFocused = true;
    focused.fire();
    await settled();
    assert.deepEqual(lines(), ['unseen', 'later']);
    assert.equal(away.of('A')?.since, since);
    assert.deepEqual(told, ['A']);
  });

  it('is shown when the session becomes visible', async () => {
    isShown = false;
    now += 1;
    runs('unseen');
    now += 2 * MINUTE;
    focused.fire();
    await settled();
    assert.equal(away.of('A'), undefined);
    isShown = true;
    away.look('A');
    await settled();
    assert.deepEqual(lines(), ['unseen']);
  });

  it('is not shown after less than a minute, or if nothing happened', async () => {
    isFocused = false;
    now += 1;
    runs('quick');
    now += MINUTE / 2;
    isFocused = true;
    focused.fire();
    await settled();
    now += 5 * MINUTE;
    focused.fire();
    await settled();
    assert.deepEqual(told, []);
  });

  it('is shown after a reload, from where the user left', async () => {
    isFocused = false;
    now += 1;
    runs('unseen');
    away.dispose();
    now += 5 * MINUTE;
    isFocused = true;
    start();
    away.look('A');
    await settled();
    assert.deepEqual(lines(), ['unseen']);
  });

  it('is shown after reattaching to an agent that ran without a window', async () => {
    runs('seen');
    away.dispose();
    now += 5 * MINUTE;
    isAttaching = true;
    start();
    runs('unseen');
    assert.equal(away.of('A'), undefined);
    isAttaching = false;
    changed.fire('A');
    await settled();
    assert.deepEqual(lines(), ['unseen']);
  });

  it('keeps what was not dismissed when the user leaves again', async () => {
    const leave = async (line: string): Promise<void> => {
      isFocused = false;
      now += 1;
      runs(line);
      now += 2 * MINUTE;
      isFocused = true;
      focused.fire();
      await settled();
    };
    await leave('one');
    await leave('two');
    assert.deepEqual(lines(), ['one', 'two']);
    away.dismiss('A');
    assert.equal(away.of('A'), undefined);
    away.toggle('A');
    assert.deepEqual(lines(), ['one', 'two']);
    away.dismiss('A');
    await leave('three');
    assert.deepEqual(lines(), ['three']);
  });
});
