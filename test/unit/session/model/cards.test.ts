// Compactions, questions and media: bounded, and updated in place.
import { strict as assert } from 'node:assert';
import { PermissionRequestHandler } from '../../../../src/client/requests/permissionRequestHandler';
import { MAX_MEDIA_CHARS } from '../../../../src/session/events/bounds';
import type { SessionEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { play } from '../../../support/sessionEvents';

describe('cards of a session', () => {
  it('shows a compaction once, with its summary and error, also after they are cleared', () => {
    const compaction = (patch: object): SessionEvent => ({ type: 'compaction', compactionId: 'k', ...patch });
    const model = play(
      compaction({ append: 'We ' }),
      compaction({ status: 'in_progress', append: 'talked' }),
      compaction({ status: 'failed', error: 'too long' }),
    );
    assert.equal(model.state.entries.length, 1);
    const [entry] = model.state.entries;
    assert.ok(entry?.kind === 'notice');
    assert.deepEqual(
      [entry.severity, entry.said?.code, entry.text, entry.detail],
      ['error', 'compaction-failed', 'too long', 'We talked'],
    );
    model.apply(compaction({ status: 'completed', summary: '', error: '' }), 1);
    assert.deepEqual(
      [entry.severity, entry.said?.code, entry.text, entry.detail],
      ['info', 'compaction-completed', '', ''],
    );
  });

  it('replaces an oversized image by a placeholder', () => {
    const data = 'A'.repeat(MAX_MEDIA_CHARS + 1);
    const image = { type: 'image', data, mimeType: 'image/png' } as const;
    const model = play(
      { type: 'message_chunk', role: 'agent', block: image },
      { type: 'tool_call', toolCallId: 'c', announced: true, patch: { content: [{ type: 'content', block: image }] } },
    );
    assert.ok(JSON.stringify(model.state.entries).length < 2000);
    const [said] = model.state.entries;
    assert.match(JSON.stringify(said), /image, too large to keep/);
  });

  it('keeps the description and command of a permission request', async () => {
    const model = new SessionModel();
    const desk = new PermissionRequestHandler((event) => model.apply(event, 0));
    const command = { line: 'rm -rf out', cwd: '/work' };
    const options = [{ optionId: 'y', name: 'Yes', kind: 'allow_once' }];
    const asked = desk.ask(
      { title: 'Clean', description: 'To start over', command, options },
      false,
      new AbortController().signal,
    );
    const [permission] = model.state.permissions.values();
    assert.deepEqual([permission?.description, permission?.command], ['To start over', command]);
    desk.answer(permission?.id ?? '', 'y');
    assert.deepEqual(await asked, { outcome: { outcome: 'selected', optionId: 'y' } });
  });

  it('updates the newest subagents and bounds their messages', () => {
    const model = new SessionModel();
    for (let index = 0; index < 300; index++)
      model.apply({ type: 'subagent', sessionId: `s${index}`, title: 'x'.repeat(9000) }, 0);
    const states = model.state.entries.map((entry) => entry.kind === 'tool' && entry.status);
    assert.equal(states.filter((one) => one === 'in_progress').length, 200);
    assert.equal(states.lastIndexOf('cancelled'), 99, 'those that nobody follows any more');
    for (let index = 0; index < 2000; index++)
      model.apply({ type: 'session_message', messageId: `m${index}`, sender: 's0', append: 'y'.repeat(50_000) }, 0);
    assert.ok(JSON.stringify(model.state.entries).length < 1_000_000);
  });
});
