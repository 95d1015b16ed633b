// What the card of a permission request shows of its call's input.
import assert from 'node:assert/strict';
import { askedInputOf } from '../../../../src/client/view/askedInput';
import { boundRaw } from '../../../../src/session/events/bounds';
import type { ToolEntry } from '../../../../src/session/model/state';
import { sameData } from '../../../support/sameData';

const line = 'rm -rf ~/work && echo done';

function of(rawInput: unknown, more: Partial<ToolEntry> = {}, command?: { line: string; cwd?: string }) {
  const entry = { toolKind: 'execute', content: [], rawInput, ...more } as unknown as ToolEntry;
  return askedInputOf(command ? { command } : {}, entry);
}

describe('what a permission request shows', () => {
  it('is the command with its folder and purpose, if the input contains nothing else', () => {
    sameData(of({ command: line, description: 'Cleans', cwd: '/w', timeout: 1000 }), {
      commands: [{ line, cwd: '/w' }],
      texts: [],
      purpose: 'Cleans',
      isUnknown: false,
    });
    sameData(of(undefined, {}, { line }), { commands: [{ line }], texts: [], isUnknown: false });
  });

  it('is the command and the rest of the input, whatever its content and form', () => {
    for (const rawInput of [
      { command: line, description: 'Removes what the last build left.', is_background: true },
      { command: line, env: { PATH: '/evil' } },
      { cmd: line },
      { commands: [line] },
      { arguments: JSON.stringify({ command: line }) },
      { command: line, timeout: 'never' },
      { command: line, cwd: 7 },
    ]) {
      const text = { type: 'content', block: { type: 'text', text: 'Removes what the last build left.' } } as const;
      const asked = of(rawInput, { content: [text], title: 'Clean the build' });
      assert.deepEqual([asked.commands.map((one) => one.line), asked.rest, asked.isUnknown], [[line], rawInput, false]);
    }
    sameData(of(JSON.stringify({ command: line })).commands, [{ line }]);
  });

  it('is the whole input, if it is not recognised', () => {
    for (const rawInput of [{ x: line }, { query: line }, line, [line], 7, { text: line }]) {
      const { rest, isUnknown } = of(rawInput);
      assert.deepEqual([rest, isUnknown], [rawInput, true], JSON.stringify(rawInput));
    }
    const many = { commands: Array.from({ length: 30 }, (_, index) => `echo ${index}`) };
    assert.equal(of(many).isUnknown, true);
  });

  it('is the command next to a text that is too long to store', () => {
    const long = 'x'.repeat(300_000);
    for (const rawInput of [
      { note: long, command: line },
      { input: { lines: [long, long], command: line }, more: long },
    ]) {
      const kept = boundRaw(rawInput);
      assert.deepEqual(boundRaw(kept), kept);
      const { commands, rest } = of(kept);
      sameData(commands, [{ line }]);
      assert.match(JSON.stringify(rest), /x… \[\d+ characters cut\] …x/);
    }
    const end = String(boundRaw(`${long}${line}`));
    assert.ok(end.endsWith(line) && end.length < 300_000);
    assert.match(
      String(boundRaw({ many: Array.from({ length: 9000 }, () => 'x'.repeat(90)), line })),
      /rm -rf .*done"}$/,
    );
  });

  it('is both commands, if the request and its call name different ones', () => {
    sameData(of({ command: line }, {}, { line: 'ls', cwd: '/w' }).commands, [{ line: 'ls', cwd: '/w' }, { line }]);
    assert.deepEqual(of({ command: line }, {}, { line, cwd: '/w' }).commands, [{ line, cwd: '/w' }]);
    assert.equal(of({ command: line, cwd: '/x' }, {}, { line, cwd: '/w' }).commands.length, 2);
  });

  it('is the text of a file to write, unless a diff shows it', () => {
    const raw = { path: '/w/hello.txt', content: 'line one\nline two\n' };
    const texts = [{ path: '/w/hello.txt', text: 'line one\nline two\n' }];
    assert.deepEqual(of(raw, { toolKind: 'edit' }).texts, texts);
    assert.deepEqual(of(JSON.stringify(raw), { toolKind: 'other' }).texts, texts);
    assert.deepEqual(of({ tool: 'write', input: { file_path: '/w/hello.txt', file_text: 'x' } }).texts, [
      { path: '/w/hello.txt', text: 'x' },
    ]);
    const diff = { type: 'diff', path: '/w/hello.txt', newText: 'x' } as const;
    sameData(of(raw, { toolKind: 'edit', content: [diff] }), {
      commands: [],
      texts: [],
      rest: raw,
      isUnknown: false,
    });
  });
});
