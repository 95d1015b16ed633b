// Sessions as files: what real agents said is read back unchanged from JSON, and pages and files
// from unknown sources do no harm.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { knownSecrets } from '../../../../src/base/redact';
import { exportSession, sessionHtml } from '../../../../src/client/export/exportSession';
import { readSessionFile } from '../../../../src/client/export/sessionFile';
import type { SessionHead, SessionItem } from '../../../../src/client/export/sessionItems';
import { SessionPage } from '../../../../src/client/export/sessionPage';
import { ItemWriter } from '../../../../src/client/export/toItems';
import type { SessionEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { inNestedOrder } from '../../../../src/session/model/state';
import { readRecording, recordingNames, replayOverWire } from '../../../support/protocol/recordings';
import { sameData } from '../../../support/sameData';

const never = new AbortController().signal;
const NOW = Date.UTC(2026, 10, 23);
const HEAD: SessionHead = {
  format: 'parley-session',
  version: 1,
  title: 'A <b>title</b>',
  agent: { id: 'a', name: 'Ann' },
};

const json = (model: SessionModel, head = HEAD): Promise<Uint8Array> =>
  exportSession({ state: model.state, head }, 'json', { language: 'en' }, never);
const html = async (model: SessionModel): Promise<string> =>
  Buffer.from(await exportSession({ state: model.state, head: HEAD }, 'html', { language: 'en' }, never)).toString();

async function imported(bytes: Uint8Array): Promise<SessionModel> {
  const { events, skipped } = await readSessionFile(bytes, NOW, never);
  assert.equal(skipped, 0);
  const model = new SessionModel();
  for (const { at, event } of events) model.apply(event, at);
  return model;
}

function itemsOf({ state }: SessionModel): readonly SessionItem[] {
  const writer = new ItemWriter(state);
  const placed = inNestedOrder(state.entries, state.nests);
  return [...placed.flatMap((one) => writer.write(one)), ...writer.end()];
}

function modelOf(...events: readonly SessionEvent[]): SessionModel {
  const model = new SessionModel();
  for (const event of events) model.apply(event, NOW);
  return model;
}

let ids = 0;
const said = (text: string, role: 'agent' | 'user' = 'agent'): SessionEvent => ({
  type: 'message',
  role,
  messageId: `m${++ids}`,
  content: [{ type: 'text', text }],
});

describe('a session as JSON', function () {
  this.timeout(30_000);

  for (const name of recordingNames()) {
    it(`is read back unchanged: ${name}`, async () => {
      for (const [, model] of (await replayOverWire(readRecording(name))).models) {
        const bytes = await json(model);
        assert.doesNotThrow(() => JSON.parse(Buffer.from(bytes).toString()), 'any program can read it');
        const again = await imported(bytes);
        sameData(comparable(itemsOf(again)), comparable(itemsOf(model)));
        assert.deepEqual(await json(await imported(await json(again))), await json(again), 'also a second time');
      }
    });
  }

  it('preserves what subagents did, nested in their calls', async () => {
    const call = (toolCallId: string, parent?: string): SessionEvent => ({
      type: 'tool_call',
      toolCallId,
      announced: true,
      patch: { title: toolCallId, status: 'completed', ...(parent !== undefined && { parent }) },
    });
    const model = modelOf(
      call('A'),
      call('B'),
      call('a', 'A'),
      call('b', 'B'),
      { type: 'message_chunk', role: 'agent', block: { type: 'text', text: 'Found.' }, parent: 'A' },
      call('deep', 'a'),
      call('own'),
    );
    const shape = ({ state }: SessionModel): string[] =>
      inNestedOrder(state.entries, state.nests).map(
        ({ entry, depth }) => `${depth} ${entry.kind === 'tool' ? entry.title : entry.kind}`,
      );
    const wanted = ['0 A', '1 a', '2 deep', '1 agent', '0 B', '1 b', '0 own'];
    assert.deepEqual(shape(model), wanted);
    assert.deepEqual(shape(await imported(await json(model))), wanted);
    const page = await html(model);
    assert.match(
      page,
      /<details class="nested">[\s\S]*>a<[\s\S]*<details class="nested">[\s\S]*>deep<[\s\S]*<\/details>[\s\S]*Found\.[\s\S]*<\/details>\s*<details><summary><strong>B</,
    );
    assert.equal(page.match(/<details/g)?.length, page.match(/<\/details>/g)?.length);
    const rich = await sessionHtml(model.state, 'X');
    assert.equal(rich.match(/<details/g)?.length, rich.match(/<\/details>/g)?.length);
  });

  it('preserves who began a turn and how its end was detected', async () => {
    const turn = (turnId: string, origin: 'user' | 'agent', ...inside: readonly SessionEvent[]): SessionEvent[] => [
      { type: 'turn_started', turnId, origin, at: 1 },
      ...inside,
      said('Done.'),
    ];
    const model = modelOf(
      ...turn('t1', 'user', {
        type: 'prompt_sent',
        turnId: 't1',
        promptId: 'p',
        content: [{ type: 'text', text: 'Go.' }],
      }),
      { type: 'turn_ended', turnId: 't1', stopReason: 'end_turn', barrier: 'turn_complete', at: 2 },
      ...turn('t2', 'agent'),
      { type: 'turn_ended', turnId: 't2', stopReason: 'end_turn', barrier: 'state', at: 3 },
      ...turn('t3', 'agent', said('From elsewhere.', 'user')),
      { type: 'turn_ended', turnId: 't3', stopReason: 'error', barrier: 'exit', interrupted: true, at: 4 },
    );
    const ends = itemsOf(model).filter(({ type }) => type.startsWith('turn'));
    sameData(ends, [
      { type: 'turn', at: 1, by: 'user' },
      { type: 'turn_end', at: 2, reason: 'end_turn', barrier: 'turn_complete' },
      { type: 'turn', at: 1, by: 'agent' },
      { type: 'turn_end', at: 3, reason: 'end_turn', barrier: 'state' },
      { type: 'turn', at: 1, by: 'user', elsewhere: true },
      { type: 'turn_end', at: 4, reason: 'error', barrier: 'exit', interrupted: true },
    ]);
    assert.deepEqual(itemsOf(await imported(await json(model))), itemsOf(model));
    assert.deepEqual((await html(model)).match(/(?<=<p class="dim">)Turn.*(?=<)/g), [
      'Turn 1 ended · agent sent turn_complete',
      'Turn 2 ended · started by agent · agent became idle',
      'Turn 3 interrupted · started by another client · agent ended',
    ]);
  });

  it('is read even if another program has formatted it', async () => {
    const bytes = await json(modelOf(said('one'), said('two!')));
    const formatted = Buffer.from(JSON.stringify(JSON.parse(Buffer.from(bytes).toString()), undefined, 2));
    assert.deepEqual(itemsOf(await imported(formatted)), itemsOf(await imported(bytes)));
  });

  it('contains no secrets, even in the input of tools', async () => {
    knownSecrets.add('hunter2hunter2');
    const call: SessionEvent = {
      type: 'tool_call',
      toolCallId: 't',
      announced: true,
      patch: {
        title: 'run',
        status: 'completed',
        rawInput: { env: { API_TOKEN: 'abcdefgh12345' }, line: 'hunter2hunter2' },
      },
    };
    const text = Buffer.from(await json(modelOf(said('It is hunter2hunter2.'), call))).toString();
    assert.doesNotMatch(text, /hunter2|abcdefgh12345/);
    assert.match(text, /It is \[redacted\]\./);
  });

  it('can be cancelled while it is written or read', async () => {
    const stopped = AbortSignal.abort();
    const model = modelOf(said('one'));
    const options = { language: 'en' };
    await assert.rejects(exportSession({ state: model.state, head: HEAD }, 'json', options, stopped), {
      name: 'AbortError',
    });
    await assert.rejects(readSessionFile(await json(model), NOW, stopped), { name: 'AbortError' });
  });

  it('keeps the window responsive while 20,000 entries are written and read', async () => {
    const model = modelOf(...Array.from({ length: 20_000 }, (_, index) => said(`${'x'.repeat(index % 90)} ${index}`)));
    let turns = 0;
    const beat = setInterval(() => turns++, 0);
    const { events } = await readSessionFile(await json(model), NOW, never);
    clearInterval(beat);
    assert.ok(events.length > 0);
    assert.ok(turns > 3, `${turns} turns of the loop`);
  });
});

describe('a file from an unknown source', () => {
  const read = (text: string) => readSessionFile(Buffer.from(text), NOW, never);
  const file = (...lines: readonly string[]): string =>
    `{"format":"parley-session","version":1,"entries":[\n${lines.join(',\n')}\n]}\n`;

  it('is rejected if it is not a session or from a newer version', async () => {
    for (const text of ['', '{}', '[]', 'null', '{"format":"parley-session"}', '\u0000', '{"entries":[\n']) {
      await assert.rejects(read(text), { code: 'not-a-session' });
    }
    await assert.rejects(read('{"format":"parley-session","version":2,"entries":[\n]}'), { code: 'session-version' });
  });

  it('is read without invalid entries, which are counted', async () => {
    const { events, skipped } = await read(
      file(
        '{"type":"agent","at":1,"content":[]}',
        '{"type":"agent"}',
        'nonsense',
        '{"type":"agent","at":1e99,"content":[]}',
      ),
    );
    assert.equal(skipped, 3);
    assert.equal(events.length, 1);
  });

  it('adds no button, permission, running call or future time', async () => {
    const lines = [
      '{"type":"turn","at":9e12,"by":"user"}',
      '{"type":"tool","at":9e12,"title":"x","kind":"execute","status":"in_progress","content":[],"locations":[],"decision":{"outcome":"allow_always","by":"user"}}',
      '{"type":"notice","at":1,"severity":"info","title":"x","text":"y","own":true,"action":{"id":"trust"}}',
    ];
    const { events } = await read(file(...lines));
    const model = new SessionModel();
    for (const { at, event } of events) model.apply(event, at);
    assert.ok(events.every(({ at }) => at <= NOW));
    assert.equal(model.state.turn, undefined);
    const [tool, notice] = [...model.state.entries].filter(({ kind }) => kind === 'tool' || kind === 'notice');
    assert.ok(tool?.kind === 'tool' && tool.status === 'cancelled' && tool.decision === undefined);
    assert.ok(notice?.kind === 'notice' && notice.action === undefined && notice.said === undefined);
  });

  it('never breaks the reader, whatever it contains', async () => {
    const word = fc.oneof(fc.constantFrom('tool', 'user', 'plan', 'turn', 'turn_end', 'notice', 'error'), fc.string());
    const value = fc.record({ type: word, at: fc.double(), content: fc.jsonValue(), status: fc.jsonValue() });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(value, fc.jsonValue())), async (entries) => {
        const { events } = await read(file(...entries.map((entry) => JSON.stringify(entry))));
        const model = new SessionModel();
        for (const { at, event } of events) model.apply(event, at);
      }),
    );
  });
});

