// Updates of a v2 agent: patches with null and omitted fields, diffs, terminal chunks, states, and
// version negotiation.
import { strict as assert } from 'node:assert';
import { type Initialized, initialize } from '../../../../src/acp/initialize';
import { RpcError } from '../../../../src/acp/jsonrpc/rpcError';
import { readDiff } from '../../../../src/acp/protocol/gitPatch';
import { ParleyError } from '../../../../src/base/errors';
import { silentLog } from '../../../../src/base/log';
import type { SessionEvent } from '../../../../src/session/events/event';
import type { SessionModel } from '../../../../src/session/model/model';
import { readerOf, readInto } from '../../../support/protocol/onlyReads';
import { sameData } from '../../../support/sameData';
import { play } from '../../../support/sessionEvents';

function read(...updates: object[]): { events: SessionEvent[]; problems: string[] } {
  const events: SessionEvent[] = [];
  const problems: string[] = [];
  const log = { ...silentLog, warn: (line: string) => problems.push(line) };
  readerOf(2).readUpdates(
    updates,
    readInto((event) => events.push(event), { log }),
  );
  return { events, problems };
}

const shown = (...updates: object[]): SessionModel => play(...read(...updates).events);

const block = (text: string): object => ({ type: 'text', text });

describe('v2 updates', () => {
  it('keep, clear or replace fields of a tool call', () => {
    const tool = (more: object): object => ({ sessionUpdate: 'tool_call_update', toolCallId: 'c', ...more });
    const [entry] = shown(
      tool({ title: 'Read', name: 'Read', status: 'in_progress', rawInput: { a: 1 }, locations: [{ path: '/a' }] }),
      tool({ title: null, rawInput: null, locations: null, capabilities: { cancel: {} } }),
    ).state.entries;
    assert.ok(entry?.kind === 'tool');
    assert.deepEqual(
      [entry.title, entry.name, entry.status, entry.rawInput, entry.locations, entry.canCancel],
      ['', 'Read', 'in_progress', undefined, [], true],
    );
  });

  it('append to the content of a tool call, even if the call was not announced', () => {
    const chunk = (content: object): object => ({ sessionUpdate: 'tool_call_content_chunk', toolCallId: 'c', content });
    const [entry] = shown(
      chunk({ type: 'content', content: block('a') }),
      chunk({ type: 'content', content: block('b') }),
      chunk({ type: 'terminal', terminalId: 'x' }),
      chunk({ type: 'session', sessionId: 'child' }),
    ).state.entries;
    assert.deepEqual(entry?.kind === 'tool' && entry.content, [
      { type: 'content', block: { type: 'text', text: 'ab' } },
      { type: 'terminal', terminalId: 'x' },
    ]);
  });

  it('replace, clear and continue messages, with separate ids per role', () => {
    const { entries } = shown(
      { sessionUpdate: 'agent_message_chunk', messageId: '1', content: block('Hel') },
      { sessionUpdate: 'agent_thought_chunk', messageId: '1', content: block('Hm') },
      { sessionUpdate: 'agent_message_chunk', messageId: '1', content: block('lo') },
      { sessionUpdate: 'agent_thought', messageId: '1', content: null },
      { sessionUpdate: 'agent_message', messageId: '1', content: [block('Good '), block('day')] },
      { sessionUpdate: 'agent_message', messageId: '1' },
      { sessionUpdate: 'agent_message_chunk', messageId: '1', content: block('!') },
    ).state;
    assert.deepEqual(
      entries.map((entry) => (entry.kind === 'agent' || entry.kind === 'thought' ? [entry.kind, entry.content] : [])),
      [
        ['agent', [{ type: 'text', text: 'Good day!' }]],
        ['thought', []],
      ],
    );
  });

  it('deliver terminal output, even if chunks split characters', () => {
    const bytes = Buffer.from('é🚀');
    const data = (from: number, to?: number): string => bytes.subarray(from, to).toString('base64');
    const model = shown(
      { sessionUpdate: 'terminal_update', terminalId: 'x', command: 'ls', output: { data: data(0, 1) } },
      { sessionUpdate: 'terminal_output_chunk', terminalId: 'x', data: data(1, 4) },
      { sessionUpdate: 'terminal_output_chunk', terminalId: 'y', data: Buffer.from('other').toString('base64') },
      { sessionUpdate: 'terminal_output_chunk', terminalId: 'x', data: data(4) },
      { sessionUpdate: 'terminal_update', terminalId: 'x', exitStatus: { exitCode: 3, signal: null } },
    );
    assert.equal(model.state.terminals.get('x')?.output, 'é🚀');
    sameData(model.state.terminals.get('x')?.exit, { exitCode: 3 });
    assert.equal(model.state.terminals.get('y')?.output, 'other');
    const cleared = shown(
      { sessionUpdate: 'terminal_output_chunk', terminalId: 'x', data: data(0) },
      { sessionUpdate: 'terminal_update', terminalId: 'x', output: null, exitStatus: { exitCode: 0 } },
      { sessionUpdate: 'terminal_update', terminalId: 'x', exitStatus: null },
    ).state.terminals.get('x');
    assert.deepEqual([cleared?.output, cleared?.exit], ['', undefined]);
  });

  it('are preserved raw if unknown or invalid', () => {
    const odd = [
      { sessionUpdate: 'hologram', depth: 3 },
      { sessionUpdate: 'state_update' },
      { sessionUpdate: 'user_message', content: [] },
      { sessionUpdate: 'terminal_output_chunk', terminalId: 7 },
      { sessionUpdate: 'tool_call_content_chunk' },
    ];
    const { events, problems } = read(...odd);
    assert.deepEqual(
      events.map((event) => event.type === 'unknown_update' && event.raw),
      odd,
    );
    assert.equal(problems.length, odd.length);
  });
});

