// What a request is about, in the fields of different agents.
import assert from 'node:assert/strict';
import type { PermissionAsk } from '../../../../src/acp/protocol/dialect';
import { subjectOf } from '../../../../src/client/rules/requestSubject';
import type { ToolPatch } from '../../../../src/session/events/event';

const place = { cwd: '/w', roots: ['/w'] };
const path = '/w/src/a.ts';

function of(patch: ToolPatch) {
  return subjectOf({ toolCallId: 'c', title: 'x', options: [], patch } as PermissionAsk, place);
}

describe('the subject of a request', () => {
  const command = { kind: 'execute', words: ['npm', 'test'], cwd: '/w' };
  const run = (rawInput: unknown) => of({ kind: 'execute', rawInput });
  const diff = { type: 'diff', path, oldText: 'a', newText: 'b' } as const;
  const edit = (rawInput: unknown) => of({ kind: 'edit', content: [diff], rawInput });

  it('is certain whatever an agent says about the call beside it', () => {
    for (const rawInput of [
      { command: 'npm test', variant: 'Bash', summary: 'Tests', riskLevel: 'low', is_background: false },
      { command: 'npm test', commands: ['npm test'] },
      { cmd: 'npm test' },
      { CommandLine: 'npm test', Explanation: 'x' },
      JSON.stringify({ command: 'npm test' }),
    ])
      assert.deepEqual(run(rawInput), command, JSON.stringify(rawInput));
    for (const rawInput of [
      { file_path: path, old_str: 'a', new_str: 'b' },
      { path, oldStr: 'a', newStr: 'b', fileName: 'a.ts', summary: null },
      { filepath: path, diff: '+b', filediff: { file: path, before: 'a', after: 'b', additions: 1, deletions: 1 } },
      JSON.stringify({ path, content: 'b', overwrite: true }),
    ])
      assert.deepEqual(edit(rawInput), { kind: 'edit', paths: [path] }, JSON.stringify(rawInput));
  });

  it('is uncertain with a field that may change what the call does, or that says something else', () => {
    for (const rawInput of [
      { command: 'npm test', shell: '/tmp/x' },
      { command: 'npm test', summary: { toString: 1 } },
      { command: 'npm test', commands: ['npm test', 'id'] },
      { command: 'npm test', cmd: 'id' },
      { command: 'npm test', is_background: true },
      { command: 'npm test', input: { command: 'id' } },
      { command: 'npm test', constructor: 'x' },
      '{"command":"npm test"',
    ])
      assert.equal(run(rawInput), undefined, JSON.stringify(rawInput));
    for (const rawInput of [
      { file_path: path, fileName: 'b.ts' },
      { file_path: path, filediff: { file: path, mode: 'x' } },
      { file_path: path, mode: 'append' },
    ])
      assert.equal(edit(rawInput), undefined, JSON.stringify(rawInput));
    assert.deepEqual(edit({ file_path: path, filediff: { file: '/etc/x' } }), {
      kind: 'edit',
      paths: [path, '/etc/x'],
    });
  });

  it('is uncertain where a path has characters that cannot be seen', () => {
    for (const hidden of ['\u00a0', '\u200b', '\u202e', '\u3164', '\n', '\t', ' '.repeat(60)]) {
      const odd = `/w/src/a${hidden}.ts`;
      assert.equal(of({ kind: 'edit', content: [{ type: 'diff', path: odd, newText: '' }] }), undefined);
    }
  });
});
