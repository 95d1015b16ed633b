// What the panel gets of a tool call: both ends of a long text, and lines numbered as in the file.

import { strict as assert } from 'node:assert';
import type { FileChange } from '../../../../src/client/requests/fragmentLines';
import { fullOutput } from '../../../../src/client/view/fullOutput';
import { type ProjectionContext, projectItem } from '../../../../src/client/view/projectItem';
import type { ItemView } from '../../../../src/panel/contract';
import type { ToolContent } from '../../../../src/session/events/content';
import type { SessionEvent, StopReason, ToolPatch } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { call, play } from '../../../support/sessionEvents';

describe('a tool call in the panel', () => {
  function project(
    content: readonly ToolContent[],
    lines: readonly number[] = [],
    locate?: ProjectionContext['locate'],
  ): ItemView & { kind: 'tool' } {
    const model = new SessionModel();
    const locations = lines.map((line) => ({ path: '/w/a.ts', line }));
    model.apply({ type: 'tool_call', toolCallId: 'a', announced: true, patch: { content, locations } }, 1);
    const context = {
      ...{ state: model.state, turn: () => undefined, roots: ['/w'], isOpenable: () => false },
      ...(locate && { locate }),
    };
    const item = projectItem(model.state.entries[0]!, context);
    assert.ok(item.kind === 'tool');
    return item;
  }

  const diff = (oldText: string, newText: string): ToolContent => ({ type: 'diff', path: '/w/a.ts', oldText, newText });
  const starts = (item: ItemView & { kind: 'tool' }): unknown[] =>
    item.content.map((part) => part.type === 'diff' && part.diff.hunks.map(({ oldStart }) => oldStart));

  it('keeps the beginning and the end of a long text, cut between lines, and states what is omitted', () => {
    const text = Array.from({ length: 10_000 }, (_, line) => `line ${line}`).join('\n');
    const [part] = project([{ type: 'content', block: { type: 'text', text } }]).content;
    assert.ok(part?.type === 'content' && part.block.type === 'text');
    const shown = part.block.text;
    assert.ok(shown.length < 51_000);
    const [begin = '', end = ''] = shown.split(/^… [\d,]+ lines not shown …\n/m);
    assert.ok(text.startsWith(begin) && begin.endsWith('\n') && begin.length > 9_900);
    assert.ok(text.endsWith(end) && end.startsWith('line ') && end.length > 39_900);
    const left = Number(/^… ([\d,]+)/m.exec(shown)?.[1]?.replace(',', ''));
    assert.equal(begin.split('\n').length - 1 + left + end.split('\n').length, 10_000);
    const [one] = project([{ type: 'content', block: { type: 'text', text: 'x'.repeat(60_000) } }]).content;
    assert.ok(one?.type === 'content' && one.block.type === 'text');
    assert.match(one.block.text, /^… 10,000 characters not shown …$/m);
  });

  it('shows whole lines of the file even if the agent sent a part of one', () => {
    const whole = diff('class Deferred<T> {', 'class Later<T> {') as FileChange;
    const [part] = project([diff('Deferred', 'Later')], [], () => ({ line: 7, whole })).content;
    assert.ok(part?.type === 'diff');
    const lines = ['-class Deferred<T> {', '+class Later<T> {'];
    assert.deepEqual(part.diff.hunks, [{ oldStart: 7, newStart: 7, lines }]);
  });

  it('counts as allowed with the user’s edits, although the agent was asked not to make the change', () => {
    const options = [{ optionId: 'no', name: 'Reject', kind: 'reject_once' }];
    const model = play(
      call('a', { title: 'Edit a.ts' }),
      { type: 'permission_asked', permissionId: 'p', toolCallId: 'a', title: 'Edit?', options },
      { type: 'permission_closed', permissionId: 'p', outcome: 'selected', optionId: 'no', by: 'user', isEdited: true },
      { type: 'tool_call', toolCallId: 'a', patch: { status: 'failed' }, announced: false },
    );
    const context = { state: model.state, turn: () => undefined, roots: ['/w'], isOpenable: () => false };
    const item = projectItem(model.state.entries[0]!, context);
    assert.ok(item.kind === 'tool');
    assert.deepEqual([item.decision, item.status], [{ outcome: 'allowedEdited' }, 'completed']);
  });

  it('marks output that is cut, and provides all of it to the editor', () => {
    const text = 'line\n'.repeat(20_000);
    const content = [
      { type: 'content', block: { type: 'text', text } },
      { type: 'content', block: { type: 'text', text: 'short' } },
      { type: 'terminal', terminalId: 'x' },
    ] as const;
    const model = new SessionModel();
    model.apply({ type: 'tool_call', toolCallId: 'a', announced: true, patch: { content } }, 1);
    model.apply({ type: 'terminal', terminalId: 'x', append: '\u001b[31mred\u001b[0m\r\n'.repeat(9000) }, 2);
    const { entries, terminals } = model.state;
    assert.deepEqual(
      project(content).content.map((part) => part.type === 'content' && part.cut),
      [true, undefined, false],
    );
    assert.equal(fullOutput(entries[0], 0, terminals), text);
    assert.equal(fullOutput(entries[0], 2, terminals), 'red\n'.repeat(9000));
    assert.equal(fullOutput(entries[0], 3, terminals), undefined);
  });

  it('keeps a fence around a long output, so that its preview can omit the fence', () => {
    const text = `\`\`\`console\n${'line\n'.repeat(20_000)}\`\`\``;
    const [part] = project([{ type: 'content', block: { type: 'text', text } }]).content;
    assert.ok(part?.type === 'content' && part.block.type === 'text');
    assert.match(part.block.text, /^```console\n[\s\S]*\n```$/);
  });

  it('does not show “No newline at end of file” as a line of the file', () => {
    const [part] = project([diff('a\nb', 'a\nc')]).content;
    assert.ok(part?.type === 'diff');
    assert.deepEqual(
      part.diff.hunks.flatMap(({ lines }) => lines),
      [' a', '-b', '+c'],
    );
  });

  it('shows the lines of a single location, from the location or the input, counted from 1', () => {
    const lines = (patch: ToolPatch, line?: number): string | undefined => {
      const model = new SessionModel();
      const locations = [{ path: '/w/a.ts', ...(line !== undefined && { line }) }];
      const whole = { kind: 'read', locations, ...patch };
      model.apply({ type: 'tool_call', toolCallId: 'a', announced: true, patch: whole }, 1);
      const context = { state: model.state, turn: () => undefined, roots: ['/w'], isOpenable: () => false };
      const item = projectItem(model.state.entries[0]!, context);
      return item.kind === 'tool' ? item.lines : undefined;
    };
    assert.equal(lines({}, 10), '10');
    assert.equal(lines({ rawInput: { offset: 10, limit: 11 } }, 10), '10–20');
    assert.equal(lines({ rawInput: { start_line: 3, end_line: 7 } }), '3–7');
    assert.equal(lines({ rawInput: { view_range: [3, -1] } }), '3');
    for (const rawInput of [{ offset: 10 }, { limit: 20 }, { start_line: '3' }, 'x', undefined])
      assert.equal(lines({ rawInput }), undefined);
    assert.equal(lines({ kind: 'edit' }, 10), undefined);
    assert.equal(
      lines({
        locations: [
          { path: '/a', line: 1 },
          { path: '/b', line: 2 },
        ],
      }),
      undefined,
    );
  });

  it('numbers the lines of each part as in the file if its location is known', () => {
    assert.deepEqual(starts(project([diff('a\nb', 'a\nc')], [41])), [[41]]);
    assert.deepEqual(starts(project([diff('a', 'b'), diff('c', 'd')], [7, 90])), [[7], [90]]);
  });

  it('numbers the lines of a fragment as in the file, or not at all if its place is unknown', () => {
    assert.deepEqual(starts(project([diff('a', 'b')], [], (whole) => ({ line: 12, whole }))), [[12]]);
    assert.deepEqual(starts(project([diff('a\nb\nc', 'a\nb\nd')], [2], (whole) => ({ line: 2, whole }))), [[2]]);
    const isUnnumbered = (item: ItemView & { kind: 'tool' }): unknown[] =>
      item.content.map((part) => part.type === 'diff' && part.diff.unnumbered);
    assert.deepEqual(isUnnumbered(project([diff('a', 'b')], [], () => undefined)), [true]);
    const known: ToolContent[] = [
      { type: 'diff', path: '/w/new.ts', newText: 'a' },
      {
        type: 'diff',
        path: '/w/a.ts',
        oldText: 'a',
        newText: 'b',
        hunks: [{ oldStart: 4, newStart: 4, lines: ['-a', '+b'] }],
      },
    ];
    assert.deepEqual(isUnnumbered(project(known, [], () => undefined)), [undefined, undefined]);
    assert.deepEqual(starts(project(known, [], () => undefined)), [[1], [4]]);
  });

  it('numbers the lines of a whole file from 1, whatever location is given', () => {
    const lines = Array.from({ length: 60 }, (_, line) => `line ${line}`);
    const text = lines.join('\n');
    assert.deepEqual(
      starts(project([diff(text, text.replace('line 40', 'other'))], [41], (whole) => ({ line: 1, whole }))),
      [[38]],
    );
  });
});

