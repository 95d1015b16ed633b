// The output of commands that an agent runs by itself and shows as a terminal that the client has never made.
import { strict as assert } from 'node:assert';
import { projectItem } from '../../../../src/client/view/projectItem';
import { SessionModel } from '../../../../src/session/model/model';

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

  it('shows what it printed where only the raw output has it', () => {
    assert.equal(shown({ formatted_output: 'out-42\nerr\n', stdout: 'out-42\n' }), 'out-42\nerr\n');
    assert.equal(shown({ aggregated_output: 'both' }), 'both');
    assert.equal(shown({ stdout: 'out', stderr: 'err' }), 'out\nerr');
  });

  it('shows the output of its terminal where there is any, and none while it runs or where none is known', () => {
    assert.equal(shown({ formatted_output: 'raw' }, 'live'), 'live');
    assert.equal(shown({ formatted_output: 'raw' }, '', false), '');
    assert.equal(shown({ exit_code: 0, stdout: '' }), '');
    assert.equal(shown(undefined), '');
  });
});

describe('a tool call that no turn has', () => {
  it('is closed when the first turn begins', () => {
    const model = new SessionModel();
    model.apply({ type: 'tool_call', toolCallId: 'c', patch: { title: 'Index?' }, announced: false }, 0);
    model.apply({ type: 'turn_started', turnId: 't1', origin: 'user', at: 1 }, 1);
    const [entry] = model.state.entries;
    assert.equal(entry?.kind === 'tool' && entry.status, 'cancelled');
  });
});
