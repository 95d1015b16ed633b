// What reaches a webview: few messages for any number of updates, and nothing lost if it is slow or
// hidden.

import { strict as assert } from 'node:assert';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Deferred } from '../../../../src/base/deferred';
import { FragmentLines } from '../../../../src/client/requests/fragmentLines';
import { SessionFeed } from '../../../../src/client/view/feed';
import type { BlockView, DiffView, ItemView, ToWebview } from '../../../../src/panel/contract';
import type { SessionEvent } from '../../../../src/session/events/event';
import { InlineAgent, useInlineAgents } from '../../../support/agents/inlineAgent';
import { pluck } from '../../../support/pluck';
import { type TestConversation, testConversation } from '../../../support/sessions/conversation';
import { FEED_SOURCES } from '../../../support/sessions/feedSources';

const AGENT = { id: 'x', name: 'X', protocol: 'auto', type: 'process', command: 'x', args: [], env: {} } as const;

/** Applies messages as a webview does. */
class Reader {
  readonly messages: ToWebview[] = [];
  readonly items = new Map<number, ItemView>();
  readonly #waiting: (() => void)[] = [];
  acknowledge = true;
  feed: SessionFeed | undefined;

  take(message: ToWebview): void {
    this.messages.push(message);
    if (message.type === 'snapshot') {
      this.items.clear();
      message.items.forEach((item, index) => {
        this.items.set(message.from + index, item);
      });
    } else if (message.type === 'update') {
      for (const op of message.ops) {
        if (op.op === 'put') this.items.set(op.index, op.item);
        else if (op.op === 'append') this.#append(op.index, op.text);
        else if (op.op === 'blocks') this.#add(op.index, op.from, op.blocks);
        else if (op.op === 'terminal') this.#print(op.terminalId, op.text, op.drop);
      }
    }
    if (this.acknowledge && 'revision' in message) queueMicrotask(() => this.feed?.acknowledge(message.revision));
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  text(index: number): string {
    const item = this.items.get(index);
    return item && 'content' in item && item.kind !== 'tool'
      ? item.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
      : '';
  }

  terminalOutput(id: string): string | undefined {
    for (const item of this.items.values()) {
      if (item.kind !== 'tool') continue;
      for (const part of item.content)
        if (part.type === 'terminal' && part.terminal.id === id) return part.terminal.output;
    }
    return undefined;
  }

  #print(id: string, text: string, drop: number): void {
    for (const [index, item] of this.items) {
      if (item.kind !== 'tool') continue;
      const content = item.content.map((part) =>
        part.type === 'terminal' && part.terminal.id === id
          ? { ...part, terminal: { ...part.terminal, output: part.terminal.output.slice(drop) + text } }
          : part,
      );
      this.items.set(index, { ...item, content });
    }
  }

  #add(index: number, from: number, blocks: readonly BlockView[]): void {
    const item = this.#message(index);
    assert.equal(item.content.length, from);
    this.items.set(index, { ...item, content: [...item.content, ...blocks] });
  }

  #message(index: number) {
    const item = this.items.get(index);
    if (!item || !('content' in item) || item.kind === 'tool')
      throw new Error(`append to ${index}, which is not there`);
    return item;
  }

  #append(index: number, text: string): void {
    const item = this.#message(index);
    const last = item.content.at(-1);
    const content =
      last?.type === 'text'
        ? [...item.content.slice(0, -1), { type: 'text' as const, text: last.text + text }]
        : [...item.content, { type: 'text' as const, text }];
    this.items.set(index, { ...item, content });
  }
}

function blocksOf(item: ItemView | undefined): readonly string[] {
  if (!item || !('content' in item) || item.kind === 'tool') return [];
  return item.content.map((block) => (block.type === 'text' ? block.text : block.type));
}

