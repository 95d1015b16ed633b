// Redaction of traffic, with secrets split anywhere.
import { strict as assert } from 'node:assert';
import * as fc from 'fast-check';
import { KnownSecrets } from '../../../src/base/knownSecrets';
import { redactPieces } from '../../../src/base/redact';
import { wireText } from '../../../src/conformance/report';
import { WireLog } from '../../../src/conformance/wire/wireLog';
import { cleanLine, cleanMessages } from '../../../src/traffic/cleanMessages';
import { readRecording, writeRecording } from '../../../src/traffic/recording';
import type { TrafficEntry, TrafficKind } from '../../../src/traffic/trafficLog';

const SECRET = 'correct-"horse"-battery-staple';
const known = new KnownSecrets();
known.add(SECRET);

let seq = 0;
const entry = (text: string, kind: TrafficKind = 'in', key = 's'): TrafficEntry => ({
  seq: seq++,
  at: seq,
  key,
  kind,
  text,
  length: text.length,
});
const chunk = (text: string, sessionId = 'a', more: object = {}): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    method: 'session/update',
    params: { sessionId, update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, ...more } },
  });

const cut = (text: string): fc.Arbitrary<readonly string[]> =>
  fc.uniqueArray(fc.nat({ max: text.length }), { maxLength: 12 }).map((places) => {
    const sorted = [0, ...places.sort((a, b) => a - b), text.length];
    return sorted.slice(1).map((place, index) => text.slice(sorted[index], place));
  });

const shownIn = (messages: readonly unknown[]): string =>
  messages
    .map((message) => (message as { params: { update: { content: { text: string } } } }).params.update.content.text)
    .join('');

