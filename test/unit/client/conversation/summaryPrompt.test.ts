// What an agent is asked where a session continues with a summary.
import { strict as assert } from 'node:assert';
import { summaryPrompt } from '../../../../src/client/conversation/summaryPrompt';
import { SessionModel } from '../../../../src/session/model/model';

describe('the request for a summary', () => {
  const of = (...texts: readonly string[]): string | undefined => {
    const model = new SessionModel();
    for (const [index, text] of texts.entries())
      model.apply({ type: 'message', role: 'user', messageId: `m${index}`, content: [{ type: 'text', text }] }, 0);
    return summaryPrompt(model.state);
  };

  it('has what was said, and the end of it where that is long', () => {
    assert.match(of('Fix the parser') ?? '', /^Summarize the session below[\s\S]*\n\nUser: Fix the parser$/);
    const long = of('The first', ...Array.from({ length: 60 }, () => 'x'.repeat(7_000)), 'The last') ?? '';
    assert.ok(long.length > 150_000 && long.length < 202_000, `${long.length}`);
    assert.match(long, /\[the beginning is left out\][\s\S]*User: The last$/);
  });

  it('is not made of a session in which nothing was said', () => assert.equal(of(), undefined));
});