describe('the end of a turn in the panel', () => {
  function ended(events: readonly SessionEvent[], stopReason: StopReason = 'end_turn'): boolean | undefined {
    const model = new SessionModel();
    model.apply({ type: 'turn_started', turnId: 't1', origin: 'user', at: 1 }, 1);
    const content = [{ type: 'text', text: 'go' }] as const;
    model.apply({ type: 'prompt_sent', turnId: 't1', promptId: 'p', content }, 1);
    for (const event of events) model.apply(event, 2);
    model.apply({ type: 'turn_ended', turnId: 't1', stopReason, barrier: 'response', at: 3 }, 3);
    const context = { state: model.state, turn: (id: string) => model.turn(id), roots: [], isOpenable: () => false };
    const item = projectItem(model.state.entries.at(-1)!, context);
    assert.ok(item.kind === 'turn_end');
    return item.turn.isEmpty;
  }

  it('is marked as empty if the agent neither said nor did anything', () => {
    assert.equal(ended([]), true);
    assert.equal(ended([{ type: 'message_chunk', role: 'thought', block: { type: 'text', text: 'hm' } }]), undefined);
    assert.equal(ended([{ type: 'tool_call', toolCallId: 'a', announced: true, patch: {} }]), undefined);
    assert.equal(ended([], 'cancelled'), undefined);
  });
});