describe('a secret in streamed text', () => {
  it('is removed wherever it is split, and nothing else is', () => {
    const text = fc.tuple(fc.string(), fc.string()).filter(([one, two]) => !/[c"]/.test(one + two));
    fc.assert(
      fc.property(
        text.chain(([before, after]) => fc.tuple(fc.constant([before, after]), cut(`${before}${SECRET}${after}`))),
        ([[before, after], pieces]) => {
          const clean = redactPieces(pieces, known);
          assert.equal(clean.length, pieces.length);
          assert.equal(clean.join(''), `${before}[redacted]${after}`);
        },
      ),
    );
  });

  it('is found between messages of other sessions and kinds', async () => {
    await fc.assert(
      fc.asyncProperty(cut(`The key is ${SECRET}. Keep it.`), async (pieces) => {
        const other = chunk('something else', 'b');
        const thought = chunk('hm', 'a', { sessionUpdate: 'agent_thought_chunk' });
        const entries = pieces.flatMap((piece) => [entry(chunk(piece)), entry(other), entry(thought)]);
        const clean = await cleanMessages(entries, { known });
        const own = clean.filter((_one, index) => index % 3 === 0).map(({ message }) => message);
        assert.equal(shownIn(own), 'The key is [redacted]. Keep it.');
        assert.equal(clean[1]?.text, other);
        const recording = writeRecording(clean, [], { agent: 'A', version: '1' });
        assert.doesNotMatch(recording, /horse|battery|staple/);
        const { messages } = await readRecording(Buffer.from(recording));
        assert.equal(messages.length, entries.length);
      }),
      { numRuns: 40 },
    );
  });

  it('is hidden while incomplete', async () => {
    const clean = await cleanMessages([entry(chunk('It is ')), entry(chunk('correct-"hor'))], { known });
    assert.equal(shownIn(clean.map(({ message }) => message)), 'It is [redacted]');
  });

  it('is found in tool output and in a streaming terminal', async () => {
    const output = (data: string): string =>
      JSON.stringify({
        method: 'session/update',
        params: {
          sessionId: 'a',
          update: {
            sessionUpdate: 'tool_call_update',
            toolCallId: 't',
            _meta: { terminal_output_delta: { terminal_id: 't', data } },
          },
        },
      });
    const [one, two] = [SECRET.slice(0, 9), SECRET.slice(9)];
    const clean = await cleanMessages([entry(output(one)), entry(chunk('x')), entry(output(two))], { known });
    assert.doesNotMatch(clean.map(({ text }) => text).join(), /horse|staple/);
    for (const { text } of clean) JSON.parse(text);
  });
});

describe('a secret in one line', () => {
  it('is removed by value, position and appearance, in every kind of line', async () => {
    const lines: readonly (readonly [string, TrafficKind])[] = [
      [JSON.stringify({ id: 1, method: 'authenticate', params: { apiKey: 'anything-at-all' } }), 'out'],
      [`using ${SECRET}`, 'stderr'],
      [`warning: token=abcdef123456 ${SECRET}`, 'noise'],
      [`POST /runs {"headers":{"Authorization":"Bearer abcdefghijklmnop"}}`, 'out'],
      [`{"id":1,"result":{"text":"sk-ant-0123456789abcdef ${JSON.stringify(SECRET).slice(1, -1)}"}}`, 'in'],
    ];
    const clean = await cleanMessages(
      lines.map(([text, kind]) => entry(text, kind)),
      { known },
    );
    const text = clean.map((one) => one.text).join('\n');
    assert.doesNotMatch(text, /anything-at-all|horse|abcdef|sk-ant/);
    assert.equal(text.match(/\[redacted\]/g)?.length, 7);
  });

  it('is removed if the line was truncated within it', () => {
    assert.equal(cleanLine(`ends with ${SECRET.slice(0, 20)}`, known), 'ends with [redacted]');
  });

  it('is removed from JSON of any depth', async () => {
    const depth = 20_000;
    const deep = `{"method":"x","params":${'['.repeat(depth)}"${SECRET.slice(0, 8)}${'"'}${']'.repeat(depth)}}`;
    const flat = `{"method":"x","params":${'['.repeat(depth)}"sk-ant-0123456789abcdef"${']'.repeat(depth)}}`;
    const clean = await cleanMessages([entry(deep), entry(flat)], { known });
    assert.doesNotMatch(clean.map(({ text }) => text).join(), /sk-ant/);
  });
});

describe('the signed-in account of an agent', () => {
  it('is in no message that leaves the extension', async () => {
    const account = { label: 'Max', email: 'ada@example.org', organization: 'Analytical' };
    const messages = [
      { method: '_auth/status_update', params: { authStatus: { kind: 'account', label: 'Max', account } } },
      { method: 'auth/status_update', params: { state: 'authenticated', accounts: [account] } },
      { id: 1, result: { state: 'authenticated', accounts: [account] } },
      { id: 2, result: { accounts: [{ label: 'Savings' }] } },
    ];
    const clean = await cleanMessages(messages.map((message) => entry(JSON.stringify(message))));
    const said = clean.map(({ text }) => text);
    assert.doesNotMatch(said.join('\n'), /Max|ada|Analytical/);
    assert.match(said[1] ?? '', /authenticated/);
    assert.match(said[3] ?? '', /Savings/);
  });

  it('is in no batch, and in no truncated, quoting or deeply nested line', async () => {
    const told = { method: '_auth/status_update', params: { authStatus: { kind: 'account', label: 'Max' } } };
    const text = JSON.stringify(told);
    const deep = `${text.slice(0, -2)},"deep":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`;
    const lines = [JSON.stringify([told, 7]), text.slice(0, -2), `received ${text}`, deep];
    const clean = await cleanMessages(lines.map((line) => entry(line)));
    assert.doesNotMatch(clean.map((one) => one.text).join('\n'), /Max/);
    assert.equal(cleanLine('{"accounts": "Savings"'), '{"accounts": "Savings"');
  });

  it('is in no report about an agent', () => {
    const log = new WireLog(1000);
    const account = { label: 'Max', email: 'ada@example.org' };
    log.traffic('in', JSON.stringify({ id: 1, result: { state: 'authenticated', accounts: [account] } }), String);
    assert.doesNotMatch(wireText(log.lines).join('\n'), /Max|ada/);
  });
});
