// The beat of the panel, with frames that the test lets pass.
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
      { isAtEnd: () => true, apply: () => undefined, render: () => ++rendered > 0, drawn: () => {}, painted: () => {} },
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

  it('paints a long session empty at first if taking it in leaves no time to draw it', () => {
    let applied = 0;
    let deadline = 0;
    const frames = new Frames(
      {
        isAtEnd: () => true,
        apply: () => {
          for (const end = performance.now() + 20; performance.now() < end; );
          applied = performance.now();
          return 1;
        },
        render: (until) => {
          deadline = until;
          return true;
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

  describe('with messages', () => {
    let applied: string[];
    let isAtEnd: boolean;
    let isDone: boolean;
    let told: number[];
    let painted: (() => void)[];

    beforeEach(() => {
      applied = [];
      isAtEnd = true;
      isDone = true;
      told = [];
      painted = [];
      frames = new Frames(
        {
          isAtEnd: () => isAtEnd,
          apply: (message) => {
            applied.push(message.type);
            return applied.length;
          },
          render: () => {
            rendered++;
            return isDone;
          },
          drawn: () => {},
          painted: (revision) => told.push(revision),
        },
        { next: (frame) => due.push(frame), painted: (then) => painted.push(then) },
      );
    });

    const say = (): void => frames.receive({ type: 'update', revision: 1, ops: [] });

    it('shows each word of an agent a frame later than it could', () => {
      say();
      assert.deepEqual([applied.length, rendered], [1, 1]);
      pass();
      assert.equal(rendered, 1, 'the frame has nothing left to draw');
    });

    it('draws more than once per frame if messages come in a burst', () => {
      say();
      say();
      say();
      assert.equal(rendered, 1);
      pass();
      assert.equal(rendered, 1);
      pass();
      assert.deepEqual([applied.length, rendered], [3, 2], 'the burst is taken in together');
    });

    it('lets the host flood it if a message is acknowledged before it is painted', () => {
      say();
      assert.equal(painted.length, 0, 'no frame has passed');
      pass();
      assert.deepEqual(told, []);
      for (const then of painted) then();
      assert.deepEqual(told, [1]);
    });

    it('acknowledges what is not drawn, if the budget of the first frame was too small for it', () => {
      isDone = false;
      say();
      pass();
      assert.equal(painted.length, 0);
      isDone = true;
      pass();
      for (const then of painted) then();
      assert.deepEqual(told, [1]);
    });

    it('shows a key late if a message is drawn between the key and its picture', () => {
      frames.yieldToKey();
      say();
      assert.equal(rendered, 0);
      pass();
      assert.equal(rendered, 1);
    });

    it('moves what is being read if a message is drawn outside of a frame, where nobody holds it', () => {
      isAtEnd = false;
      say();
      assert.equal(rendered, 0);
      pass();
      assert.equal(rendered, 1);
    });

    it('brings the reader to another place if a session is drawn outside of a frame', () => {
      frames.receive({ type: 'snapshot' } as ToWebview);
      assert.equal(rendered, 0);
      pass();
      assert.equal(rendered, 1);
    });

    it('leaves empty where the reader has scrolled to for as long as an agent talks', () => {
      say();
      frames.schedule();
      pass();
      assert.equal(rendered, 2);
    });
  });
});
