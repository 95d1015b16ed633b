// What an agent says of tests at the end of a turn, held against the turn's events: only where it is certain.
import { strict as assert } from 'node:assert';
import { join, resolve } from 'node:path';
import { projectItem } from '../../../../src/client/view/projectItem';
import { testClaim } from '../../../../src/client/view/testClaim';
import type { TestClaimView } from '../../../../src/panel/contract';
import type { SessionEvent, ToolPatch } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import type { Turn } from '../../../../src/session/model/state';

const ROOT = resolve('/w');

describe('words about tests at the end of a turn', () => {
  let model: SessionModel;
  let calls: number;

  beforeEach(() => {
    model = new SessionModel();
    calls = 0;
    apply({ type: 'turn_started', turnId: 't', origin: 'user', at: 1 });
  });

  const apply = (event: SessionEvent): void => void model.apply(event, 1);
  const call = (patch: ToolPatch): void => {
    calls += 1;
    apply({ type: 'tool_call', toolCallId: `c${calls}`, announced: true, patch: { status: 'completed', ...patch } });
  };
  const run = (command: string, exitCode?: number): void => {
    call({ kind: 'execute', title: command, content: [{ type: 'terminal', terminalId: `x${calls}` }] });
    const exit = exitCode === undefined ? {} : { exit: { exitCode } };
    apply({ type: 'terminal', terminalId: `x${calls - 1}`, command, append: 'output', ...exit });
  };
  const edit = (path: string): void =>
    call({ kind: 'edit', title: 'Edit', content: [{ type: 'diff', path, oldText: 'a', newText: 'b' }] });
  const say = (text: string): void =>
    apply({ type: 'message_chunk', role: 'agent', messageId: `m${text}`, block: { type: 'text', text } });
  const claim = (): TestClaimView | undefined => {
    apply({ type: 'turn_ended', turnId: 't', stopReason: 'end_turn', barrier: 'response', at: 2 });
    const { state } = model;
    const end = state.entries.findLastIndex(({ kind }) => kind === 'turn_end');
    return testClaim(state, end, 't', [ROOT]);
  };
  const failed = (command = 'npm test', files = 0): TestClaimView => ({ command, exitCode: 1, files });

  it('are told to be at odds with the last test command where it failed', () => {
    run('npm test', 0);
    run('npm test', 1);
    call({ kind: 'read', title: 'Read a.ts' });
    run('git status', 0);
    say('Done. All tests pass.');
    assert.deepEqual(claim(), failed());
  });

  it('are told to be at odds with files that changed after it, each counted once', () => {
    run('npm test', 0);
    edit(join(ROOT, 'src', 'a.ts'));
    edit(join(ROOT, 'src', 'a.ts'));
    edit(join(ROOT, 'src', 'b.ts'));
    say('All 12 tests pass.');
    assert.deepEqual(claim(), { command: 'npm test', exitCode: 0, files: 2 });
  });

  it('are true where the last test command succeeded, and nothing that tests depend on changed', () => {
    run('npm test', 1);
    edit(join(ROOT, 'src', 'a.ts'));
    run('npm test', 0);
    edit(join(ROOT, 'CHANGELOG.md'));
    edit(resolve('/tmp/notes.ts'));
    say('All tests pass.');
    assert.equal(claim(), undefined);
  });

  const wordings: Readonly<Record<string, boolean>> = {
    'All tests pass.': true,
    '**All tests pass!** ✅': true,
    '- ✅ All 34 tests passed': true,
    'I fixed the parser, and the tests now pass.': true,
    'Tests are green.': true,
    'Alle Tests laufen jetzt durch.': true,
    'Die Tests sind grün.': true,
    'The parser tests pass.': false,
    'All tests pass on Linux.': false,
    'All tests should pass.': false,
    'All tests pass, but one fails on Windows.': false,
    "All tests pass. The other suite doesn't run.": false,
    'All tests pass except the flaky one.': false,
    'Run `npm test` until all tests pass.': false,
    'The tests that failed are unrelated; all tests pass.': false,
    '```\nAll tests pass.\n```': false,
    '> All tests pass.': false,
    'It prints:\n\n    All tests pass\n': false,
    'Two tests fail.': false,
    'Alle Tests bestehen, aber einer nicht.': false,
    'Done.': false,
  };
  for (const [text, isClaim] of Object.entries(wordings))
    it(`${isClaim ? 'are' : 'are not'} “${text.replaceAll('\n', ' ')}”`, () => {
      run('npm test', 1);
      say(text);
      assert.deepEqual(claim(), isClaim ? failed() : undefined);
    });

  const commands: Readonly<Record<string, string | undefined>> = {
    'cd packages/core && pnpm test': 'pnpm test',
    'CI=1 npx vitest run 2>&1': 'npx vitest run',
    'python -m pytest -q': 'python -m pytest -q',
    'cargo test --all': 'cargo test --all',
    'npm test | tail -5': undefined,
    'npm test; echo done': undefined,
    'npm test && npm run lint': undefined,
    'npm run lint': undefined,
    'npm testing': undefined,
    'echo npm test': undefined,
  };
  for (const [command, known] of Object.entries(commands))
    it(`${known === undefined ? 'are not held against' : 'are held against'} \`${command}\``, () => {
      run(command, 1);
      say('All tests pass.');
      assert.deepEqual(claim(), known === undefined ? undefined : failed(known));
    });

  it('stay where anything else may have run tests since', () => {
    for (const later of [
      () => run('./run-all.sh', 0),
      () => run('npm test'),
      () => run('npm test | tail', 0),
      () => call({ kind: 'other', title: 'Run tests' }),
      () => call({ kind: 'execute', title: 'something' }),
    ]) {
      model = new SessionModel();
      apply({ type: 'turn_started', turnId: 't', origin: 'user', at: 1 });
      run('npm test', 1);
      later();
      say('All tests pass.');
      assert.equal(claim(), undefined, String(later));
    }
  });

  it('stay where they come before the last call, or nothing was run', () => {
    run('npm test', 1);
    say('All tests pass.');
    call({ kind: 'read', title: 'Read' });
    assert.equal(claim(), undefined);
    model = new SessionModel();
    apply({ type: 'turn_started', turnId: 't', origin: 'user', at: 1 });
    say('All tests pass.');
    assert.equal(claim(), undefined);
  });

  it('are not held against what happened in the turn before', () => {
    run('npm test', 1);
    apply({ type: 'turn_ended', turnId: 't', stopReason: 'end_turn', barrier: 'response', at: 2 });
    apply({ type: 'turn_started', turnId: 't2', origin: 'user', at: 3 });
    say('All tests pass.');
    apply({ type: 'turn_ended', turnId: 't2', stopReason: 'end_turn', barrier: 'response', at: 4 });
    const { entries } = model.state;
    assert.equal(testClaim(model.state, entries.length - 1, 't2', [ROOT]), undefined);
  });

  it('are part of the end of the turn, unless it was stopped', () => {
    run('npm test', 1);
    say('All tests pass.');
    assert.ok(claim());
    const { state } = model;
    const shown = (stopReason: 'end_turn' | 'cancelled'): unknown => {
      const turn = (): Turn | undefined => state.turns[0] && { ...state.turns[0], stopReason };
      const item = projectItem(state.entries.at(-1)!, { state, turn, roots: [ROOT], isOpenable: () => false });
      return item.kind === 'turn_end' && item.turn.claim;
    };
    assert.deepEqual(shown('end_turn'), failed());
    assert.equal(shown('cancelled'), undefined);
  });

  it('are read in a moment, however long they are', () => {
    run('npm test', 1);
    say(`${'tests pass and '.repeat(100_000)}all tests pass`);
    assert.deepEqual(claim(), failed());
  });

  it('are none in a long output that is quoted', () => {
    run('npm test', 1);
    say(`It prints:\n\`\`\`\n${'a line\n'.repeat(5000)}All tests pass\n\`\`\`\nDone.`);
    assert.equal(claim(), undefined);
  });
});
