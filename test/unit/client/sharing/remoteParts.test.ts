// Parts of messages with their own addresses, in the transcript of a session from elsewhere and for
// its next agent.

import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { abandonedGaps } from '../../../../src/client/sharing/historyEvents';
import { retryGap } from '../../../../src/client/sharing/historyRetries';
import { type OpenedHistoryOptions, openHistory } from '../../../../src/client/sharing/openedHistory';
import { projectItem } from '../../../../src/client/view/projectItem';
import { Guard } from '../../../../src/distributed/fetch/guard';
import { pluck } from '../../../support/pluck';
import { sameData } from '../../../support/sameData';
import { closeResolvers, kept, resolver } from '../../distributed/fetch/resolvers';
import { type Loopback, serve } from '../../distributed/loopback';
import { Place } from './place';

const never = new AbortController().signal;
const NOW = Date.UTC(2026, 10, 21);

describe('parts of messages that are stored elsewhere', () => {
  let place: Place;
  let server: Loopback;
  let answers: Map<string, (request: IncomingMessage, response: ServerResponse) => void>;

  beforeEach(async () => {
    place = new Place();
    answers = new Map();
    server = await serve((request, response) => {
      const answer = answers.get(request.url ?? '');
      if (answer) answer(request, response);
      else response.writeHead(404).end();
    });
  });
  afterEach(closeResolvers);

  const text = (content: string) => ({ content });
  const remote = (path: string, more: object = {}) => ({ content_url: `${server.origin}${path}`, ...more });
  const says = (path: string, body: string | Buffer): void => {
    answers.set(path, (_request, response) => response.end(body));
  };
  const message = (index: number, role: string, ...parts: object[]): string => {
    says(`/${index}`, JSON.stringify({ role, parts }));
    return `${server.origin}/${index}`;
  };
  const show = (history: readonly string[], options: Partial<OpenedHistoryOptions> = {}) =>
    openHistory(
      { id: 'session-123', history },
      { place, resolver: resolver(), now: () => NOW, head: [], ...options },
      never,
    );
  const retry = (gapId: string, url: string, more: Partial<Parameters<typeof retryGap>[2]> = {}) =>
    retryGap(gapId, url, { place, resolver: resolver(), now: () => NOW, ...more }, never);

  it('are loaded in place if they are short texts', async () => {
    says('/very-large-text', 'the **words** behind the address');
    says('/question', 'what the user asked');
    const history = [
      message(0, 'user', text('Before. '), remote('/question'), text(' After.')),
      message(1, 'agent/assistant', text('Look: '), remote('/very-large-text'), text('Done.')),
    ];
    const { messages, gaps } = await show(history);
    assert.deepEqual([messages, gaps], [2, []]);
    assert.deepEqual(place.texts, [
      'user: Before. ',
      'user: what the user asked',
      'user:  After.',
      'agent: Look: ',
      'agent: the **words** behind the address',
      'agent: Done.',
    ]);
    assert.deepEqual(pluck(place.entries, 'index'), [0, 1, 2, 3, 4, 5]);
  });

  it('wait for a click if they are large or not text', async () => {
    const picture = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]);
    says('/long', 'x'.repeat(300_000));
    says('/p.png', picture);
    says('/a.zip', picture);
    const history = [
      message(
        0,
        'agent/assistant',
        remote('/long'),
        remote('/p.png', { content_type: 'image/png' }),
        remote('/a.zip', { content_type: 'application/zip', name: 'a.zip' }),
      ),
    ];
    const { gaps } = await show(history);
    assert.deepEqual(gaps, []);
    assert.deepEqual(place.texts, ['gap unloaded', 'gap unloaded', 'gap unloaded']);
    assert.deepEqual(
      server.seen.map(({ path }) => path).filter((path) => path === '/p.png' || path === '/a.zip'),
      [],
      'nothing but text is fetched unasked',
    );
    const { state } = place.model;
    const [item] = state.entries.map((entry) =>
      projectItem(entry, { state, turn: () => undefined, roots: [], isOpenable: () => false }),
    );
    assert.ok(item?.kind === 'gap' && item.unloaded === true && item.retryId === 'past-0.0');
    const url = history[0] ?? '';
    for (const gapId of ['past-0.0', 'past-0.1', 'past-0.2']) assert.equal(await retry(gapId, url), true);
    const [long, image, zip] = place.entries.map((entry) => (entry.kind === 'agent' ? entry.content[0] : undefined));
    assert.ok(long?.type === 'text' && long.text.length === 300_000);
    sameData(image, { type: 'image', mimeType: 'image/png', data: picture.toString('base64') });
    assert.ok(zip?.type === 'resource' && zip.blob === picture.toString('base64'));
    assert.equal(await retry('past-0.0', url), false, 'a gap that is none');
  });

  it('are gaps with their reason while they are unavailable', async () => {
    const history = [message(0, 'agent/assistant', text('a'), remote('/later'), text('b'))];
    const { gaps } = await show(history);
    assert.deepEqual(pluck(gaps, 'index', 'reason'), [[0, 'not-found']]);
    assert.deepEqual(place.texts, ['agent: a', 'gap retryable', 'agent: b']);
    assert.deepEqual(place.gaps[0]?.said?.args.slice(0, 2), ['later (text/plain)', 'not-found']);
    assert.equal(await retry('past-0.1', history[0] ?? ''), false);
    says('/later', 'here now');
    assert.equal(await retry('past-0.1', history[0] ?? ''), true);
    assert.deepEqual(place.texts, ['agent: a', 'agent: here now', 'agent: b']);
  });

  it('count as one incomplete message, however many of its parts are missing', async () => {
    const { messages, gaps } = await show([message(0, 'agent/assistant', remote('/a'), remote('/b'), text('c'))]);
    assert.deepEqual([messages, gaps.length], [1, 1]);
    assert.deepEqual(place.texts, ['gap retryable', 'gap retryable', 'agent: c']);
  });

  it('are missing with their message, and found in it when it arrives', async () => {
    says('/large', 'words');
    const url = `${server.origin}/0`;
    await show([url]);
    assert.deepEqual(place.texts, ['gap retryable']);
    message(0, 'agent/assistant', text('a'), remote('/large'));
    assert.equal(await retry('past-0', url), true);
    assert.deepEqual(place.texts, ['agent: a', 'gap unloaded']);
    assert.equal(await retry('past-0.1', url), true);
    assert.deepEqual(place.texts, ['agent: a', 'agent: words']);
  });

  it('are requested again with the token that the user enters for their server', async () => {
    answers.set('/locked', ({ headers }, response) => {
      if (headers.authorization === 'Bearer open') response.end('secret words');
      else response.writeHead(401).end();
    });
    let token: string | undefined;
    const guard = kept(
      new Guard({
        isAllowed: () => true,
        credentials: async (origin) =>
          token !== undefined && origin === server.origin ? { authorization: `Bearer ${token}` } : undefined,
      }),
    );
    const history = [message(0, 'agent/assistant', remote('/locked'))];
    await show(history, { resolver: resolver({ guard }) });
    assert.equal(place.gaps[0]?.said?.args[1], 'unauthorized');
    const asked: string[] = [];
    const unlock = async (url: string): Promise<boolean> => {
      asked.push(url);
      token = 'open';
      return true;
    };
    assert.equal(await retry('past-0.0', history[0] ?? '', { resolver: resolver({ guard }), unlock }), true);
    assert.deepEqual(asked, [`${server.origin}/locked`]);
    assert.deepEqual(place.texts, ['agent: secret words']);
  });

  it('are loaded from a server on this machine only after a click and a confirmation', async () => {
    const other = await serve((_request, response) => response.end('words'));
    const questions: string[] = [];
    const guard = kept(
      new Guard({
        isAllowed: (origin) => origin === server.origin,
        ask: async (all) => {
          questions.push(...all.map(({ origin }) => origin));
          return all.map(({ origin }) => origin);
        },
      }),
    );
    const history = [message(0, 'agent/assistant', { content_url: `${other.origin}/x` })];
    await show(history, { resolver: resolver({ guard }) });
    assert.deepEqual([questions, place.texts], [[], ['gap retryable']]);
    assert.equal(other.connections, 0);
    assert.equal(await retry('past-0.0', history[0] ?? '', { resolver: resolver({ guard }) }), true);
    assert.deepEqual([questions, place.texts], [[other.origin], ['agent: words']]);
  });

  it('are limited: 200 texts load automatically, the rest on a click', async () => {
    const count = 210;
    for (let at = 0; at < count; at++) says(`/t${at}`, `${at}`);
    const history = [0, 1, 2].map((index) =>
      message(index, 'agent/assistant', ...Array.from({ length: 70 }, (_, at) => remote(`/t${index * 70 + at}`))),
    );
    await show(history);
    assert.equal(place.gaps.length, 10);
    assert.equal(place.entries.length, count);
    const many = Array.from({ length: 150 }, (_, at) => remote(`/t${at}`));
    place = new Place();
    await show([message(0, 'agent/assistant', ...many)]);
    const links = place.entries.flatMap((entry) =>
      entry.kind === 'agent' ? entry.content.filter(({ type }) => type === 'resource_link') : [],
    );
    assert.equal(links.length, 50, 'beyond 100 of one message they stay links');
  });

  it('can be requested again if the window ended while they were loading', () => {
    const gap = { type: 'gap', gapId: 'past-3.1', text: 'x is being loaded.', state: 'loading' } as const;
    place.note([{ at: NOW, event: gap }]);
    place.note(abandonedGaps(place.model.state).map((event) => ({ at: NOW, event })));
    assert.deepEqual(place.texts, ['gap retryable']);
    assert.deepEqual(place.gaps[0]?.said?.args.slice(0, 2), ['', 'cancelled']);
  });
});
