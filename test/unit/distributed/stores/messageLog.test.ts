// What is said becomes messages that others can read, each written once and never again, and found again whatever happened in between.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ParleyError } from '../../../../src/base/errors';
import { Guard } from '../../../../src/distributed/fetch/guard';
import { Resolver } from '../../../../src/distributed/fetch/resolver';
import {
  MAX_MESSAGE_BYTES,
  type Message,
  mintId,
  readMessage,
  textPart,
  trajectoryOf,
} from '../../../../src/distributed/model/model';
import type { ResourceStore } from '../../../../src/distributed/model/resources';
import { readRecord, type SessionRecord } from '../../../../src/distributed/model/sessionRecord';
import { stopReasonOf, toMessages } from '../../../../src/distributed/model/toMessages';
import { LocalStore } from '../../../../src/distributed/stores/localStore';
import { folderOf, MessageLog, type MessageLogOptions } from '../../../../src/distributed/stores/messageLog';
import type { ContentBlock } from '../../../../src/session/events/content';
import { SessionModel } from '../../../../src/session/model/model';
import type { Entry, MessageEntry, ToolEntry } from '../../../../src/session/model/state';
import { sameData } from '../../../support/sameData';
import { removeScratch, scratchFolder } from '../../../support/scratch';

const never = new AbortController().signal;
const text = (value: string): ContentBlock => ({ type: 'text', text: value });

let index = 0;
function said(kind: MessageEntry['kind'], ...content: ContentBlock[]): MessageEntry {
  return { kind, id: `${index}`, index, at: 1000 * index, until: 1000 * index++ + 500, content, dropped: 0 };
}
function called(more: Partial<ToolEntry> = {}): ToolEntry {
  const base = {
    kind: 'tool',
    id: `${index}`,
    index,
    at: 1000 * index++,
    toolCallId: 't',
    title: 'Read a file',
  } as const;
  return { ...base, toolKind: 'read', status: 'completed', content: [], locations: [], ...more };
}
/** `str(message)` of the protocol's Python SDK. */
const plainWords = ({ parts }: Message): string =>
  parts.map(({ content, content_type: type }) => (type === 'text/plain' ? (content ?? '') : '')).join('');
const textsOf = (message: Message | undefined) => message?.parts.map((part) => part.content ?? '');

