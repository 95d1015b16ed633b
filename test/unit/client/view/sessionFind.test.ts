// Finding a text in the whole of a session.

import { strict as assert } from 'node:assert';
import { type FindSource, SessionFind } from '../../../../src/client/view/sessionFind';
import type { FindQuery, ToWebview } from '../../../../src/panel/contract';
import type { SessionEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { pluck } from '../../../support/pluck';

type Found = Extract<ToWebview, { type: 'found' }>;

const says = (messageId: string, text: string, role: 'user' | 'agent' | 'thought' = 'agent'): SessionEvent => ({
  type: 'message_chunk',
  role,
  messageId,
  block: { type: 'text', text },
});

class Session {
  readonly model = new SessionModel();
  readonly #found: Found[] = [];
  readonly #answers: ToWebview[] = [];
  #counts = new Map<number, number>();
  #onMessage: (() => void) | undefined;
  find: SessionFind | undefined;

  constructor(...events: readonly SessionEvent[]) {
    this.apply(...events);
  }

  apply(...events: readonly SessionEvent[]): void {
    for (const event of events) this.model.apply(event, 0);
  }

  start(text: string, options: Partial<FindQuery> & { from?: number; whole?: Promise<void> } = {}): void {
    this.find?.dispose();
    const { from = 0, whole, ...rest } = options;
    const query = { text, matchCase: false, wholeWord: false, regex: false, ...rest };
    const source: FindSource = { model: this.model, whole, roots: ['/work'] };
    this.find = new SessionFind(source, { type: 'find', id: 1, query, from }, (message) => {
      if (message.type === 'found') this.#found.push(message);
      else this.#answers.push(message);
      this.#onMessage?.();
    });
  }

  async until(holds: (found: readonly Found[]) => boolean): Promise<readonly Found[]> {
    while (!holds(this.#found)) {
      await new Promise<void>((resolve) => {
        this.#onMessage = resolve;
      });
    }
    return this.#found;
  }

  /** Searches to the end. @returns entries with their number of matches */
  async search(text: string, options: Partial<FindQuery> & { from?: number } = {}): Promise<[number, number][]> {
    this.#found.length = 0;
    this.start(text, options);
    await this.until((found) => found.at(-1)?.isDone === true);
    return this.counts();
  }

  counts(): [number, number][] {
    this.#counts = new Map(this.#found.flatMap(({ counts }) => counts));
    return [...this.#counts].filter(([, count]) => count > 0).sort(([a], [b]) => a - b);
  }

  get foundMessages(): readonly Found[] {
    return this.#found;
  }

  get answers(): readonly ToWebview[] {
    return this.#answers;
  }
}

describe('find in a session', () => {
  let session: Session;
  afterEach(() => session.find?.dispose());

  it('counts the matches of every entry, ignoring case', async () => {
    session = new Session(says('u', 'Find the Needle', 'user'), says('a', 'No.'), says('b', 'needle, NEEDLE', 'user'));
    assert.deepEqual(await session.search('needle'), [
      [0, 1],
      [2, 2],
    ]);
  });

  it('matches case, whole words and regular expressions on request', async () => {
    session = new Session(says('a', 'Word sword words (word) größe'));
    assert.deepEqual(await session.search('word'), [[0, 4]]);
    assert.deepEqual(await session.search('word', { matchCase: true }), [[0, 3]]);
    assert.deepEqual(await session.search('word', { wholeWord: true }), [[0, 2]]);
    assert.deepEqual(await session.search('w.rds?\\b', { regex: true, matchCase: true }), [[0, 3]]);
    assert.deepEqual(await session.search('(word)'), [[0, 1]]);
    assert.deepEqual(await session.search('größ', { wholeWord: true }), [], 'letters of all languages make words');
  });

  it('searches titles, outputs, changes and paths of tool calls', async () => {
    session = new Session(
      {
        type: 'tool_call',
        toolCallId: 'c',
        announced: true,
        patch: {
          title: 'Edit parser',
          content: [
            { type: 'diff', path: '/work/src/parser.ts', oldText: 'same\nold line\n', newText: 'same\nnew line\n' },
            { type: 'content', block: { type: 'text', text: 'done\u001b[31m red\u001b[0m end' } },
          ],
        },
      },
      {
        type: 'tool_call',
        toolCallId: 'd',
        announced: true,
        patch: { title: 'Ask', rawInput: { question: 'why so' } },
      },
    );
    for (const text of ['edit parser', 'src/parser.ts', 'old line', 'new line', 'red end'])
      assert.deepEqual(await session.search(text), [[0, 1]], text);
    assert.deepEqual(await session.search('why so'), [[1, 1]]);
    assert.deepEqual(await session.search('[31m'), []);
  });

  it('searches Markdown as rendered', async () => {
    session = new Session(
      says('a', 'A **bold** [link text](https://example.com/hidden) and `code`\nin *two* lines\n\n```js\n2 ** 3\n```'),
    );
    for (const text of ['a bold link', 'text and code in two', '2 ** 3'])
      assert.deepEqual(await session.search(text), [[0, 1]], text);
    assert.deepEqual(await session.search('example.com'), []);
    assert.deepEqual(await session.search('js'), []);
  });

  it('searches tags, alerts and folded sections as rendered', async () => {
    session = new Session(
      says('a', 'Press <kbd>Ctrl</kbd>+<kbd>C</kbd><br/>now\n\n> [!NOTE]\n> words'),
      says('b', '<details>\n<summary>kbd of a log</summary>\n\nMail <kbd@note.org>\n</details>'),
    );
    assert.deepEqual(await session.search('Ctrl+C'), [[0, 1]]);
    assert.deepEqual(await session.search('kbd'), [[1, 2]]);
    assert.deepEqual(await session.search('details'), []);
    assert.deepEqual(await session.search('note'), [[1, 1]]);
  });

  it('begins at the reader’s position', async () => {
    const texts = Array.from({ length: 40 }, (_, index) =>
      says(`m${index}`, `needle ${'x'.repeat(10_000)}`, index % 2 ? 'user' : 'agent'),
    );
    session = new Session(...texts);
    await session.search('needle', { from: 25 });
    assert.deepEqual(session.foundMessages[0]?.counts[0], [25, 1]);
    assert.equal(session.counts().length, 40);
  });

  it('continues while the session does', async () => {
    session = new Session(says('u', 'needle', 'user'));
    await session.search('needle');
    session.apply(says('a', 'a nee'));
    session.apply(says('a', 'dle comes in pieces'));
    await session.until(() => session.counts().length === 2);
    session.apply({
      type: 'tool_call',
      toolCallId: 'c',
      announced: true,
      patch: { title: 'Run', content: [{ type: 'terminal', terminalId: 't' }] },
    });
    await session.until((found) => found.at(-1)?.isDone === true);
    session.apply({ type: 'terminal', terminalId: 't', append: 'needle\nneedle\n' });
    await session.until(() => session.counts().length === 3);
    assert.deepEqual(session.counts(), [
      [0, 1],
      [1, 1],
      [2, 2],
    ]);
  });

  it('searches only changed entries again', async () => {
    session = new Session(
      ...Array.from({ length: 500 }, (_, index) => says(`m${index}`, 'needle', index % 2 ? 'user' : 'agent')),
    );
    await session.search('needle');
    const before = session.foundMessages.length;
    session.apply(says('new', 'needle needle', 'thought'));
    const found = await session.until((all) => all.length > before);
    assert.deepEqual(
      found.slice(before).flatMap(({ counts }) => counts),
      [[500, 2]],
    );
  });

  it('waits for the rest of a session that is still loading', async () => {
    let read = (): void => {};
    const whole = new Promise<void>((resolve) => {
      read = resolve;
    });
    session = new Session(says('a', 'needle'));
    session.start('needle', { whole });
    session.apply(says('b', 'needle', 'user'));
    read();
    await session.until((found) => found.at(-1)?.isDone === true);
    assert.equal(session.counts().length, 2);
  });

  it('reports an invalid expression', async () => {
    session = new Session(says('a', 'needle'));
    for (const text of ['(', 'a)(b', '[', '\\']) {
      await session.search(text, { regex: true, wholeWord: true });
      assert.deepEqual(pluck(session.foundMessages, 'problem'), ['invalid'], text);
    }
  });

  it('stops an expression that takes too long', async () => {
    session = new Session(says('a', 'fine'), says('b', `${'a'.repeat(50)}!`, 'user'), says('c', 'fine'));
    await session.search('(a+)+$', { regex: true });
    assert.equal(session.foundMessages.at(-1)?.problem, 'slow');
    await session.find?.findIn({ type: 'findIn', id: 1, request: 1, texts: ['aaa'] });
    assert.deepEqual(session.answers, [], 'the search has ended');
  });

  it('does not block the host while an expression runs', async () => {
    session = new Session(says('a', `${'a'.repeat(50)}!`));
    session.start('(a+)+$', { regex: true });
    // The next turn of the event loop comes before the time limit.
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(session.foundMessages, []);
    await session.until((found) => found.at(-1)?.problem === 'slow');
  });

  it('can begin another search while one is running', async () => {
    session = new Session(says('a', `needle ${'a'.repeat(50)}!`));
    session.start('(a+)+$', { regex: true });
    assert.deepEqual(await session.search('ne+dle', { regex: true }), [[0, 1]]);
    assert.ok(session.foundMessages.every(({ problem }) => problem === undefined));
  });

  it('skips empty matches', async () => {
    session = new Session(says('a', '😀b😀'));
    assert.deepEqual(await session.search('b*', { regex: true }), [[0, 1]]);
  });

  it('takes linear time for any text', async () => {
    const hostile = ['[', '[a](', '*a', '`', '> ', '![', '[a](', '<br ', '<kbd>', '> [!NOTE] '].map((part, index) =>
      says(`h${index}`, part.repeat(200_000), index % 2 ? 'user' : 'agent'),
    );
    session = new Session(...hostile);
    const began = performance.now();
    assert.deepEqual(await session.search('needle'), []);
    assert.ok(performance.now() - began < 20_000);
  });

  it('returns the positions of matches in rendered texts', async () => {
    session = new Session(says('a', 'needle'));
    await session.search('needle');
    await session.find?.findIn({ type: 'findIn', id: 1, request: 7, texts: ['a needle and a needle', 'none'] });
    assert.deepEqual(session.answers, [{ type: 'foundIn', id: 1, request: 7, ranges: [[2, 6, 15, 6], []] }]);
  });
});