describe('a session as a page', () => {
  const ELEMENT =
    /^<(?:!DOCTYPE html|\/?(?:html|head|body|title|style|h[1-6]|p|div|section|strong|em|del|b|i|ins|kbd|mark|s|small|sub|sup|u|code|pre|blockquote|ul|ol|li|hr|br|table|thead|tbody|tr|td|th|details|summary|meta|span|a|img|audio))(?: (?:lang|charset|http-equiv|content|name|class|dir|start|title|href|rel|src|alt|open|controls)(?:="[^"<>]*")?)*>$/;

  const check = (page: string): void => {
    for (const [tag] of page.matchAll(/<[^>]*>?/g)) assert.match(tag, ELEMENT);
    for (const [, href] of page.matchAll(/ href="([^"]*)"/g)) assert.match(href ?? '', /^(https?:\/\/|mailto:)/i);
    for (const [, src] of page.matchAll(/ src="([^"]*)"/g))
      assert.match(src ?? '', /^data:(image|audio)\/[\w.+-]+;base64,/);
  };

  it('is self-contained, loads nothing and runs nothing', async () => {
    const page = await html(
      modelOf(
        said('Hello', 'user'),
        said(
          '# Head\n\n> [!TIP]\n> *a* `b`\n\n- [x] done\n\n| a | b |\n|--|--|\n| 1 | 2 |\n\n[web](https://x.y) [js](javascript:alert(1)) [file](src/a.ts)\n\n![p](http://x/p.png)',
        ),
      ),
    );
    check(page);
    assert.match(page, /default-src 'none'; style-src 'sha256-[\w+/=]+'/);
    assert.match(page, /<h1 dir="auto">A &lt;b&gt;title&lt;\/b&gt;<\/h1>/);
    assert.match(page, /<h2>You<\/h2><div class="user"><p dir="auto">Hello<\/p>/);
    assert.match(page, /<a href="https:\/\/x\.y" title="https:\/\/x\.y" rel="noopener noreferrer">web<\/a>/);
    assert.match(page, /<span title="javascript:alert\(1\)">js<\/span>/);
    assert.match(page, /☑ <p dir="auto">done<\/p>/);
  });

  it('stays self-contained whatever agents said', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '<script>',
        '</style>',
        '<img src=x onerror=a>',
        '"onload=',
        '](javascript:',
        '<details>',
        '</details>',
        '`',
        '```',
        '<!--',
        '&lt;',
        '<b>',
        '</p>',
        '\u202e',
        '<kbd>',
        '\n',
        '> ',
        '- ',
        '|',
      ),
      fc.string(),
    );
    const text = fc.array(piece).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, text, (one, other) => {
        const page = new SessionPage(one);
        const all: readonly SessionItem[] = [
          {
            type: 'agent',
            at: 1,
            content: [
              { type: 'text', text: one },
              { type: 'image', data: other, mimeType: one },
            ],
          },
          { type: 'agent', at: 1, content: [{ type: 'resource_link', uri: one, name: other }] },
          {
            type: 'tool',
            at: 1,
            title: one,
            kind: other,
            status: 'failed',
            locations: [{ path: one }],
            input: one,
            content: [
              { type: 'diff', path: one, oldText: other, newText: one },
              { type: 'terminal', output: one, command: other },
            ],
          },
          { type: 'notice', at: 1, severity: 'info', title: one, text: other },
          { type: 'error', at: 1, code: 'x', text: one, hint: other, stderr: one },
          { type: 'plan', at: 1, steps: [{ content: one, status: other }], markdown: other },
        ];
        const page1 = page.begin({ ...HEAD, title: one }) + all.map((item) => page.entry(item)).join('') + page.end();
        check(page1.replace(/<style>[^<]*<\/style>/, ''));
        const count = (pattern: RegExp): number => page1.match(pattern)?.length ?? 0;
        for (const name of ['div', 'details', 'p', 'pre', 'code', 'blockquote'])
          assert.equal(count(new RegExp(`<${name}[ >]`, 'g')), count(new RegExp(`</${name}>`, 'g')), name);
      }),
    );
  });
});

function comparable(items: readonly SessionItem[]): readonly unknown[] {
  return items.map((item) => {
    if (item.type !== 'tool') return item;
    const { decision: _decision, endedAt: _ended, status, ...rest } = item;
    return {
      ...rest,
      status: status === 'pending' || status === 'in_progress' || status === 'paused' ? 'cancelled' : status,
    };
  });
}