describe('a command that an agent runs by itself', () => {
  function shown(rawOutput: unknown, output = '', ended = true): string | undefined {
    const model = new SessionModel();
    const exit = ended ? { exit: { exitCode: 0 } } : {};
    model.apply({ type: 'terminal', terminalId: 'x', ...(output && { output }), ...exit }, 0);
    const patch = { title: 'ls', content: [{ type: 'terminal', terminalId: 'x' } as const], rawOutput };
    model.apply({ type: 'tool_call', toolCallId: 'c', patch, announced: true }, 0);
    const [entry] = model.state.entries;
    assert.ok(entry);
    const context = { state: model.state, turn: () => undefined, roots: [], isOpenable: () => false };
    const item = projectItem(entry, context);
    assert.ok(item.kind === 'tool');
    const [part] = item.content;
    return part?.type === 'terminal' ? part.terminal.output : undefined;
  }

  it('shows its output if only the raw output contains it', () => {
    assert.equal(shown({ formatted_output: 'out-42\nerr\n', stdout: 'out-42\n' }), 'out-42\nerr\n');
    assert.equal(shown({ aggregated_output: 'both' }), 'both');
    assert.equal(shown({ stdout: 'out', stderr: 'err' }), 'out\nerr');
  });

  it('shows the output of its terminal, if any, and none while it runs', () => {
    assert.equal(shown({ formatted_output: 'raw' }, 'live'), 'live');
    assert.equal(shown({ formatted_output: 'raw' }, '', false), '');
    assert.equal(shown({ exit_code: 0, stdout: '' }), '');
    assert.equal(shown(undefined), '');
  });
});

describe('a tool call without content', () => {
  function projected(patch: ToolPatch): ItemView & { kind: 'tool' } {
    const { state } = play(call('c', patch));
    const item = projectItem(state.entries[0]!, { state, turn: () => undefined, roots: [], isOpenable: () => false });
    assert.ok(item.kind === 'tool');
    return item;
  }
  const texts = (rawOutput: unknown): unknown =>
    projected({ kind: 'execute', rawOutput }).content.map((part) => part.type === 'content' && part.block);

  it('shows the text of its raw output, whichever field has it', () => {
    const out = [{ type: 'text', text: 'out' }];
    for (const raw of [
      ...['out', { output: 'out' }, { stdout: 'out', stderr: '' }, { result: 'out' }, { text: 'out' }],
      ...[[{ type: 'text', text: 'out' }], { content: [{ type: 'text', text: 'out' }] }, { result: { output: 'out' } }],
    ])
      assert.deepEqual(texts(raw), out, JSON.stringify(raw));
    assert.deepEqual(texts(['one', { text: 'two' }]), [{ type: 'text', text: 'one\ntwo' }]);
    assert.deepEqual(texts('{"output":"of a file"}'), [{ type: 'text', text: '{"output":"of a file"}' }]);
    for (const raw of [{ success: true }, 3, '', { output: { output: { output: { output: { output: 'deep' } } } } }])
      assert.deepEqual(texts(raw), []);
  });

  it('provides its whole output to the editor', () => {
    const { state } = play(call('c', { rawOutput: { stdout: 'line\n'.repeat(20_000) } }));
    assert.equal(fullOutput(state.entries[0], 0, state.terminals), 'line\n'.repeat(20_000));
  });

  it('is named by its command if its title only names the tool', () => {
    const title = (patch: ToolPatch): string => projected({ kind: 'execute', ...patch }).title;
    const rawInput = { command: 'npm test' };
    assert.equal(title({ title: 'execute_command', rawInput }), 'npm test');
    assert.equal(title({ title: 'Run the tests', rawInput }), 'Run the tests');
    assert.equal(title({ title: 'execute_command', rawInput: {} }), 'execute_command');
    assert.equal(title({ title: 'execute_command', rawInput, kind: 'other' }), 'execute_command');
  });
});

describe('a tool call without a turn', () => {
  it('is closed when the first turn begins', () => {
    const model = new SessionModel();
    model.apply({ type: 'tool_call', toolCallId: 'c', patch: { title: 'Index?' }, announced: false }, 0);
    model.apply({ type: 'turn_started', turnId: 't1', origin: 'user', at: 1 }, 1);
    const [entry] = model.state.entries;
    assert.equal(entry?.kind === 'tool' && entry.status, 'cancelled');
  });
});
