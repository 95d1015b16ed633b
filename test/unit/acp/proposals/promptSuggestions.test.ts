// Suggested messages are shown as one line that can be typed.
import { strict as assert } from 'node:assert';
import { notifiedSuggestion, suggestedPrompt } from '../../../../src/acp/proposals/promptSuggestions';

const block = (text: unknown): object => ({ type: 'text', text });
const first = (...prompts: readonly unknown[]): string | undefined =>
  suggestedPrompt(prompts.map((prompt) => ({ prompt }))).text;

describe('suggested messages', () => {
  it('show the first one, on one line', () => {
    assert.equal(first([block('Run the tests')], [block('Commit')]), 'Run the tests');
    assert.equal(first([block(' Run the\n\ttests '), block('twice')]), 'Run the tests twice');
    assert.equal(
      first([block('Fix'), { type: 'resource_link', uri: 'file:///a.ts', name: 'a.ts' }]),
      'Fix file:///a.ts',
    );
  });

  it('skip texts that are empty, too long, have hidden characters, or can’t be typed', () => {
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
    const odd = [undefined, null, 'text', [], [block(' ')], [block(1)], [null], [block('a'), image]];
    assert.equal(first(...odd, [block('x'.repeat(301))], [block('rm \u202ecod')], [block('Commit')]), 'Commit');
    assert.equal(first([block('\u0007')]), undefined);
    // Variation selectors can carry invisible text.
    assert.equal(first([block(`Commit\u{e0148}\u{e0159}`)]), undefined);
    assert.equal(first([block('Lancer les tests\u00a0!')]), 'Lancer les tests !');
    assert.equal(first(), undefined);
    assert.equal(suggestedPrompt([null, 7, {}]).text, undefined);
    assert.equal(first(Array.from({ length: 10_000 }, () => block('a'))), undefined);
  });

  it('accept Qwen Code’s notification only for its own session', () => {
    const method = 'qwen/notify/session/prompt-suggestion';
    const params = { v: 1, sessionId: 's', suggestion: 'Run the tests', promptId: 'p' };
    assert.deepEqual(notifiedSuggestion(method, params, 's'), { type: 'prompt_suggestion', text: 'Run the tests' });
    assert.equal(notifiedSuggestion(method, params, 'other'), undefined);
    assert.equal(notifiedSuggestion('qwen/notify/session/mode-update', params, 's'), undefined);
    assert.equal(notifiedSuggestion(method, { sessionId: 's', suggestion: {} }, 's')?.text, undefined);
  });
});
