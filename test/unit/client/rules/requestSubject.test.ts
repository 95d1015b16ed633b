// The subject of a request, in the fields of different agents.

import assert from 'node:assert/strict';
import type { PermissionAsk } from '../../../../src/acp/protocol/dialect';
import { rawCommandsIn } from '../../../../src/client/rules/rawCommands';
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

  it('is certain whatever else the agent says about the call', () => {
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

  it('is certain without a diff if the input contains the whole text of a file', () => {
    const whole = (rawInput: unknown) => of({ kind: 'edit', rawInput });
    assert.deepEqual(whole({ path, content: 'b', variant: 'Write' }), { kind: 'edit', paths: [path] });
    for (const rawInput of [
      { path },
      { path, old_string: 'a', new_string: 'b' },
      { content: 'b' },
      { path, content: 1 },
      // The card shows only one text, of one file.
      { path, content: '', edits: [{ old_string: 'a', new_string: 'b' }] },
      { path, content: '', old_string: 'a', new_string: 'b' },
      { path, content: '', changes: { '/w/src/b.ts': { type: 'update', unified_diff: '+b' } } },
      { path, content: '', file_path: '/w/src/b.ts' },
      { path, content: 'a', file_text: 'b', diff: '+b' },
    ])
      assert.equal(whole(rawInput), undefined, JSON.stringify(rawInput));
    assert.deepEqual(edit({ content: 'b' }), { kind: 'edit', paths: [path] });
  });

  it('is uncertain with a field that may change what the call does, or that says something else', () => {
    for (const rawInput of [
      { command: 'npm test', shell: '/tmp/x' },
      { command: 'npm test', summary: { toString: 1 } },
      { command: 'npm test', commands: ['npm test', 'id'] },
      { command: 'npm test', cmd: 'id' },
      { command: 'npm test', is_background: true },
      { command: 'npm test', run_in_background: true },
      { command: 'npm test', dangerouslyDisableSandbox: true },
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

  it('is uncertain if a path contains invisible characters', () => {
    for (const hidden of ['\u00a0', '\u200b', '\u202e', '\u3164', '\n', '\t', ' '.repeat(60)]) {
      const odd = `/w/src/a${hidden}.ts`;
      assert.equal(of({ kind: 'edit', content: [{ type: 'diff', path: odd, newText: '' }] }), undefined);
    }
  });
});

const line = 'rm -rf ~/work && echo done';

describe('the commands in a raw input', () => {
  const lines = (raw: unknown) => rawCommandsIn(raw).commands.map((one) => one.line);

  it('are found under any name, at any depth, in lists and in JSON texts', () => {
    for (const raw of [
      { command: line },
      { command: line, description: 'Cleans', is_background: true, variant: 'x' },
      { cmd: line },
      { commands: [line] },
      { commands: [{ command: line }] },
      { script: line },
      { shell_command: line },
      { commandLine: line },
      { CommandLine: line, SafeToAutoRun: true },
      { 'bash-command': line },
      { input: { command: line } },
      { arguments: { cmd: line } },
      { arguments: JSON.stringify({ command: line }) },
      { tool: 'run', input: JSON.stringify({ args: { command: line } }) },
      { server: 'shell', tool: 'exec', params: [{ deep: { deeper: { command: line } } }] },
      { function: { name: 'bash', arguments: JSON.stringify({ command: line }) } },
      [{ command: line }],
      JSON.stringify({ command: line, timeout: 5 }),
      { command: JSON.stringify({ command: line }) },
      { code: line, language: 'bash' },
    ])
      assert.deepEqual(lines(raw), [line], JSON.stringify(raw));
  });

  it('are lines, even if given as lists of words', () => {
    assert.deepEqual(lines({ command: ['bash', '-lc', 'rm -rf x'] }), ["bash -lc 'rm -rf x'"]);
    assert.deepEqual(lines({ argv: ['git', 'push', '--force'] }), ['git push --force']);
    assert.deepEqual(lines({ command: 'git', args: ['push', '--force'] }), ['git push --force']);
    assert.deepEqual(lines({ program: 'git', arguments: ['push'] }), ['git push']);
    assert.deepEqual(lines({ commands: ['a b', 'c d'] }), ['a b', 'c d']);
    assert.deepEqual(lines({ command: ['a', 7, 'b'] }), ['a', 'b']);
  });

  it('are complete, each with its folder', () => {
    const raw = { command: 'ls', cwd: '/w', after: { cmd: 'rm -rf /', workdir: '/x' } };
    assert.deepEqual(rawCommandsIn(raw), {
      commands: [
        { line: 'ls', cwd: '/w' },
        { line: 'rm -rf /', cwd: '/x' },
      ],
      isWhole: true,
    });
  });

  it('exclude those of a tool that edits files, and those in the text of a file', () => {
    assert.deepEqual(lines({ command: 'str_replace', path: '/w/a', new_str: 'b' }), []);
    assert.deepEqual(lines({ path: '/w/p.json', content: '{"command":"x"}' }), []);
    assert.deepEqual(lines({ query: 'x' }), []);
    assert.deepEqual(lines(undefined), []);
    assert.deepEqual(lines('ls'), []);
  });

  it('are marked as incomplete if there may be more', () => {
    const deep = Array.from({ length: 12 }).reduce<object>((inner) => ({ a: inner }), { command: line });
    assert.equal(rawCommandsIn(deep).isWhole, false);
    const many = { commands: Array.from({ length: 30 }, (_, index) => `echo ${index}`) };
    assert.equal(rawCommandsIn(many).isWhole, false);
  });
});