describe('toMessages', () => {
  beforeEach(() => {
    index = 0;
  });

  it('keeps who said what, in which order and when', () => {
    const entries: Entry[] = [
      said('user', text('Hello')),
      said('thought', text('Hm.')),
      said('agent', text('**Hi**')),
      called({ name: 'read', rawInput: { path: '/a' }, rawOutput: { lines: 3 } }),
      said('agent', text('Done.')),
      said('user', text('Thanks')),
    ];
    const messages = toMessages(entries, { agentName: 'Claude Code' });
    assert.deepEqual(
      messages.map(({ role, created_at, completed_at }) => [role, created_at, completed_at]),
      [
        ['user', '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.500Z'],
        ['agent/Claude-Code', '1970-01-01T00:00:01.000Z', '1970-01-01T00:00:04.500Z'],
        ['user', '1970-01-01T00:00:05.000Z', '1970-01-01T00:00:05.500Z'],
      ],
    );
    assert.deepEqual(messages.map(textsOf), [['Hello'], ['', '**Hi**', '', 'Done.'], ['Thanks']]);
    const parts = messages[1]?.parts ?? [];
    assert.deepEqual(
      parts.map(({ content_type }) => content_type),
      ['text/plain', 'text/plain', 'text/plain', 'text/plain'],
    );
    assert.deepEqual(
      parts.map(({ parley_content_type }) => parley_content_type),
      [undefined, 'text/markdown', undefined, 'text/markdown'],
    );
    sameData(trajectoryOf(parts[0]!), { message: 'Hm.' });
    assert.deepEqual(trajectoryOf(parts[2]!), {
      message: 'Read a file',
      toolName: 'read',
      toolInput: { path: '/a' },
      toolOutput: { lines: 3 },
    });
    for (const message of messages) assert.deepEqual(readMessage(JSON.parse(JSON.stringify(message))), message);
  });

  it('gives every word of the agent to readers that join the text/plain parts', () => {
    const link = { type: 'resource_link', uri: 'https://x.example/a', name: 'a' } as const;
    const entries = [
      said('agent', text('See **this**: '), link, text(' and `that`.')),
      called(),
      said('agent', text(' Done.')),
    ];
    const [message] = toMessages(entries);
    assert.equal(message && plainWords(message), 'See **this**: a and `that`. Done.');
  });

  it('tells apart turns that were stopped, failed or ended', () => {
    for (const stopReason of ['cancelled', 'error', 'max_tokens'] as const) {
      const [message] = toMessages([said('agent', text('half'))], { stopReason });
      assert.equal(message && stopReasonOf(message), stopReason);
      assert.equal(message?.completed_at, undefined);
      assert.deepEqual(textsOf(message)?.slice(0, 1), ['half']);
    }
    const [open] = toMessages([said('agent', text('half'))], { isOpen: true });
    assert.equal(open && stopReasonOf(open), 'interrupted');
    const [whole] = toMessages([said('agent', text('all'))], { stopReason: 'end_turn' });
    assert.equal(whole && stopReasonOf(whole), undefined);
    assert.ok(whole?.completed_at);
  });

  it('keeps attachments, and writes no paths of this machine as links', () => {
    const [message] = toMessages([
      said(
        'user',
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'resource', uri: 'file:///home/me/a.txt', text: 'inside', mimeType: 'text/x-a' },
        { type: 'resource', uri: 'file:///home/me/b.bin', blob: 'BBBB' },
        { type: 'resource_link', uri: 'file:///home/me/secret.txt', name: 'secret.txt' },
        { type: 'resource_link', uri: 'https://example.com/doc', name: 'doc', title: 'The Doc' },
        { type: 'unknown', kind: 'hologram', raw: {} },
      ),
    ]);
    assert.deepEqual(
      message?.parts.map(({ name, content, content_encoding }) => [name, content, content_encoding]),
      [
        ['image-1.png', 'AAAA', 'base64'],
        ['a.txt', 'inside', 'plain'],
        ['b.bin', 'BBBB', 'base64'],
        [undefined, '[file: secret.txt]', 'plain'],
        [undefined, 'The Doc', 'plain'],
        [undefined, '[content of the kind hologram]', 'plain'],
      ],
    );
    assert.ok(!JSON.stringify(message).includes('/home/me'));
  });

  it('writes messages that every reader accepts', () => {
    const huge = 'ü🙂'.repeat(3_000_000);
    const entries = [
      said('agent', text(huge)),
      said('thought', text(huge)),
      called({ rawInput: huge, rawOutput: { huge } }),
      said('agent', { type: 'image', data: huge, mimeType: 'image/png' }),
      ...Array.from({ length: 5000 }, () => called()),
    ];
    const [message] = toMessages(entries);
    const json = JSON.stringify(message);
    assert.ok(Buffer.byteLength(json) <= MAX_MESSAGE_BYTES, `${Buffer.byteLength(json)} bytes`);
    sameData(readMessage(JSON.parse(json)), message);
    assert.match(textsOf(message)?.at(-1) ?? '', /^\[\d+ parts of this message left out/);
    assert.ok(json.isWellFormed());
  });

  it('limits messages whose text expands in JSON', () => {
    const controls = '\u0001'.repeat(2_000_000);
    const [message] = toMessages([said('agent', text(controls)), called({ rawOutput: controls })]);
    assert.ok(Buffer.byteLength(JSON.stringify(message)) <= MAX_MESSAGE_BYTES);
  });

  it('makes no message of empty content', () => {
    assert.deepEqual(toMessages([]), []);
    assert.deepEqual(toMessages([], { stopReason: 'cancelled' }), []);
  });

  it('fits what the session model keeps', () => {
    const model = new SessionModel();
    const at = 5;
    model.apply({ type: 'turn_started', turnId: '1', origin: 'user', at }, at);
    model.apply({ type: 'prompt_sent', turnId: '1', promptId: 'p', content: [text('hi')] }, at);
    model.apply({ type: 'message_chunk', role: 'agent', block: text('an') }, at);
    model.apply({ type: 'message_chunk', role: 'agent', block: text('swer') }, at);
    model.apply({ type: 'turn_ended', turnId: '1', stopReason: 'end_turn', barrier: 'response', at }, at);
    assert.deepEqual(toMessages(model.state.entries).map(textsOf), [['hi'], ['answer']]);
  });
});