describe('v2 diffs', () => {
  const patchOf = (text: string): object => ({ format: 'git_patch', text });

  it('show the hunks of each file', () => {
    const text = [
      'diff --git /w/a.txt /w/a.txt',
      'new file mode 100644',
      '--- /dev/null',
      '+++ /w/a.txt',
      '@@ -0,0 +1,2 @@',
      '+one',
      '+two',
      'diff --git a/w/b.txt b/w/b.txt',
      '--- a/w/b.txt',
      '+++ b/w/b.txt',
      '@@ -9,2 +9,2 @@',
      ' same',
      '-old',
      '\\ No newline at end of file',
      '+new',
      '',
    ].join('\n');
    const changes = [
      { operation: 'add', path: '/w/a.txt' },
      { operation: 'modify', path: '/w/b.txt' },
    ];
    sameData(readDiff({ changes, patch: patchOf(text) }), [
      {
        type: 'diff',
        path: '/w/a.txt',
        newText: 'one\ntwo\n',
        hunks: [{ oldStart: 1, newStart: 1, lines: ['+one', '+two'] }],
        operation: 'add',
      },
      {
        type: 'diff',
        path: '/w/b.txt',
        oldText: 'same\nold\n',
        newText: 'same\nnew\n',
        hunks: [{ oldStart: 9, newStart: 9, lines: [' same', '-old', '+new'] }],
        operation: 'modify',
      },
    ]);
  });

  it('list moved and deleted files, and those that only the patch contains', () => {
    const text = 'diff --git a/w/x b/w/x\n--- a/w/x\n+++ b/w/x\n@@ -1 +1 @@\n-a\n+b\n';
    const changes = [
      { operation: 'move', oldPath: '/w/old', path: '/w/new' },
      { operation: 'delete', path: '/w/gone' },
    ];
    assert.deepEqual(
      readDiff({ changes, patch: patchOf(text) }).map((part) =>
        part.type === 'diff' ? [part.operation, part.oldPath, part.path, part.hunks?.length] : [],
      ),
      [
        ['move', '/w/old', '/w/new', 0],
        ['delete', undefined, '/w/gone', 0],
        ['modify', undefined, 'b/w/x', 1],
      ],
    );
  });

  for (const [name, patch] of Object.entries({
    'does not parse': patchOf('@@ -1,9 +1,2 @@\n a\n'),
    'is no patch': patchOf('hello'),
    'has another format': { format: 'smoke_signals', text: 'hello' },
  })) {
    it(`show a patch that ${name} as text`, () => {
      const parts = readDiff({ changes: [{ operation: 'modify', path: '/w/a' }], patch });
      assert.deepEqual(
        parts.map(({ type }) => type),
        ['diff', 'content'],
      );
    });
  }
});

describe('initialize', () => {
  const client = { name: 'parley', title: 'Parley', version: '0' };
  const asked: unknown[] = [];

  async function offered(
    offer: 1 | 2,
    answer: unknown,
    capabilities = { files: true, terminals: true },
  ): Promise<Initialized> {
    const request = async (_method: string, params: unknown): Promise<unknown> => {
      asked.push(params);
      if (answer instanceof Error) throw answer;
      return answer;
    };
    return initialize(
      { request, notify: async () => {} },
      { client, capabilities, offer },
      new AbortController().signal,
    );
  }

  const kind = ({ kind, ...rest }: Initialized): unknown =>
    kind === 'again' ? rest : (rest as { dialect: { protocol: number } }).dialect.protocol;
  const unsupported = (supported: unknown): RpcError =>
    new RpcError(-32022, 'Unsupported', { requested: 2, supported });

  it('offers 2 with the params of both versions', async () => {
    asked.length = 0;
    await offered(2, { protocolVersion: 2, info: { name: 'a', version: '1' }, capabilities: { session: {} } });
    assert.deepEqual(Object.keys(asked[0] as object).sort(), [
      'capabilities',
      'clientCapabilities',
      'clientInfo',
      'info',
      'protocolVersion',
    ]);
  });

  it('continues in the answered version if no data is lost', async () => {
    assert.equal(kind(await offered(2, { protocolVersion: 2 })), 2);
    assert.equal(kind(await offered(1, { protocolVersion: 1 })), 1);
    assert.equal(kind(await offered(2, { protocolVersion: 1 }, { files: false, terminals: false })), 1);
  });

  it('requires a restart if the agent may have lost our capabilities, or speaks only the other version', async () => {
    assert.deepEqual(kind(await offered(2, { protocolVersion: 1 })), { offer: 1 });
    assert.deepEqual(kind(await offered(1, { protocolVersion: 2 })), { offer: 2 });
    assert.deepEqual(kind(await offered(2, unsupported([1]))), { offer: 1 });
    assert.deepEqual(kind(await offered(1, unsupported([3, 2]))), { offer: 2 });
    assert.deepEqual(kind(await offered(2, new RpcError(-32602, 'invalid initialize params'))), { offer: 1 });
  });

  it('offers version 1 to an agent that echoes version 2 but answers like version 1', async () => {
    assert.deepEqual(kind(await offered(2, { protocolVersion: 2, agentCapabilities: {} })), { offer: 1 });
    assert.equal(kind(await offered(2, { protocolVersion: 2, agentCapabilities: {}, capabilities: {} })), 2);
  });

  for (const answer of [{ protocolVersion: 7 }, unsupported([7]), unsupported('none')]) {
    it(`reports that there is no common version: ${answer instanceof Error ? JSON.stringify(answer.data) : 7}`, async () => {
      await assert.rejects(
        offered(2, answer),
        (error) => error instanceof ParleyError && error.code === 'protocol-version',
      );
    });
  }
});
