// Commands in the raw input of a tool call.
import assert from 'node:assert/strict';
import { rawCommandsIn } from '../../../../src/client/rules/rawCommands';

const line = 'rm -rf ~/work && echo done';

describe('the commands in a raw input', () => {
  const lines = (raw: unknown) => rawCommandsIn(raw).commands.map((one) => one.line);

  it('are found under every name, at every depth, in lists and in JSON texts', () => {
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

  it('are lines, of lists of words too', () => {
    assert.deepEqual(lines({ command: ['bash', '-lc', 'rm -rf x'] }), ["bash -lc 'rm -rf x'"]);
    assert.deepEqual(lines({ argv: ['git', 'push', '--force'] }), ['git push --force']);
    assert.deepEqual(lines({ command: 'git', args: ['push', '--force'] }), ['git push --force']);
    assert.deepEqual(lines({ program: 'git', arguments: ['push'] }), ['git push']);
    assert.deepEqual(lines({ commands: ['a b', 'c d'] }), ['a b', 'c d']);
    assert.deepEqual(lines({ command: ['a', 7, 'b'] }), ['a', 'b']);
  });

  it('are all of them, each with its folder', () => {
    const raw = { command: 'ls', cwd: '/w', after: { cmd: 'rm -rf /', workdir: '/x' } };
    assert.deepEqual(rawCommandsIn(raw), {
      commands: [
        { line: 'ls', cwd: '/w' },
        { line: 'rm -rf /', cwd: '/x' },
      ],
      isWhole: true,
    });
  });

  it('are not those of a tool that edits files, or in the text of a file', () => {
    assert.deepEqual(lines({ command: 'str_replace', path: '/w/a', new_str: 'b' }), []);
    assert.deepEqual(lines({ path: '/w/p.json', content: '{"command":"x"}' }), []);
    assert.deepEqual(lines({ query: 'x' }), []);
    assert.deepEqual(lines(undefined), []);
    assert.deepEqual(lines('ls'), []);
  });

  it('says where there may be more', () => {
    const deep = Array.from({ length: 12 }).reduce<object>((inner) => ({ a: inner }), { command: line });
    assert.equal(rawCommandsIn(deep).isWhole, false);
    const many = { commands: Array.from({ length: 30 }, (_, index) => `echo ${index}`) };
    assert.equal(rawCommandsIn(many).isWhole, false);
  });
});