describe('MessageLog', () => {
  let folder: string;
  let local: LocalStore;
  let saved: SessionRecord | undefined;

  beforeEach(async () => {
    folder = await scratchFolder();
    local = new LocalStore({ folder, secret: randomBytes(32), baseUrl: () => 'http://127.0.0.1:4000' });
    saved = undefined;
  });

  afterEach(removeScratch);

  function open(options: Partial<MessageLogOptions> = {}): Promise<MessageLog> {
    const save = async (record: SessionRecord): Promise<void> => {
      saved = readRecord(JSON.parse(JSON.stringify(record)));
    };
    const stores: readonly [ResourceStore, ...ResourceStore[]] = [local];
    return MessageLog.open(
      { sessionId: 'session-123', stores, save, ...(saved && { record: saved }), ...options },
      never,
    );
  }

  const message = (content: string): Message => ({ role: 'user', parts: [textPart(content)] });

  async function readAll(log: MessageLog, stores: readonly ResourceStore[] = [local]): Promise<readonly string[]> {
    const guard = new Guard({ isAllowed: () => false });
    const entries = await new Resolver({ guard, stores }).resolveHistory(await log.descriptor(), {}, never);
    guard.dispose();
    return entries.map((entry) => (entry.kind === 'gap' ? entry.reason : (entry.message.parts[0]?.content ?? '')));
  }

  it('keeps messages that come quickly, in order, also when the window ends', async () => {
    const log = await open();
    await Promise.all(['a', 'b', 'c', 'd'].map((content) => log.append(message(content), never)));
    assert.deepEqual(await readAll(log), ['a', 'b', 'c', 'd']);
    const again = await open();
    await again.append(message('e'), never);
    assert.deepEqual(await readAll(again), ['a', 'b', 'c', 'd', 'e']);
    const names = await readdir(join(folder, 'sessions/session-123'));
    assert.deepEqual(
      names.sort().map((name) => name.slice(0, 9)),
      ['00000000-', '00000001-', '00000002-', '00000003-', '00000004-'],
    );
  });

  it('keeps a message when the machine fails between writing it and noting it', async () => {
    const log = await open();
    await log.append(message('a'), never);
    const broken = await open({ save: () => Promise.reject(new ParleyError('killed', 'the machine failed')) });
    await assert.rejects(broken.append(message('b'), never), { code: 'killed' });
    // Half a file, as a crash leaves it where the disk does not keep its word.
    const [first = ''] = await readdir(join(folder, 'sessions/session-123'));
    const torn = join(
      folder,
      'sessions/session-123',
      first.replace(/^.{8}/, '00000002').replace(/.{12}\.json/, '000000000000.json'),
    );
    await writeFile(torn, (await readFile(join(folder, 'sessions/session-123', first))).subarray(0, 50));
    assert.deepEqual(await readAll(await open()), ['a', 'b']);
  });

  it('keeps what each of two windows wrote', async () => {
    const [one, two] = await Promise.all([open(), open()]);
    await one.append(message('one'), never);
    await two.append(message('two'), never);
    await one.append(message('three'), never);
    assert.deepEqual([...(await readAll(await open()))].sort(), ['one', 'three', 'two']);
  });

  it('leaves the messages of others as they are, in order', async () => {
    const log = await open();
    await log.append(message('mine'), never);
    const { history } = await log.descriptor();
    const foreign = ['http://resource-server-b/1?X-Amz-Signature=a', 'http://resource-server-a/2'];
    const state = 'http://resource-server-b/state?x=1';
    await log.adopt({ id: 'session-123', history: [...history, ...foreign], state });
    await log.append(message('mine too'), never);
    const after = await (await open()).descriptor();
    assert.deepEqual([after.history.slice(1, 3), after.state], [foreign, state]);
    assert.deepEqual(
      saved?.entries.map(({ kind }) => kind),
      ['own', 'foreign', 'foreign', 'own'],
    );
    await assert.rejects(log.adopt({ id: 'other', history: [] }), { code: 'other-session' });
  });

  it('leaves out the messages of a branch that the user has left', async () => {
    const log = await open();
    for (const content of ['a', 'b', 'c']) await log.append(message(content), never);
    const { history } = await log.descriptor();
    await log.adopt({ id: 'session-123', history: [history[0] ?? '', 'http://127.0.0.1:9/1'] });
    const again = await open();
    assert.deepEqual(await readAll(again), ['a', 'blocked']);
    await again.adopt({ id: 'session-123', history });
    assert.deepEqual(await readAll(await open()), ['a', 'b', 'c']);
  });

  it('signs no messages of another session', async () => {
    const other = await MessageLog.open(
      { sessionId: 'session-of-others', stores: [local], save: async () => {} },
      never,
    );
    await other.append(message('private'), never);
    const log = await open();
    await log.adopt({ id: 'session-123', history: (await other.descriptor({ expiresIn: 60 })).history });
    assert.deepEqual(
      log.record.entries.map(({ kind }) => kind),
      ['foreign'],
    );
  });

  it('does not trust others about what is ours', async () => {
    const log = await open();
    await log.append(message('mine'), never);
    const [url = ''] = (await log.descriptor()).history;
    const forged = url.replace(/sig=.{5}/, 'sig=AAAAA');
    await log.adopt({ id: 'session-123', history: [url, forged] });
    assert.deepEqual(
      log.record.entries.map(({ kind }) => kind),
      ['own', 'foreign'],
    );
  });

  it('moves to another server with its messages', async () => {
    const log = await open();
    await log.append(message('a'), never);
    await log.adopt({ id: 'session-123', history: [...(await log.descriptor()).history, 'http://127.0.0.1:9/1'] });
    await log.append(message('b'), never);
    const stateKey = `${folderOf('session-123')}state-${mintId()}.bin`;
    const { sha256 } = await local.put(stateKey, Buffer.from([7]), 'application/octet-stream', never);
    const state0 = await local.urlFor(stateKey, { expiresIn: 60, sha256 });
    await log.adopt({ ...(await log.descriptor()), state: state0 });
    const oldLinks = (await log.descriptor()).history;
    const secret = randomBytes(32);
    const target = new LocalStore({ folder: await scratchFolder(), secret, baseUrl: () => 'https://s3.example' });
    const bucket: ResourceStore = Object.assign(Object.create(target) as LocalStore, {
      id: 's3:test',
      put: target.put.bind(target),
      get: target.get.bind(target),
      urlFor: target.urlFor.bind(target),
      keyOf: target.keyOf.bind(target),
      list: undefined,
    });
    const moving = await open({ stores: [bucket, local] });
    assert.deepEqual(await moving.moveAll(never), { moved: 3, unreadable: [] });
    assert.deepEqual(await moving.moveAll(never), { moved: 0, unreadable: [] });
    const { history, state } = await moving.descriptor();
    assert.deepEqual(
      [...history, state ?? ''].map((url) => new URL(url).origin),
      ['https://s3.example', 'http://127.0.0.1:9', 'https://s3.example', 'https://s3.example'],
    );
    assert.equal(history[1], 'http://127.0.0.1:9/1');
    // What was given away before still leads to the message.
    assert.ok((await local.keyOf(oldLinks[0] ?? '')) !== undefined);
    assert.deepEqual(
      (await readAll(moving, [bucket])).filter((_, at) => at !== 1),
      ['a', 'b'],
    );
    await assert.rejects((await open({ stores: [local] })).descriptor(), { code: 'store-missing' });
  });

  it('writes each session into its own folder', () => {
    const ids = ['session-123', 'SESSION-123', 'a:b', 'con', 'x', 'a.b', '3f3487fd-0db3-42bd-8d03-a01add7f517a'];
    const folders = ids.map(folderOf);
    assert.equal(new Set(folders.map((one) => one.toLowerCase())).size, ids.length);
    for (const one of folders) assert.match(one, /^sessions\/[a-z0-9][a-z0-9-]{7,63}\/$/);
  });

  it('refuses a damaged record', () => {
    for (const record of [null, {}, { id: 'x', entries: [{ kind: 'own' }] }, { id: '../x', entries: [] }]) {
      assert.throws(() => readRecord(record), { code: 'invalid-data' });
    }
  });
});
