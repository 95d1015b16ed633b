// Completion of commands and saved prompts.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of prompts have this syntax
import assert from 'node:assert/strict';
import {
  compactCommand,
  completeCommand,
  fillPrompt,
  matchCommands,
  promptIn,
  slashQuery,
} from '../../../../src/webview/composer/slash';

const COMMANDS = ['review', 'compact', 'preview', 'init'].map((name) => ({ name, description: name }));

describe('webview/slash', () => {
  it('suggests commands only while one is typed at the start of the message', () => {
    assert.equal(slashQuery('/', 1), '');
    assert.equal(slashQuery('/re', 3), 're');
    assert.equal(slashQuery('/re view', 3), 're');
    assert.equal(slashQuery('/review ', 8), undefined);
    assert.equal(slashQuery(' /re', 4), undefined);
    assert.equal(slashQuery('see /re', 7), undefined);
    assert.equal(slashQuery('/review', 3), undefined);
  });

  it('lists exact matches first, then prefixes, then other matches', () => {
    assert.deepEqual(
      matchCommands(COMMANDS, 'RE').map(({ name }) => name),
      ['review', 'preview'],
    );
    const named = ['review-pr', 'review'].map((name) => ({ name, description: name }));
    assert.equal(matchCommands(named, 'Review')[0]?.name, 'review');
    assert.equal(matchCommands(COMMANDS, '').length, 4);
    assert.equal(matchCommands(COMMANDS, 'zzz').length, 0);
  });

  it('finds a saved prompt at the start of a message, after commands of the agent', () => {
    const prompts = ['fix', 'init'].map((name) => ({ name, description: '', source: 'user', text: 'Text.' }) as const);
    assert.deepEqual(promptIn(COMMANDS, prompts, '/fix the\nparser'), { prompt: prompts[0], rest: 'the\nparser' });
    assert.equal(promptIn(COMMANDS, prompts, '/init'), undefined);
    assert.equal(promptIn(COMMANDS, prompts, '/fixed'), undefined);
    assert.equal(promptIn(COMMANDS, prompts, 'see /fix'), undefined);
    const own = { name: 'lint', description: '', source: 'user', text: '/lint ${input:file}' } as const;
    assert.equal(promptIn([], [own], '/lint')?.prompt, own);
    assert.equal(promptIn([], [own], '/lint src'), undefined, 'it could never be sent');
  });

  it('fills words into the first placeholder of a prompt, and finds the next one', () => {
    const fill = (text: string, words: string) =>
      fillPrompt({ name: 'p', description: '', source: 'user', text }, words);
    assert.deepEqual(fill('Fix it.', ''), { text: 'Fix it.' });
    assert.deepEqual(fill('Fix it.', 'now $&'), { text: 'Fix it.\n\nnow $&' });
    const text = 'Fix ${input:file:which file} and ${input:file} as ${input:how}.';
    assert.deepEqual(fill(text, ''), { text, blank: [4, 28] });
    assert.deepEqual(fill(text, 'a $1'), { text: 'Fix a $1 and a $1 as ${input:how}.', blank: [21, 33] });
  });

  it('keeps the text after the caret', () => {
    assert.equal(completeCommand('/re the diff', 3, 'review'), '/review the diff');
    assert.equal(completeCommand('/', 1, 'compact'), '/compact ');
  });

  it('recognizes the command that summarizes the conversation by its common names', () => {
    const compress = { name: 'compress', description: '' };
    assert.equal(compactCommand(COMMANDS)?.name, 'compact');
    assert.equal(compactCommand([{ name: 'compact-code', description: '' }, compress]), compress);
    assert.equal(compactCommand([{ name: 'review', description: 'compact' }]), undefined);
  });
});
