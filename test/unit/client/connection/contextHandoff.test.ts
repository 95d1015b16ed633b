// Tests the transcript that is sent with a message to a new session.

import { strict as assert } from 'node:assert';
import type { PromptCapabilities } from '../../../../src/acp/protocol/dialect';
import { ContextHandoff, withoutHandoff } from '../../../../src/client/connection/contextHandoff';
import { summaryPrompt } from '../../../../src/client/conversation/summaryPrompt';
import { SessionModel } from '../../../../src/session/model/model';

describe('a message that was sent with a transcript', () => {
  it('is shown without the transcript when the agent replays it', () => {
    const model = new SessionModel();
    model.apply({ type: 'message_chunk', role: 'agent', block: { type: 'text', text: 'An old answer' } }, 1);
    const handoff = new ContextHandoff();
    handoff.starting(model.state.entries);
    assert.equal(handoff.ready('s', true, model.state.entries), true);
    const [block] = handoff.take({ image: false, audio: false, embeddedContext: false }, model.state.entries);
    assert.ok(block?.type === 'text' && block.text.includes('An old answer'));
    assert.equal(withoutHandoff(`Go on\nwith it${block.text}`), 'Go on\nwith it');
    assert.equal(withoutHandoff('say <transcript> to me '), 'say <transcript> to me ', 'other words stay as they are');
  });

  it('keeps the transcript if the session is reopened before it is sent', () => {
    const model = new SessionModel();
    model.apply({ type: 'message_chunk', role: 'agent', block: { type: 'text', text: 'An old answer' } }, 1);
    const { entries } = model.state;
    const none = { image: false, audio: false, embeddedContext: false };
    const handoff = new ContextHandoff();
    handoff.starting(entries);
    handoff.ready('new', true, entries);
    assert.equal(handoff.ready('new', false, entries), false, 'the user was told already');
    assert.equal(handoff.take(none, entries).length, 1);
    handoff.ready('new', true, entries);
    handoff.ready('another', false, entries);
    assert.equal(handoff.take(none, entries).length, 0);
  });

  it('has the addresses of files that are not embedded', () => {
    const model = new SessionModel();
    const uri = 'https://resources.example/large-text';
    model.apply({ type: 'message_chunk', role: 'agent', block: { type: 'resource_link', uri, name: 'large-text' } }, 1);
    const handoff = new ContextHandoff();
    handoff.starting(model.state.entries);
    assert.equal(handoff.ready('s', true, model.state.entries), true);
    const [block] = handoff.take({ embeddedContext: true } as PromptCapabilities, model.state.entries);
    assert.ok(block?.type === 'resource' && block.text?.includes(`Assistant: [large-text: ${uri}]`));
  });
});

describe('the prompt for a summary', () => {
  const of = (...texts: readonly string[]): string | undefined => {
    const model = new SessionModel();
    for (const [index, text] of texts.entries())
      model.apply({ type: 'message', role: 'user', messageId: `m${index}`, content: [{ type: 'text', text }] }, 0);
    return summaryPrompt(model.state);
  };

  it('contains the transcript, or the end of a long one', () => {
    assert.match(of('Fix the parser') ?? '', /^Summarize the session below[\s\S]*\n\nUser: Fix the parser$/);
    const long = of('The first', ...Array.from({ length: 60 }, () => 'x'.repeat(7_000)), 'The last') ?? '';
    assert.ok(long.length > 150_000 && long.length < 202_000, `${long.length}`);
    assert.match(long, /\[the beginning is left out\][\s\S]*User: The last$/);
  });

  it('is not created for an empty session', () => assert.equal(of(), undefined));
});
