// A chat under load: opens it in a fresh VS Code, sends prompts to the scripted agent, and measures
// inside of the webview and from the operating system.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { CDPSession, Frame, Page } from 'playwright-core';
import { openWindow, type Window } from '../support/vscode/openWindow';
import { descendants } from '../support/vscode/processTree';
import { repository } from '../support/vscode/repository';
import { type Server, startServer } from '../support/vscode/startServer';
import { command, quickInput } from '../support/vscode/workbench';
import { isolated } from './isolation';
import { cpuMs, peakMb, untilQuiet } from './procStat';
import { loadAgent, type Subject } from './subjects';

const COMPOSER = 'textarea[aria-label="Message"]';
/** The same in Parley and in the floor: the second of two keys opens the chat. */
const OPEN_KEYS = ['Control+K', 'A'] as const;
const KEY_EVERY_MS = 250;
const TURN_LIMIT_MS = 120_000;

/**
 * What one turn cost. Times in ms; processor time and posts are those of the webview between Enter
 * and the last chunk on the screen.
 */
export interface TurnCost {
  /** From Enter to the marker painted. */
  readonly total: number;
  /** From the agent's last write to the marker painted. */
  readonly lag: number;
  readonly frames: readonly number[];
  readonly keys: readonly number[];
  readonly posts: number;
  readonly cpu: number;
}

export interface TurnOptions {
  /** Types into the composer while the turn runs. */
  readonly typing?: boolean;
  /** Called while the turn runs. */
  readonly meanwhile?: () => Promise<void>;
}

/** Where VS Code finds what was there before it. Absent: nothing was. */
export interface Prepared {
  /** The server's data, with the extension's storage in it. */
  readonly dataDir?: string;
  /** The workspace. */
  readonly folder?: string;
  /** VSIX files beside the subject's. */
  readonly extensions?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

interface Measured {
  /** A frame after it was painted, as the measurements do that the loads are compared with. */
  readonly seenAt: number;
  readonly paintedAt: number;
  readonly frames: readonly number[];
  readonly keys: readonly number[];
  readonly posts: number;
}

/** A chat that is open and has answered a first prompt. */
export class Chat {
  readonly page: Page;
  /**
   * From the key that opens it until a message can be written, and until the agent's session is
   * ready, in ms.
   */
  readonly opened: { readonly writable: number; readonly ready: number };
  readonly #server: Server;
  readonly #window: Window;
  readonly #frame: Frame;
  readonly #devtools: CDPSession;
  readonly #webviewPid: number;
  readonly #log: string;

  private constructor(
    parts: {
      server: Server;
      window: Window;
      frame: Frame;
      devtools: CDPSession;
      webviewPid: number;
      log: string;
    },
    opened: { writable: number; ready: number },
  ) {
    this.#server = parts.server;
    this.#window = parts.window;
    this.#frame = parts.frame;
    this.#devtools = parts.devtools;
    this.#webviewPid = parts.webviewPid;
    this.#log = parts.log;
    this.page = parts.window.page;
    this.opened = opened;
  }

  /**
   * Starts VS Code with one extension, opens its chat and waits for the agent.
   * @param scratch a folder for this run alone
   */
  static async open(
    subject: Subject,
    scratch: string,
    say: (line: string) => void,
    prepared: Prepared = {},
  ): Promise<Chat> {
    const log = join(scratch, 'turns.jsonl');
    // What a keeper costs is measured by itself (keeperBench.ts).
    const settings = { 'parley.background': 'off', ...subject.settings(loadAgent(log)), 'git.enabled': false };
    const extensions = [subject.vsix, ...(prepared.extensions ?? [])];
    const server = await startServer({ settings, say, allBuiltIns: true, ...prepared, extensions });
    let window: Window | undefined;
    try {
      const probe = readFileSync(join(repository, 'test/bench/inPage/probe.js'), 'utf8');
      const options = isolated(server.port);
      window = await openWindow(server, {
        ...options,
        inEachDocument: `${options.inEachDocument}\n${probe}`,
        viewport: { width: 1400, height: 900 },
        say,
      });
      await untilQuiet();
      const [first, second] = OPEN_KEYS;
      await window.page.keyboard.press(first);
      const pressed = now();
      await window.page.keyboard.press(second);
      const { frame, writableAt, readyAt } = await findChat(window.page);
      const opened = { writable: writableAt - pressed, ready: readyAt - pressed };
      const parent = frame.parentFrame();
      if (!parent) throw new Error('The chat is not in a webview');
      const devtools = await window.context.newCDPSession(parent);
      await devtools.send('Performance.enable');
      const webviewPid = await busiest(frame);
      if (webviewPid === (await busiest(window.page.mainFrame())))
        throw new Error('The webview shares its renderer with the workbench; its figures would mean nothing');
      const chat = new Chat({ server, window, frame, devtools, webviewPid, log }, opened);
      await chat.turn('flood 20 0', 'warm');
      await untilQuiet();
      return chat;
    } catch (error) {
      await window?.close();
      await server.stop();
      throw error;
    }
  }

