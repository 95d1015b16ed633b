// Runs in every document of the window and does nothing until it is asked, but for one thing: it notes when the chat can be written to, and when its agent is ready.
// While it measures it costs one walk over the last text nodes per frame, whatever the length of the transcript.
(() => {
  // Only documents inside of a webview: the workbench is on top, the webview's own page below it. Their address says nothing yet when this runs.
  if (self === top || parent === top) return;

  const COMPOSER = 'textarea[aria-label="Message"]';
  const TAIL_CHARS = 3000;
  const TAIL_NODES = 400;
  /** Event Timing tells of keys from here on; one that was painted earlier counts as this much. In ms. */
  const SHORTEST_KEY = 16;

  const now = () => performance.timeOrigin + performance.now();
  const stateNow = () => document.querySelector('[role=status][data-state]')?.dataset.state;
  const bench = {};
  globalThis.parleyBench = bench;

  bench.writableAt = undefined;
  bench.readyAt = undefined;
  const watch = () => {
    if (document.querySelector(COMPOSER)) bench.writableAt ??= now();
    if (bench.writableAt && stateNow() === 'ready') bench.readyAt ??= now();
    if (bench.readyAt) clearInterval(watching);
  };
  // An interval, because this runs in the empty document whose window the real one takes over; a frame that was asked for there never comes.
  const watching = setInterval(() => requestAnimationFrame(watch), 10);

  bench.isIdle = () => stateNow() === 'ready';
  bench.elements = () => document.querySelectorAll('*').length;
  bench.composerText = () => document.querySelector(COMPOSER).value;

  /** Walks over the last text nodes, from the end. */
  function* lastTexts() {
    const log = document.querySelector('[role=log]');
    const walker = document.createTreeWalker(log, NodeFilter.SHOW_TEXT);
    let node = walker.lastChild();
    for (let count = 0, chars = 0; node && count < TAIL_NODES && chars < TAIL_CHARS; count++) {
      yield node;
      chars += node.data.length;
      node = walker.previousNode();
    }
  }

  const isThere = (marker) => {
    let text = '';
    for (const { data } of lastTexts()) text = data.slice(-TAIL_CHARS) + text;
    return text.includes(marker);
  };

  /** Whether the reader sees the marker, and not only the document has it. */
  bench.isInView = (marker) => {
    for (const node of lastTexts()) {
      const at = node.data.lastIndexOf(marker);
      if (at < 0) continue;
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + marker.length);
      const box = range.getBoundingClientRect();
      return box.height > 0 && box.bottom > 0 && box.top < innerHeight;
    }
    return false;
  };

  /** Called from within a frame: runs `done` when that frame was painted. */
  const afterThisFrame = (done) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = done;
    channel.port2.postMessage(0);
  };

  const afterPaint = (done) => requestAnimationFrame(() => afterThisFrame(done));

  /** Jumps to places all over the transcript and looks at twelve frames after each. */
  bench.jump = async (count) => {
    const log = document.querySelector('[role=log]');
    const nextFrame = () => new Promise(requestAnimationFrame);
    const frames = [];
    let elements = 0;
    let before = await nextFrame();
    for (let jump = 1; jump <= count; jump++) {
      log.scrollTop = log.scrollHeight * ((jump * 0.618) % 1);
      for (let frame = 0; frame < 12; frame++) {
        const at = await nextFrame();
        frames.push(at - before);
        before = at;
      }
      elements = Math.max(elements, bench.elements());
    }
    return { frames, elements };
  };

  /** Begins a measurement, which ends when the marker was painted: `await parleyBench.seen` and then `stop()`. */
  bench.start = (marker) => {
    const frames = [];
    const keys = [];
    const pressed = new Set();
    let posts = 0;
    let seenAt;
    let paintedAt;
    let running = true;

    const onPost = () => {
      posts++;
    };
    const onKey = (event) => {
      if (event.key.length === 1 && event.target.matches(COMPOSER)) pressed.add(event.timeStamp);
    };
    const onTimings = (entries) => {
      for (const { name, startTime, duration } of entries) {
        if (name === 'keydown' && pressed.delete(startTime)) keys.push(duration);
      }
    };
    const observer = new PerformanceObserver((list) => onTimings(list.getEntries()));
    observer.observe({ type: 'event', durationThreshold: SHORTEST_KEY });
    addEventListener('message', onPost, true);
    addEventListener('keydown', onKey, true);

    bench.seen = new Promise((resolve) => {
      const done = () => {
        seenAt = now();
        resolve();
      };
      let last = performance.now();
      const frame = (time) => {
        if (!running) return;
        frames.push(time - last);
        last = time;
        if (!isThere(marker)) {
          requestAnimationFrame(frame);
          return;
        }
        afterThisFrame(() => {
          paintedAt = now();
        });
        // As others measure it, one frame later: only so can it be compared with them.
        afterPaint(done);
      };
      requestAnimationFrame((time) => {
        last = time;
        requestAnimationFrame(frame);
      });
    });

    /** Ends the measurement. Times are milliseconds, `seenAt` and `paintedAt` since 1970. */
    bench.stop = () => {
      running = false;
      onTimings(observer.takeRecords());
      observer.disconnect();
      removeEventListener('message', onPost, true);
      removeEventListener('keydown', onKey, true);
      for (const _ of pressed) keys.push(SHORTEST_KEY);
      return { seenAt, paintedAt, frames, keys, posts };
    };
  };
})();
