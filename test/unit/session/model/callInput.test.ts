// The input of a call that the agent streamed before asking for permission.
import { strict as assert } from 'node:assert';
import { PermissionRequestHandler } from '../../../../src/client/requests/permissionRequestHandler';
import type { ToolContent } from '../../../../src/session/events/content';
import type { SessionEvent, ToolPatch } from '../../../../src/session/events/event';
import { Changes } from '../../../../src/session/model/changes';
import { SessionModel } from '../../../../src/session/model/model';

const text = (said: string): ToolContent => ({ type: 'content', block: { type: 'text', text: said } });
const ALLOW = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }];

async function asked(updates: readonly ToolPatch[], patch: ToolPatch) {
  const model = new SessionModel();
  const apply = (event: SessionEvent): void => model.apply(event, 0);
  for (const [index, one] of updates.entries())
    apply({ type: 'tool_call', toolCallId: 'c', patch: one, announced: index === 0 });
  const handler = new PermissionRequestHandler(apply);
  void handler.ask({ toolCallId: 'c', patch, title: 'Write', options: ALLOW }, false, new AbortController().signal);
  await new Promise(setImmediate);
  const [entry] = model.state.entries;
  assert.ok(entry?.kind === 'tool');
  return { entry, model, handler, apply };
}

describe('the input of a call', () => {
  const args = { path: '/w/hello.txt', content: 'line one\n' };

  it('is the streamed content if a permission request replaces that', async () => {
    const partial = JSON.stringify(args).slice(0, 20);
    for (const streamed of [JSON.stringify(args), `\`\`\`json\n${JSON.stringify(args, null, 2)}\n\`\`\``]) {
      const words = [text('Requesting approval to Writing /w/hello.txt')];
      const updates = [{ kind: 'edit', content: [text(partial)] }, { content: [text(streamed)] }];
      const { entry } = await asked(updates, { content: words });
      assert.deepEqual(entry.rawInput, args);
      assert.deepEqual(entry.content, words);
    }
    const cut = await asked([{ content: [text(partial)] }], { content: [text('Write?')] });
    assert.equal(cut.entry.rawInput, partial, 'what is incomplete is not lost');
  });

  it('is the streamed content if an update replaces that before the call runs', async () => {
    const updates = [{ content: [text(JSON.stringify(args))] }, { content: [text('Waits for approval')] }];
    assert.deepEqual((await asked(updates, {})).entry.rawInput, args);
    const result = [{ status: 'in_progress' as const, content: [text('{"found":1}')] }, { content: [text('done')] }];
    assert.equal((await asked(result, {})).entry.rawInput, undefined);
  });

  it('keeps the fields that the request does not repeat', async () => {
    const input = { command: 'rm -rf ~/work', description: 'Cleans' };
    const { entry } = await asked([{ rawInput: input }], { rawInput: { description: 'Cleans the build' } });
    assert.deepEqual(entry.rawInput, { command: 'rm -rf ~/work', description: 'Cleans the build' });
    const cleared = await asked([{ rawInput: input, content: [text('x')] }], { rawInput: null, content: null });
    assert.deepEqual([cleared.entry.rawInput, cleared.entry.content], [input, [text('x')]]);
  });

  it('is shown beside the earlier contents', async () => {
    const diff: ToolContent = { type: 'diff', path: '/w/a', newText: 'x' };
    const newer: ToolContent = { type: 'diff', path: '/w/a', newText: 'y' };
    const words = text('Edit a?');
    assert.deepEqual((await asked([{ content: [diff] }], { content: [words] })).entry.content, [diff, words]);
    assert.deepEqual((await asked([{ content: [diff] }], { content: [newer] })).entry.content, [newer]);
    assert.deepEqual((await asked([{ content: [words] }], { content: [words] })).entry.content, [words]);
  });

  it('is shown in the open question as it changes', async () => {
    const { model, apply } = await asked([{ kind: 'execute' }], {});
    const changes = new Changes(() => undefined);
    model.observe(changes);
    apply({ type: 'tool_call', toolCallId: 'c', patch: { rawInput: { command: 'ls' } }, announced: false });
    assert.ok(changes.parts.has('permissions'));
  });

  it('is kept when the call runs after it is allowed', async () => {
    const { entry, model, handler } = await asked([{ status: 'pending' }], {});
    const [id = ''] = model.state.permissions.keys();
    handler.answer(id, 'yes');
    assert.equal(entry.status, 'in_progress');
  });
});