  /**
   * Sends a prompt and measures until the agent's last words are painted and the turn is over.
   * @param load without its tag, as the scripted agent reads it: `flood 1000 200` @param tag not
   * used before in this chat
   * @throws Error if the end does not come within two minutes, or is not in view
   */
  async turn(load: string, tag: string, options: TurnOptions = {}): Promise<TurnCost> {
    const marker = `END-OF-FLOOD-${tag}`;
    await this.#run(`parleyBench.start(${JSON.stringify(marker)})`);
    const before = cpuMs(this.#webviewPid);
    await this.#frame.focus(COMPOSER);
    await this.page.keyboard.insertText(`${load} ${tag}`);
    const sent = now();
    await this.page.keyboard.press('Enter');
    const seen = this.#run('parleyBench.seen');
    const others = Promise.all([options.typing ? this.#type(seen) : undefined, options.meanwhile?.()]);
    await within(TURN_LIMIT_MS, seen, `"${load}" was not on the screen`);
    await others;
    const cpu = cpuMs(this.#webviewPid) - before;
    const { seenAt, frames, keys, posts } = (await this.#run('parleyBench.stop()')) as Measured;
    await this.#frame.waitForFunction('parleyBench.isIdle()', null, { timeout: TURN_LIMIT_MS });
    if (!(await this.#run(`parleyBench.isInView(${JSON.stringify(marker)})`)))
      throw new Error(`The end of "${load}" is not in view`);
    if (options.typing) await this.#clearComposer();
    const lag = seenAt - (await this.#lastWrite(marker));
    return { total: seenAt - sent, lag, frames, keys, posts, cpu };
  }

  /**
   * Opens a session of earlier from the list of sessions.
   * @param title found by it @param marker among its last words
   * @returns ms from Enter until it is painted
   */
  async recall(title: string, marker: string): Promise<number> {
    await this.#find(title);
    await this.#run(`parleyBench.start(${JSON.stringify(marker)})`);
    const chosen = now();
    await this.page.keyboard.press('Enter');
    await within(TURN_LIMIT_MS, this.#run('parleyBench.seen'), `The session "${title}" was not on the screen`);
    const { paintedAt } = (await this.#run('parleyBench.stop()')) as Measured;
    if (!(await this.#run(`parleyBench.isInView(${JSON.stringify(marker)})`)))
      throw new Error(`The end of the session "${title}" is not in view`);
    return paintedAt - chosen;
  }

  /**
   * Jumps to places all over the transcript.
   * @returns the frames in ms, and the most elements that stood in the page
   */
  async jump(count: number): Promise<{ readonly frames: readonly number[]; readonly elements: number }> {
    return (await this.#run(`parleyBench.jump(${count})`)) as { frames: number[]; elements: number };
  }

  /** Counts the posts to the page in a time in which nothing is asked for. */
  async postsIn(ms: number): Promise<number> {
    await this.#run('parleyBench.start("no marker")');
    await delay(ms);
    return ((await this.#run('parleyBench.stop()')) as Measured).posts;
  }

  async elements(): Promise<number> {
    return (await this.#run('parleyBench.elements()')) as number;
  }

  /** What the page's own objects take after a garbage collection, in MB. */
  async heapMb(): Promise<number> {
    await this.#devtools.send('HeapProfiler.collectGarbage');
    const { metrics } = await this.#devtools.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN) / 2 ** 20;
  }

  /** The most memory that the webview's renderer ever had, in MB. */
  peakMb(): number {
    return peakMb(this.#webviewPid);
  }

  async close(): Promise<void> {
    await this.#window.close();
    await this.#server.stop();
  }

  /** One key now and then, as a person who writes the next message. */
  async #type(seen: Promise<unknown>): Promise<void> {
    let running = true;
    const end = seen.then(
      () => (running = false),
      () => (running = false),
    );
    while (running) {
      await Promise.race([delay(KEY_EVERY_MS), end]);
      if (running) await this.page.keyboard.press('k');
    }
  }

  /**
   * Opens the list of sessions and looks for one, whose row has the focus then. The webview may get
   * the focus back from the palette a little late, which closes the list.
   */
  async #find(title: string): Promise<void> {
    const list = quickInput(this.page);
    for (let attempt = 1; ; attempt++) {
      try {
        await command(this.page, 'Parley: Search Sessions…');
        await list.locator('.monaco-list-row').first().waitFor({ timeout: 5000 });
        await list.locator('input.input').fill(title, { timeout: 5000 });
        await delay(1000); // what is found by its words is drawn a moment after what is found by its letters
        await list.locator('.monaco-list-row.focused', { hasText: title }).waitFor({ timeout: 5000 });
        return;
      } catch (error) {
        if (attempt === 5) throw error;
        await this.page.keyboard.press('Escape');
      }
    }
  }

  async #clearComposer(): Promise<void> {
    await this.#frame.focus(COMPOSER);
    await this.page.keyboard.press('Control+A');
    await this.page.keyboard.press('Delete');
    await this.#frame.waitForFunction('parleyBench.composerText() === ""');
  }

  /** All that the agent wrote in its turns so far, in bytes. */
  agentBytes(): number {
    const bytes = this.#notes().map((line) => (JSON.parse(line) as { bytes?: number }).bytes ?? 0);
    return bytes.reduce((sum, one) => sum + one, 0);
  }

  /** What the agent noted of its turns, as JSON lines. */
  #notes(): string[] {
    const text = existsSync(this.#log) ? readFileSync(this.#log, 'utf8') : '';
    // The last line may be half written.
    return text
      .slice(0, text.lastIndexOf('\n') + 1)
      .split('\n')
      .filter(Boolean);
  }

  /**
   * When the agent wrote the end of its turn, ms since 1970. It notes so after the write, so the
   * note may be a moment behind the screen.
   */
  async #lastWrite(marker: string): Promise<number> {
    for (const deadline = now() + 5_000; now() < deadline; await delay(20)) {
      const line = this.#notes().find((text) => text.includes(`"${marker}"`));
      if (line !== undefined) return (JSON.parse(line) as { last: number }).last;
    }
    throw new Error(`The agent did not note the turn of ${marker}`);
  }

  #run(expression: string): Promise<unknown> {
    return this.#frame.evaluate(expression);
  }
}

/**
 * Milliseconds since 1970 with a fraction, from the clock that the agent and the browser have too.
 */
function now(): number {
  return performance.timeOrigin + performance.now();
}

/** The document of the chat once its agent is ready, with when that was. */
async function findChat(page: Page): Promise<{ frame: Frame; writableAt: number; readyAt: number }> {
  for (const deadline = now() + 60_000; now() < deadline; await delay(50)) {
    for (const frame of page.frames().filter((one) => one.parentFrame()?.parentFrame())) {
      const times = await frame
        .evaluate('globalThis.parleyBench && [parleyBench.writableAt, parleyBench.readyAt]')
        .catch(() => undefined); // it is being loaded
      const [writableAt, readyAt] = (times ?? []) as (number | undefined)[];
      if (writableAt !== undefined && readyAt !== undefined) return { frame, writableAt, readyAt };
    }
  }
  throw new Error('The chat did not open, or its agent did not get ready, within a minute');
}

function renderers(): number[] {
  return descendants(process.pid)
    .filter(({ command }) => command.includes('--type=renderer'))
    .map(({ pid }) => pid);
}

/** The process that runs a document: the one that works when the document does. */
async function busiest(frame: Frame): Promise<number> {
  const before = new Map(renderers().map((pid) => [pid, cpuMs(pid)]));
  await frame.evaluate('{ const end = performance.now() + 250; while (performance.now() < end); }');
  const used = [...before].map(([pid, ms]) => ({ pid, ms: cpuMs(pid) - ms })).sort((a, b) => b.ms - a.ms);
  const [most] = used;
  if (!most) throw new Error('There is no renderer');
  return most.pid;
}

async function within<T>(limit: number, result: Promise<T>, failure: string): Promise<T> {
  const stop = new AbortController();
  const timeout = delay(limit, undefined, { signal: stop.signal }).then(() => {
    throw new Error(`${failure} within ${limit / 1000} s`);
  });
  try {
    return await Promise.race([result, timeout]);
  } finally {
    stop.abort();
    timeout.catch(() => {});
  }
}
