// Measures the extension host from inside and drives sessions of Parley through its API, by HTTP on loopback. Its address is written to the file $PARLEY_BENCH_PROBE.
const { createHook } = require('node:async_hooks');
const { readFileSync, writeFileSync } = require('node:fs');
const { createServer } = require('node:http');
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');
const vscode = require('vscode');

exports.activate = (context) => {
  const file = process.env.PARLEY_BENCH_PROBE;
  if (!file) return;
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  let writtenBefore = written();
  const wakes = process.env.PARLEY_BENCH_WAKES ? wakesOfParley() : {};
  /** @type {Promise<unknown>[]} */
  let turns = [];
  const parley = () => vscode.extensions.getExtension('parley.parley').activate();

  const ask = {
    /** Counts from now on. */
    reset() {
      loop.reset();
      for (const type of Object.keys(wakes)) delete wakes[type];
      writtenBefore = written();
    },
    /** Times in ms, sizes in bytes. */
    read() {
      const { heapUsed, rss } = process.memoryUsage();
      const ms = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - 1);
      const delays = { p99: ms(loop.percentile(99)), longest: ms(loop.max) };
      return { ...delays, heapUsed, rss, written: written() - writtenBefore, wakes };
    },
    /** Sizes in bytes after a garbage collection. */
    collect() {
      setFlagsFromString('--expose-gc');
      runInNewContext('gc')();
      const { heapUsed, rss } = process.memoryUsage();
      return { heapUsed, rss };
    },
    /** Opens sessions that are not shown. @returns their keys */
    async open({ count }) {
      const api = await parley();
      const keys = [];
      for (let index = 0; index < count; index++) keys.push(await api.openSession({}));
      return keys;
    },
    /** Sends a text to each session, one in each iteration of the event loop, and does not wait for the turns. */
    async send({ keys, text }) {
      const api = await parley();
      turns = [];
      for (const [index, key] of keys.entries()) {
        turns.push(api.send(key, `${text} P${index}x`));
        await new Promise(setImmediate);
      }
    },
    /** Waits for the turns that were sent last. */
    async settled() {
      await Promise.all(turns);
    },
  };

  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    try {
      const result = await ask[request.url.slice(1)](JSON.parse(Buffer.concat(chunks).toString() || '{}'));
      response.end(JSON.stringify(result ?? null));
    } catch (error) {
      response.writeHead(500).end(String(error?.stack ?? error));
    }
  });
  server.requestTimeout = 0;
  server.listen(0, '127.0.0.1', () => writeFileSync(file, `http://127.0.0.1:${server.address().port}`));
  context.subscriptions.push({ dispose: () => server.close() });
};

/** Counts the callbacks of Parley by what they waited for: timers, files, pipes. */
function wakesOfParley() {
  const counts = {};
  const types = new Map();
  Error.stackTraceLimit = 50;
  createHook({
    init(id, type) {
      if (/^(PROMISE|TickObject|Microtask)$/.test(type)) return;
      if (/[\\/]parley\.parley-\d/.test(new Error().stack)) types.set(id, type);
    },
    before(id) {
      const type = types.get(id);
      if (type) counts[type] = (counts[type] ?? 0) + 1;
    },
    destroy(id) {
      types.delete(id);
    },
  }).enable();
  return counts;
}

/** Bytes that this process had written to files so far, whether the disk has them or not. */
function written() {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}
