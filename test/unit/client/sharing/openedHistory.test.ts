// Sessions from real servers on loopback in the transcript of a conversation: complete, in order,
// with their gaps, and continued by real agents.

import assert from 'node:assert/strict';
import { Deferred } from '../../../../src/base/deferred';
import { abandonedGaps, originsOf } from '../../../../src/client/sharing/historyEvents';
import { retryGap, retryGaps } from '../../../../src/client/sharing/historyRetries';
import { type OpenedHistoryOptions, openHistory } from '../../../../src/client/sharing/openedHistory';
import { pastEvents } from '../../../../src/client/sharing/pastEvents';
import { openedEnd, openedFrom } from '../../../../src/client/sharing/provenanceNotices';
import { projectItem } from '../../../../src/client/view/projectItem';
import type { ResolvedMessage } from '../../../../src/distributed/fetch/resolver';
import { type Message, markdownPart, type SessionDescriptor, textPart } from '../../../../src/distributed/model/model';
import { sha256Of } from '../../../../src/distributed/model/resources';
import { withHash } from '../../../../src/distributed/model/resourceUrl';
import { toMessages } from '../../../../src/distributed/model/toMessages';
import type { TimedEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { pluck } from '../../../support/pluck';
import { sameData } from '../../../support/sameData';
import { closeResolvers, echo, newCache, resolver } from '../../distributed/fetch/resolvers';
import { messageText, serve } from '../../distributed/loopback';
import { Place } from './place';

const never = new AbortController().signal;
const NOW = Date.UTC(2026, 10, 21);

describe('a session from elsewhere', function () {
  this.timeout(30_000);
  let place: Place;

  beforeEach(() => {
    place = new Place();
  });

  afterEach(closeResolvers);

  function show(history: readonly string[], options: Partial<OpenedHistoryOptions> = {}) {
    const descriptor: SessionDescriptor = { id: 'session-123', history };
    return openHistory(descriptor, { place, resolver: resolver(), now: () => NOW, head: [], ...options }, never);
  }

  it('shows one gap for all earlier messages until the newest ones are painted', async () => {
    const server = await serve(echo);
    const history = Array.from({ length: 50 }, (_, index) => `${server.origin}/${index}`);
    const painted = new Deferred<void>();
    const done = show(history, {
      head: [openedFrom({ id: 'session-123', history })],
      patienceMs: 60_000,
      aloneMs: 60_000,
      onDidShow: () => painted.promise,
    });
    const newest = history.slice(-12).map((_, index) => `user: /${38 + index}`);
    await place.until((texts) => texts.length > 0);
    assert.deepEqual(place.texts.slice(1), ['gap loading', ...newest]);
    assert.equal(server.seen.length, 12);
    painted.resolve();
    await place.until((texts) => texts.length > 14);
    assert.deepEqual(place.texts.slice(1), [...Array.from({ length: 38 }, () => 'gap loading'), ...newest]);
    sameData(await done, { messages: 50, gaps: [] });
    assert.deepEqual(
      place.texts.slice(1),
      history.map((_, index) => `user: /${index}`),
    );
  });

  it('offers to load the earlier messages if the window ended before they were placed', async () => {
    const server = await serve(echo);
    const history = Array.from({ length: 50 }, (_, index) => `${server.origin}/${index}`);
    const noted: TimedEvent[] = [];
    const dying = {
      model: place.model,
      note(events: readonly TimedEvent[]): void {
        noted.push(...events);
        place.note(events);
      },
    };
    const ended = new AbortController();
    const onDidShow = (): Promise<void> => new Promise(() => {});
    const options = { place: dying, resolver: resolver(), now: () => NOW, head: [], aloneMs: 60_000, onDidShow };
    const done = openHistory({ id: 'session-123', history }, options, ended.signal);
    await place.until((texts) => texts.length > 0);
    const written = [...noted];
    ended.abort();
    await done;
    place = new Place();
    place.note(written);
    place.note(abandonedGaps(place.model.state).map((event) => ({ at: NOW, event })));
    assert.deepEqual(
      place.texts,
      history.map((_, index) => (index < 38 ? 'gap retryable' : `user: /${index}`)),
    );
    assert.deepEqual(abandonedGaps(place.model.state), []);
    const again = { place, resolver: resolver(), now: () => NOW };
    assert.equal(await retryGap('past-0', history[0] ?? '', again, never), true);
    const others = history.slice(1, 38).map((url, index) => ({ index: index + 1, url }));
    await retryGaps(others, again, never);
    assert.deepEqual(
      place.texts,
      history.map((_, index) => `user: /${index}`),
    );
  });

  it('loads older messages even if one of the newest is missing', async () => {
    const older = new Deferred<void>();
    const server = await serve((request, response) => {
      if (request.url === '/0') older.resolve();
      if (request.url !== '/29') echo(request, response);
    });
    const history = Array.from({ length: 30 }, (_, index) => `${server.origin}/${index}`);
    const stop = new AbortController();
    const slow = { place, resolver: resolver({ timeoutMs: 60_000 }), patienceMs: 60_000 };
    const options = { ...slow, now: () => NOW, head: [], aloneMs: 1 };
    const done = openHistory({ id: 'session-123', history }, options, stop.signal);
    await older.promise;
    stop.abort();
    await done;
    assert.equal(place.texts.at(-1), 'gap retryable');
  });

  it('stops waiting for a server that hangs', async () => {
    const hanging = await serve(() => {});
    const good = await serve(echo);
    const painted = new Deferred<void>();
    const stop = new AbortController();
    const descriptor = { id: 'session-123', history: [`${good.origin}/0`, `${hanging.origin}/1`] };
    const options = {
      place,
      resolver: resolver(),
      now: () => NOW,
      head: [],
      patienceMs: 1,
      batchMs: 1,
      onDidShow: () => {
        painted.resolve();
        return undefined;
      },
    };
    const done = openHistory(descriptor, options, stop.signal);
    await painted.promise;
    await place.until((texts) => texts[0] === 'user: /0');
    assert.deepEqual(place.texts, ['user: /0', 'gap loading']);
    stop.abort();
    assert.equal((await done).gaps.length, 1);
    assert.deepEqual(place.texts, ['user: /0', 'gap retryable']);
  });

  it('shows gaps of seven kinds with their reasons, and the rest of the history', async () => {
    const server = await serve((request, response) => {
      const path = new URL(request.url ?? '', 'http://x').pathname;
      if (path === '/missing') response.writeHead(404).end();
      else if (path === '/slow') return;
      else if (path === '/expired') response.writeHead(403).end('<Code>secret-of-the-server</Code>');
      else if (path === '/html') response.end('<!doctype html>secret-of-the-server');
      else if (path === '/agents') response.end('{"agents":["secret-of-the-server"]}');
      else if (path === '/large') response.end(messageText('x'.repeat(20_000)));
      else echo(request, response);
    });
    const gone = await serve(echo);
    await gone.close();
    const missing = [
      `${server.origin}/missing`,
      `${server.origin}/slow`,
      `${gone.origin}/refused`,
      `${server.origin}/expired?X-Amz-Date=20200101T000000Z&X-Amz-Expires=60&X-Amz-Signature=abcdef`,
      `${server.origin}/html`,
      `${server.origin}/agents`,
      `${server.origin}/large`,
      withHash(`${server.origin}/changed`, sha256Of(Buffer.from('as it was'))),
    ];
    const history = missing.flatMap((url, index) => [`${server.origin}/good-${index}`, url]);
    const { messages, gaps } = await show(history, {
      resolver: resolver({ timeoutMs: 1000, maxMessageBytes: 10_000 }),
    });
    assert.equal(messages, 8);
    assert.deepEqual(pluck(gaps, 'reason'), [
      'not-found',
      'timeout',
      'refused',
      'expired',
      'not-json',
      'not-a-message',
      'too-large',
      'changed',
    ]);
    assert.deepEqual(
      place.texts.filter((text) => !text.startsWith('gap')),
      missing.map((_, index) => `user: /good-${index}`),
    );
    const { state } = place.model;
    const items = state.entries.map((entry) =>
      projectItem(entry, { state, turn: () => undefined, roots: [], isOpenable: () => false }),
    );
    const shown = items.filter((item) => item.kind === 'gap');
    assert.deepEqual(
      shown.map(({ retryId }) => retryId !== undefined),
      [true, true, true, false, true, false, false, true],
    );
    assert.match(shown[0]?.text ?? '', /^Message 2 is missing\. 127\.0\.0\.1:\d+ no longer has it\.$/);
    assert.doesNotMatch(JSON.stringify(items), /secret-of-the-server|abcdef/);
    assert.deepEqual(openedEnd('Agent', gaps, 'none', false).said?.args, ['Agent', 8, 'none', 0]);
  });

  it('determines which agent spoke last, if the messages name one', async () => {
    const roles = ['agent/First', 'user', 'agent/Second', 'user'];
    const server = await serve((request, response) => {
      const role = roles[Number(request.url?.slice(1))];
      response.end(JSON.stringify({ role, parts: [{ content_type: 'text/plain', content: 'x' }] }));
    });
    const history = roles.map((_, index) => `${server.origin}/${index}`);
    assert.equal((await show(history)).speaker, 'Second');
    roles[2] = 'agent';
    assert.equal((await show(history)).speaker, undefined);
  });

  it('fills a gap when its server is available again', async () => {
    const first = await serve(echo);
    const port = Number(new URL(first.origin).port);
    const history = [`${first.origin}/0`, `${first.origin}/1`];
    await first.close();
    await show(history);
    assert.deepEqual(place.texts, ['gap retryable', 'gap retryable']);
    const again = { place, resolver: resolver(), now: () => NOW };
    assert.equal(await retryGap('past-1', history[1] ?? '', again, never), false);
    assert.deepEqual(place.texts, ['gap retryable', 'gap retryable']);
    await serve(echo, port);
    assert.equal(await retryGap('past-1', history[1] ?? '', again, never), true);
    assert.deepEqual(place.texts, ['gap retryable', 'user: /1']);
    assert.equal(await retryGap('past-1', history[1] ?? '', again, never), false, 'a gap that is none');
  });

  it('fills many cancelled gaps together, in their places', async () => {
    const count = 300;
    const server = await serve(echo);
    const history = Array.from({ length: count }, (_, index) => `${server.origin}/${index}`);
    const said = { code: 'history-stopped', args: [] } as const;
    place.model.apply({ type: 'gaps', prefix: 'past-', first: 0, count, text: '', said, state: 'retryable' }, NOW);
    const gaps = history.flatMap((url, index) => (index === 7 ? [] : [{ index, url }]));
    const again = { place, resolver: resolver(), now: () => NOW };
    await retryGaps([...gaps, { index: 900, url: `${server.origin}/900` }], again, never);
    assert.deepEqual(
      place.texts,
      history.map((_, index) => (index === 7 ? 'gap retryable' : `user: /${index}`)),
    );
  });

  it('adds gaps for 10,000 messages once the newest are painted, and fills them in small steps', async () => {
    const count = 10_000;
    const history = Array.from({ length: count }, (_, index) => `http://far.example/${index}`);
    const entries = history.map((url, index): ResolvedMessage => {
      const message: Message = { role: 'user', parts: [textPart(`m${index}`)] };
      return { kind: 'message', index, url, message, sha256: '', bytes: 50, source: 'network' };
    });
    const real = resolver();
    const painted = new Deferred<void>();
    const steps: number[] = [];
    const messagesIn = ({ event }: TimedEvent): number => (event.type === 'gaps_filled' ? event.fillings.length : 1);
    const watched = {
      model: place.model,
      note(events: readonly TimedEvent[]): void {
        steps.push(events.reduce((sum, event) => sum + messagesIn(event), 0));
        place.note(events);
      },
    };
    await openHistory(
      { id: 'session-123', history },
      {
        place: watched,
        now: () => NOW,
        head: [],
        onDidShow: () => painted.promise,
        resolver: {
          resolveEntry: real.resolveEntry.bind(real),
          resolvePart: real.resolvePart.bind(real),
          resolveHistory: async (_descriptor, { onEntry, newest }) => {
            for (const entry of entries.slice(-20)) onEntry?.(entry);
            assert.deepEqual([steps, place.model.state.entries.length], [[13], 13]);
            painted.resolve();
            await newest?.others;
            for (const entry of entries.slice(0, -20)) onEntry?.(entry);
            return entries;
          },
        },
      },
      never,
    );
    assert.deepEqual([place.texts[0], place.texts.at(-21), place.texts.length], ['user: m0', 'user: m9979', count]);
    assert.ok(Math.max(...steps) <= 100, `${Math.max(...steps)} messages at once`);
  });

  it('reports with one event that thousands of messages are no longer loading', () => {
    const gaps = { type: 'gaps', prefix: 'past-', first: 0, count: 5000, text: 'x', state: 'loading' } as const;
    place.note([{ at: NOW, event: gaps }]);
    place.note([{ at: NOW, event: { type: 'gap', gapId: 'past-7', text: 'gone', state: 'final' } }]);
    const events = abandonedGaps(place.model.state);
    assert.equal(events.length, 2);
    place.note(events.map((event) => ({ at: NOW, event })));
    assert.deepEqual([...new Set(place.texts)], ['gap retryable', 'gap final']);
  });

  it('requests nothing again when it is opened a second time', async () => {
    const servers = await Promise.all([1, 2, 3].map(() => serve(echo)));
    const history = Array.from({ length: 60 }, (_, index) => `${servers[index % 3]?.origin}/${index}`);
    const cache = await newCache();
    await show(history, { resolver: resolver({ cache }) });
    await cache.settled();
    const before = place.texts;
    place = new Place();
    const onDidShow = (): Promise<void> => new Promise(() => {});
    await show(history, { resolver: resolver({ cache }), aloneMs: 60_000, onDidShow });
    assert.deepEqual(place.texts, before);
    assert.deepEqual(
      servers.map(({ seen }) => seen.length),
      [20, 20, 20],
    );
  });

  it('shows where its messages come from, without signatures', () => {
    const history = ['http://a.example/1?sig=secret', 'http://a.example/2', 'https://b.example/3'];
    assert.deepEqual(originsOf(history), [
      { host: 'a.example', count: 2 },
      { host: 'b.example', count: 1 },
    ]);
    const notice = openedFrom({ id: 'session-123', history });
    assert.deepEqual(notice.said?.args, [3, 2, 'a.example', 2, 'b.example', 1]);
  });

  it('preserves thoughts, tool calls, files and the ends of turns in messages', () => {
    const model = new SessionModel();
    const text = (value: string) => ({ type: 'text', text: value }) as const;
    model.apply({ type: 'message_chunk', role: 'thought', block: text('hm') }, NOW);
    const patch = {
      title: 'Read it',
      name: 'read',
      status: 'completed',
      rawInput: { path: 'a' },
      rawOutput: { ok: 1 },
    };
    model.apply({ type: 'tool_call', toolCallId: 'c', announced: true, patch: patch as never }, NOW);
    model.apply({ type: 'message_chunk', role: 'agent', block: text('done') }, NOW);
    model.apply(
      { type: 'message_chunk', role: 'agent', block: { type: 'image', data: 'AAAA', mimeType: 'image/png' } },
      NOW,
    );
    const [message] = toMessages(model.state.entries, { agentName: 'x', stopReason: 'cancelled' });
    assert.ok(message);
    const shown = new SessionModel();
    for (const event of pastEvents(message, 'past-0')) shown.apply(event, NOW);
    assert.deepEqual(pluck(shown.state.entries, 'kind'), ['thought', 'tool', 'agent', 'notice']);
    const [, tool, , end] = shown.state.entries;
    assert.ok(tool?.kind === 'tool' && end?.kind === 'notice');
    assert.deepEqual(
      [tool.title, tool.status, tool.rawInput, tool.rawOutput],
      ['Read it', 'completed', { path: 'a' }, { ok: 1 }],
    );
    assert.equal(end.said?.code, 'turn-cancelled');
  });

  it('renders an agent’s Markdown whatever the type of its text', () => {
    const said = '**Hi** there';
    const parts = [markdownPart(said), textPart(said, 'text/markdown'), textPart(said)];
    for (const part of parts) {
      const model = new SessionModel();
      for (const event of pastEvents({ role: 'agent/x', parts: [part] }, 'past-0')) model.apply(event, NOW);
      const [entry] = model.state.entries;
      assert.ok(entry?.kind === 'agent');
      assert.deepEqual(entry.content, [{ type: 'text', text: said }]);
    }
  });

  it('runs nothing that others wrote, and opens no file that they named', () => {
    const message: Message = {
      role: 'agent',
      parts: [
        {
          content_type: 'text/markdown',
          content: '[x](command:evil) <script>alert(1)</script>',
          content_encoding: 'plain',
        },
        { content_type: 'text/html', name: '../../etc/passwd', content: '<b>', content_encoding: 'plain' },
        { content_type: 'image/png', content_url: 'http://169.254.169.254/latest', content_encoding: 'plain' },
      ],
    };
    const model = new SessionModel();
    for (const event of pastEvents(message, 'past-0')) model.apply(event, NOW);
    const blocks = model.state.entries.flatMap((entry) => (entry.kind === 'agent' ? entry.content : []));
    assert.deepEqual(
      blocks.map((block) => [block.type, 'uri' in block ? block.uri : undefined]),
      [
        ['text', undefined],
        ['resource', 'artifact:///../../etc/passwd'],
      ],
    );
    const last = model.state.entries.at(-1);
    assert.ok(last?.kind === 'gap' && last.state === 'unloaded');
    assert.deepEqual(last.said?.args, ['latest (image/png)', '169.254.169.254']);
  });
});
