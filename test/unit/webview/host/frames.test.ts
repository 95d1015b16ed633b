// Drawing by frames that the test controls.
import assert from 'node:assert/strict';
import type { ToWebview } from '../../../../src/panel/contract';
import { Frames } from '../../../../src/webview/host/frames';

describe('frames', () => {
  let due: (() => void)[] = [];
  let rendered = 0;
  let frames: Frames;

  beforeEach(() => {
    due = [];
    rendered = 0;
    frames = new Frames(
      {
        view: { isAtEnd: true, render: () => ++rendered > 0 },
        apply: () => undefined,
        drawn: () => {},
        painted: () => {},
      },
      { next: (frame) => due.push(frame), painted: () => {} },
    );
  });

  function pass(): void {
    const now = due;
    due = [];
    for (const frame of now) frame();
  }

  it('draws a key press before updates while an agent writes', () => {
    frames.schedule();
    frames.yieldToKey();
    pass();
    assert.equal(rendered, 0);
    pass();
    assert.equal(rendered, 1);
  });

  it('draws a long session in its first frame, even if applying it uses up the budget', () => {
    let applied = 0;
    let deadline = 0;
    const frames = new Frames(
      {
        view: {
          isAtEnd: true,
          render(until) {
            deadline = until;
            return true;
          },
        },
        apply: () => {
          for (const end = performance.now() + 20; performance.now() < end; );
          applied = performance.now();
          return 1;
        },
        drawn: () => {},
        painted: () => {},
      },
      { next: (frame) => due.push(frame), painted: () => {} },
    );
    frames.receive({ type: 'snapshot' } as ToWebview);
    pass();
    assert.ok(deadline > applied);
  });

  it('draws updates between the keys of a fast typist', () => {
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

  describe('with messages', () => {
    let applied: string[];
    let isAtEnd: boolean;
    let isDone: boolean;
    let acknowledged: number[];
    let painted: (() => void)[];
    let drawMs: number;
    let invalidates: boolean;

    beforeEach(() => {
      applied = [];
      drawMs = 0;
      invalidates = false;
      isAtEnd = true;
      isDone = true;
      acknowledged = [];
      painted = [];
      frames = new Frames(
        {
          view: {
            get isAtEnd() {
              return isAtEnd;
            },
            render() {
              rendered++;
              for (const end = performance.now() + drawMs; performance.now() < end; );
              return isDone;
            },
          },
          apply: (message) => {
            applied.push(message.type);
            if (invalidates) frames.schedule();
            return applied.length;
          },
          drawn: () => {},
          painted: (revision) => acknowledged.push(revision),
        },
        { next: (frame) => due.push(frame), painted: (then) => painted.push(then) },
      );
    });

    const say = (): void => frames.receive({ type: 'update', revision: 1, ops: [] });

    it('draws each message in the frame it arrives in', () => {
      say();
      assert.deepEqual([applied.length, rendered], [1, 1]);
      pass();
      assert.equal(rendered, 1, 'the frame has nothing left to draw');
    });

    it('draws each message of a burst as it arrives, within one frame', () => {
      say();
      say();
      assert.deepEqual([applied.length, rendered, due.length], [2, 2, 1]);
      pass();
      assert.deepEqual([rendered, due.length], [2, 0], 'the frame has nothing left to draw');
    });

    it("leaves messages to the next frame once this frame's budget is used up", () => {
      drawMs = 10;
      say();
      say();
      say();
      assert.equal(applied.length, 1);
      pass();
      assert.equal(applied.length, 1);
      pass();
      assert.deepEqual([applied.length, rendered], [3, 2], 'they are taken in together');
    });

    it('requests no frame for what a frame draws', () => {
      isAtEnd = false;
      invalidates = true;
      say();
      pass();
      assert.deepEqual([rendered, due.length], [1, 0]);
    });

    it('acknowledges a message only after it is painted', () => {
      say();
      assert.equal(painted.length, 0, 'no frame has passed');
      pass();
      assert.deepEqual(acknowledged, []);
      for (const then of painted) then();
      assert.deepEqual(acknowledged, [1]);
    });

    it('acknowledges only what is drawn if the budget of the first frame is too small', () => {
      isDone = false;
      say();
      pass();
      assert.equal(painted.length, 0);
      isDone = true;
      pass();
      for (const then of painted) then();
      assert.deepEqual(acknowledged, [1]);
    });

    it('draws no message between a key and its frame', () => {
      frames.yieldToKey();
      say();
      assert.equal(rendered, 0);
      pass();
      assert.equal(rendered, 1);
    });

    it('draws within a frame while the user reads, as the scroll position is only held there', () => {
      isAtEnd = false;
      say();
      assert.equal(rendered, 0);
      pass();
      assert.equal(rendered, 1);
    });

    it('draws a session within a frame, so that the scroll position can be restored', () => {
      frames.receive({ type: 'snapshot' } as ToWebview);
      assert.equal(rendered, 0);
      pass();
      assert.equal(rendered, 1);
    });

    it('draws the position the user scrolls to while an agent writes', () => {
      say();
      frames.schedule();
      pass();
      assert.equal(rendered, 2);
    });
  });
});
