// Questions of agents without a window are told once, where the user is.
import { strict as assert } from 'node:assert';
import { Emitter } from '../../../../src/base/event';
import type { FoundKeeper } from '../../../../src/client/transport/keepers';
import { BackgroundQuestions } from '../../../../src/workbench/overview/backgroundQuestions';
import { foundKeeper } from './foundKeeper';

describe('questions of agents without a window', () => {
  const asking = (id: string, waiting = 1): FoundKeeper => foundKeeper(id, { waiting });

  function open(): {
    readonly told: string[];
    readonly ask: (one: FoundKeeper) => void;
    readonly focus: (isFocused: boolean) => void;
    readonly running: { background: readonly FoundKeeper[] };
  } {
    const [asked, focused] = [new Emitter<FoundKeeper>(), new Emitter<void>()];
    const running = { onDidAsk: asked.event, background: [] as readonly FoundKeeper[] };
    const told: string[] = [];
    let isFocused = false;
    new BackgroundQuestions({
      running,
      isFocused: () => isFocused,
      onDidChangeFocus: (listener) => focused.event(listener),
      tell: ({ id }) => told.push(id),
    });
    return {
      told,
      running,
      ask: (one) => {
        running.background = [...running.background, one];
        asked.fire(one);
      },
      focus: (now) => {
        isFocused = now;
        focused.fire();
      },
    };
  }

  it('are told at once in a window that has the focus, and not again', () => {
    const { told, ask, focus } = open();
    focus(true);
    ask(asking('a'));
    assert.deepEqual(told, ['a']);
    focus(false);
    focus(true);
    assert.deepEqual(told, ['a']);
  });

  it('wait until the window has the focus, and are told once then', () => {
    const { told, ask, focus } = open();
    ask(asking('a'));
    ask(asking('b'));
    assert.deepEqual(told, []);
    focus(false);
    assert.deepEqual(told, []);
    focus(true);
    assert.deepEqual(told, ['a', 'b']);
    focus(true);
    assert.deepEqual(told, ['a', 'b']);
  });

  it('are not told when they were answered, or their agent has ended, meanwhile', () => {
    const { told, ask, focus, running } = open();
    ask(asking('answered'));
    ask(asking('gone'));
    running.background = [asking('answered', 0)];
    focus(true);
    assert.deepEqual(told, []);
    running.background = [asking('answered')];
    focus(true);
    assert.deepEqual(told, [], 'a later question fires by itself');
  });
});