describe('session feed', () => {
  let session: TestConversation;
  let reader: Reader;
  let feed: SessionFeed;
  const apply = (event: SessionEvent): void => session.conversation.note([{ at: 1, event }]);
  const say = (text: string): void => apply({ type: 'message_chunk', role: 'agent', block: { type: 'text', text } });

  beforeEach(() => {
    session = testConversation({ agent: AGENT, cwd: tmpdir() });
    reader = new Reader();
    feed = new SessionFeed(session.conversation, FEED_SOURCES, (message) => reader.take(message));
    reader.feed = feed;
  });
  afterEach(async () => {
    feed.dispose();
    await session.close();
  });

  it('sends thousands of updates in a few messages, with all of the text', async () => {
    feed.snapshot();
    let expected = '';
    for (let index = 0; index < 10_000; index++) {
      say(`${index} `);
      expected += `${index} `;
    }
    await reader.until(() => reader.text(0) === expected);
    assert.ok(reader.messages.length <= 4, `${reader.messages.length} messages`);
  });

  it('sends each picture of a message once, between the texts around it', async () => {
    const data = 'A'.repeat(40_000);
    const shown: string[] = [];
    feed.snapshot();
    for (let number = 0; number < 30; number++) {
      say(`${number} `);
      say('is ');
      apply({ type: 'message_chunk', role: 'agent', block: { type: 'image', data, mimeType: 'image/png' } });
      shown.push(`${number} is `, 'image');
      if (number % 3 === 0) await reader.until(() => blocksOf(reader.items.get(0)).join() === shown.join());
    }
    await reader.until(() => blocksOf(reader.items.get(0)).join() === shown.join());
    const posted = JSON.stringify(reader.messages).length;
    assert.ok(posted < 1.2 * 30 * data.length, `${posted} characters`);
  });

  it('has at most three messages in flight, and catches up when a slow webview answers', async () => {
    reader.acknowledge = false;
    feed.snapshot();
    say('x');
    await reader.until(() => reader.messages.length === 2);
    for (let round = 0; round < 20; round++) {
      say('x');
      await new Promise((resolve) => setImmediate(resolve));
    }
    await reader.until(() => reader.messages.length === 3);
    say('y');
    reader.acknowledge = true;
    feed.acknowledge(3);
    await reader.until(() => reader.text(0) === `${'x'.repeat(21)}y`);
    assert.ok(reader.messages.length <= 5);
  });

  it('sends nothing to a hidden webview, and everything when it is shown again', async () => {
    feed.snapshot();
    feed.suspend();
    for (let index = 0; index < 100; index++) say('z');
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(reader.messages.length, 1);
    feed.snapshot();
    assert.equal(reader.text(0), 'z'.repeat(100));
  });

  it('catches up with one snapshot if a webview that did not answer is far behind', async () => {
    reader.acknowledge = false;
    feed.snapshot();
    say('012');
    await reader.until(() => reader.messages.length === 2);
    const before = reader.messages.length;
    for (let n = 0; n < 600; n++) say('x'.repeat(10_000));
    reader.acknowledge = true;
    feed.acknowledge(2);
    await reader.until(() => reader.text(0).length === 3 + 6_000_000);
    assert.deepEqual(pluck(reader.messages.slice(before), 'type'), ['snapshot']);
  });

  it('resolves pending waits for painting when it ends', async () => {
    reader.acknowledge = false;
    feed.snapshot();
    const waiting = feed.painted();
    feed.dispose();
    await waiting;
    await feed.painted();
  });

  it('treats only acknowledged revisions as painted', async () => {
    reader.acknowledge = false;
    feed.snapshot();
    let isPainted = false;
    const first = feed.painted().then(() => {
      isPainted = true;
    });
    say('more');
    const second = feed.painted();
    await Promise.resolve();
    assert.equal(isPainted, false);
    feed.acknowledge(1);
    await first;
    await reader.until(() => reader.messages.length === 2);
    feed.acknowledge(2);
    await second;
    await feed.painted();
  });

  it('sends the end of a long transcript first and older pages on request', () => {
    for (let index = 0; index < 1000; index++) apply({ type: 'notice', severity: 'info', title: `n${index}` });
    feed.snapshot();
    const [snapshot] = reader.messages;
    assert.ok(snapshot?.type === 'snapshot');
    assert.equal(snapshot.total, 1000);
    assert.equal(snapshot.from + snapshot.items.length, 1000);
    feed.page(0, 50);
    const page = reader.messages.at(-1);
    assert.ok(page?.type === 'page');
    assert.equal(page.items.length, 50);
    assert.equal(page.items[0]?.id, 'e0');
    feed.page(900, 100_000);
    const last = reader.messages.at(-1);
    assert.ok(last?.type === 'page' && last.items.length <= 200);
  });

  it('sends changes of old entries only if the webview has them', async () => {
    apply({ type: 'gaps', prefix: 'g', first: 0, count: 2000, text: 'on its way', state: 'loading' });
    feed.snapshot();
    feed.page(0, 64);
    reader.messages.length = 0;
    const events = [{ type: 'message_chunk', role: 'agent', block: { type: 'text', text: 'here' } }] as const;
    const fillings = Array.from({ length: 1999 }, (_, index) => ({ gapId: `g${index}`, at: 1, events }));
    apply({ type: 'gaps_filled', fillings });
    await reader.until(() => reader.text(0) === 'here' && reader.text(1998) === 'here');
    const ops = reader.messages.flatMap((message) => (message.type === 'update' ? message.ops : []));
    const indexes = ops.flatMap((op) => (op.op === 'put' ? [op.index] : []));
    assert.deepEqual([reader.messages.length, indexes.length, indexes[0]], [1, 64 + 63, 0]);
    assert.ok(indexes.every((index) => index < 64 || index >= 1936));
    feed.page(500, 501);
    const page = reader.messages.at(-1);
    assert.ok(page?.type === 'page' && page.items[0]?.kind === 'agent', 'the others come when they are asked for');
  });

  it('sends only the last of many new entries, and the others on request', async () => {
    const note = (title: string): void => apply({ type: 'notice', severity: 'info', title });
    feed.snapshot();
    for (let index = 0; index < 1000; index++) note(`n${index}`);
    await reader.until(() => reader.items.has(999));
    assert.ok(reader.items.size < 100, `${reader.items.size} were sent`);
    assert.ok(reader.items.has(950) && !reader.items.has(500));
    feed.page(496, 504);
    const page = reader.messages.at(-1);
    assert.ok(page?.type === 'page' && page.items[4]?.id === 'e500');
    note('one more');
    await reader.until(() => reader.items.has(1000));
    assert.equal(reader.messages.filter(({ type }) => type === 'snapshot').length, 1);
  });

  it('sends only as many edits as fill a window, and the others on request', async () => {
    const edit = (index: number): void => {
      const content = [{ type: 'diff', path: '/a.ts', oldText: 'a\nb\n', newText: `a\n${index}\n` }] as const;
      apply({ type: 'tool_call', toolCallId: `c${index}`, announced: true, patch: { title: 'Edit', content } });
    };
    feed.snapshot();
    for (let index = 0; index < 500; index++) edit(index);
    await reader.until(() => reader.items.has(499));
    assert.ok(reader.items.size < 24, `${reader.items.size} were sent`);
    feed.page(0, 8);
    const page = reader.messages.at(-1);
    assert.ok(page?.type === 'page' && page.items.length === 8);
    feed.snapshot();
    const snapshot = reader.messages.at(-1);
    assert.ok(snapshot?.type === 'snapshot' && snapshot.total === 500 && snapshot.items.length < 24);
  });

  it('leaves no gap in a page of the webview that it began to send', async () => {
    const note = (title: string): void => apply({ type: 'notice', severity: 'info', title });
    for (let index = 0; index < 3; index++) note(`n${index}`);
    feed.snapshot();
    for (let index = 3; index < 200; index++) note(`n${index}`);
    await reader.until(() => reader.items.has(199));
    assert.deepEqual([...reader.items.keys()].slice(0, 10), [0, 1, 2, 3, 4, 5, 6, 7, 136, 137]);
  });

  it('sends the beginning of the message of a turn whose end it sends', () => {
    apply({ type: 'turn_started', turnId: 't1', origin: 'user', at: 1 });
    const content = [{ type: 'text', text: ` Fix it\n${'x'.repeat(1000)}` }] as const;
    apply({ type: 'prompt_sent', turnId: 't1', promptId: 'p', content });
    feed.snapshot();
    for (let index = 0; index < 100; index++) apply({ type: 'notice', severity: 'info', title: `n${index}` });
    feed.snapshot();
    const prompts = reader.messages.map((message) => message.type === 'snapshot' && message.prompt);
    const text = `Fix it\n${'x'.repeat(293)}`;
    assert.deepEqual(prompts, [undefined, { turnId: 't1', index: 0, text }]);
  });

  it('sends only the changed fields of the session', async () => {
    feed.snapshot();
    apply({ type: 'usage', usage: { used: 5, size: 10 } });
    await reader.until(() => reader.messages.length === 2);
    const message = reader.messages[1];
    assert.ok(message?.type === 'update');
    assert.deepEqual(message.ops, [{ op: 'session', patch: { usage: { used: 5, size: 10 } } }]);
  });

  it('sends the progress of the running turn’s plan until all steps are done', async () => {
    const step = (content: string, status: string) => ({ content, status, priority: 'medium' });
    const plan = () => {
      const [op] = reader.messages
        .flatMap((message) =>
          message.type === 'update' ? message.ops.filter((one) => one.op === 'session' && 'plan' in one.patch) : [],
        )
        .slice(-1);
      return op?.op === 'session' ? op.patch.plan : undefined;
    };
    feed.snapshot();
    apply({ type: 'turn_started', turnId: 't1', origin: 'user', at: 1 });
    apply({
      type: 'plan',
      planId: 'p',
      entries: [step('a', 'completed'), step('b', 'pending'), step('c', 'in_progress')],
    });
    await reader.until(() => plan()?.step === 'c');
    assert.deepEqual(plan(), { index: 0, done: 1, total: 3, step: 'c' });
    apply({ type: 'plan', planId: 'p', entries: [step('a', 'completed'), step('b', 'completed')] });
    await reader.until(() => plan() === null);
    apply({ type: 'plan', planId: 'q', entries: [step('d', 'pending')] });
    await reader.until(() => plan()?.step === 'd');
    apply({ type: 'plan_removed', planId: 'q' });
    await reader.until(() => plan() === null);
  });

  it('sends raw input and output only on request', async () => {
    apply({
      type: 'tool_call',
      toolCallId: 'a',
      announced: true,
      patch: { title: 'Run', rawInput: { secret: 'no', x: 1 }, rawOutput: 'out' },
    });
    feed.snapshot();
    const item = reader.items.get(0);
    assert.ok(item?.kind === 'tool' && item.hasRaw && item.rawInput === undefined);
    feed.details(0);
    const whole = reader.items.get(0);
    assert.ok(whole?.kind === 'tool' && whole.rawInput?.includes('"x": 1') && whole.rawOutput === 'out');
  });

  it('numbers the lines of a change once its place in the file is known', async () => {
    const folder = session.conversation.roots[0] ?? '';
    const path = join(folder, 'a.ts');
    let answer = (_text: string): void => {};
    const read = new Promise<string>((resolve) => {
      answer = resolve;
    });
    const fragmentLines = new FragmentLines(() => read);
    feed.dispose();
    feed = new SessionFeed(session.conversation, { ...FEED_SOURCES, fragmentLines }, (message) => reader.take(message));
    reader.feed = feed;
    feed.snapshot();
    const diff = { type: 'diff', path, oldText: 'two', newText: '2' } as const;
    apply({ type: 'tool_call', toolCallId: 'a', announced: true, patch: { title: 'Edit', content: [diff] } });
    const shown = (): DiffView | undefined => {
      const item = reader.items.get(0);
      const part = item?.kind === 'tool' ? item.content[0] : undefined;
      return part?.type === 'diff' ? part.diff : undefined;
    };
    await reader.until(() => shown() !== undefined);
    assert.equal(shown()?.unnumbered, true);
    answer('one\ntwo\nthree');
    await reader.until(() => shown()?.unnumbered === undefined);
    assert.deepEqual(shown()?.hunks, [{ oldStart: 2, newStart: 2, lines: ['-two', '+2'] }]);
  });

  it('shows the output of a terminal once, however it arrives with its tool call', async () => {
    const show = (patch: object): void => apply({ type: 'tool_call', toolCallId: 'a', announced: true, patch });
    show({ title: 'Run', content: [{ type: 'terminal', terminalId: 'x' }] });
    feed.snapshot();
    apply({ type: 'terminal', terminalId: 'x', append: 'one ' });
    show({ status: 'in_progress' });
    await reader.until(() => reader.terminalOutput('x') === 'one ');
    apply({ type: 'terminal', terminalId: 'x', append: 'two' });
    await reader.until(() => reader.terminalOutput('x') === 'one two');
  });
});

