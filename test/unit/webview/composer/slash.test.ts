// Which of the agent's commands are suggested.
import assert from 'node:assert/strict';
import { compactCommand, completeCommand, matchCommands, slashQuery } from '../../../../src/webview/composer/slash';

const COMMANDS = ['review', 'compact', 'preview', 'init'].map((name) => ({ name, description: name }));

describe('webview/slash', () => {
  it('suggests commands only while one is typed at the very start', () => {
    assert.equal(slashQuery('/', 1), '');
    assert.equal(slashQuery('/re', 3), 're');
    assert.equal(slashQuery('/re view', 3), 're');
    assert.equal(slashQuery('/review ', 8), undefined);
    assert.equal(slashQuery(' /re', 4), undefined);
    assert.equal(slashQuery('see /re', 7), undefined);
    assert.equal(slashQuery('/review', 3), undefined);
  });

  it('lists the whole name first, then prefixes, then other matches', () => {
    assert.deepEqual(
      matchCommands(COMMANDS, 'RE').map(({ name }) => name),
      ['review', 'preview'],
    );
    const named = ['review-pr', 'review'].map((name) => ({ name, description: name }));
    assert.equal(matchCommands(named, 'Review')[0]?.name, 'review');
    assert.equal(matchCommands(COMMANDS, '').length, 4);
    assert.equal(matchCommands(COMMANDS, 'zzz').length, 0);
  });

  it('keeps the text after the caret', () => {
    assert.equal(completeCommand('/re the diff', 3, 'review'), '/review the diff');
    assert.equal(completeCommand('/', 1, 'compact'), '/compact ');
  });

  it('knows the command that summarizes the conversation, whatever the agent calls it', () => {
    const compress = { name: 'compress', description: '' };
    assert.equal(compactCommand(COMMANDS)?.name, 'compact');
    assert.equal(compactCommand([{ name: 'compact-code', description: '' }, compress]), compress);
    assert.equal(compactCommand([{ name: 'review', description: 'compact' }]), undefined);
  });
});
