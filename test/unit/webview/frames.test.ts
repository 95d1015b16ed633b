// The beat of the panel, with frames that the test lets pass.
import assert from 'node:assert/strict';
import { Frames } from '../../../src/webview/frames';

describe('frames', () => {
  let due: (() => void)[] = [];
  let rendered = 0;
  let frames: Frames;

  beforeEach(() => {
    due = [];
    rendered = 0;
    frames = new Frames(
      { apply: () => undefined, render: () => ++rendered > 0, drawn: () => {}, painted: () => {} },
      { next: (frame) => due.push(frame), painted: () => {} },
    );
  });

  function pass(): void {
    const now = due;
    due = [];
    for (const frame of now) frame();
  }

  it('makes typing stutter while an agent writes if a frame draws the answer before the key', () => {
    frames.schedule();
    frames.yieldToKey();
    pass();
    assert.equal(rendered, 0);
    pass();
    assert.equal(rendered, 1);
  });

  it('starves the answer if every key of a fast typist puts it off again', () => {
    frames.schedule();
    for (let key = 0; key < 4; key++) {
      frames.yieldToKey();
      pass();
    }
    assert.equal(rendered, 1);
    pass();
    frames.yieldToKey();
    frames.schedule();
    pass();
    assert.equal(rendered, 2, 'a key while nothing waits puts nothing off');
  });
});