describe('session feed at the end of a turn', () => {
  const open = useInlineAgents();
  const { setTimeout: real } = globalThis;
  afterEach(() => {
    globalThis.setTimeout = real;
  });

  it('sends the last words without waiting for the next frame', async () => {
    const agent = new InlineAgent({});
    const prompted = new Deferred<unknown>();
    agent.answers['session/prompt'] = (_params, _agent, id) => prompted.resolve(id);
    const { conversation } = await open(agent);
    const reader = new Reader();
    const feed = new SessionFeed(conversation, FEED_SOURCES, (message) => reader.take(message));
    reader.feed = feed;
    feed.snapshot();
    void conversation.send('go').done;
    const prompt = await prompted.promise;
    agent.update('s1', 'first ');
    await reader.until(() => reader.text(1) === 'first ');
    // Frames never arrive.
    globalThis.setTimeout = ((run: () => void, ms = 0) => real(ms > 0 && ms <= 17 ? () => {} : run, ms)) as never;
    agent.update('s1', 'last words');
    agent.answer(prompt, { stopReason: 'end_turn' });
    await reader.until(() => reader.text(1) === 'first last words');
    const last = reader.messages.at(-1);
    assert.ok(last?.type === 'update');
    assert.ok(last.ops.some((op) => op.op === 'session' && op.patch.phase === 'ready'));
    feed.dispose();
  });
});
