// A link's prompt is shown, and only the user sends it.
import { strict as assert } from 'node:assert';
import { parseAgents } from '../../../../src/agents/agentDefinition';
import type { NewConversation } from '../../../../src/workbench/sessions/conversations';
import { scriptedAgent } from '../../../support/agents/definition';
import { useFakeEditor } from '../../../support/fakeEditor';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { type TestConversation, testConversation } from '../../../support/sessions/conversation';

const setEditor = useFakeEditor();
const { openPrompt, shownPrompt, MAX_PROMPT } = await import('../../../../src/workbench/commands/openPrompt');
const { fakeWorkbench } = await import('../../../support/workbench/fakeWorkbench');

describe('opening a prompt', () => {
  let all: TestConversation[];
  let created: NewConversation[];
  let cwd: string;

  const make = (key: string): TestConversation => {
    const [agent] = parseAgents({ tested: scriptedAgent('plain', `${cwd}/log`) }).agents;
    assert.ok(agent);
    const made = testConversation({ agent, cwd, key });
    all.push(made);
    return made;
  };
  const workbench = () =>
    fakeWorkbench({
      Conversations: {
        create(options: NewConversation) {
          created.push(options);
          return make(`new ${created.length}`).conversation;
        },
      },
      ChatHome: {
        get current() {
          return [all[0]?.conversation];
        },
        present: () => ({ startAgent() {} }),
      },
      AgentCatalog: { find: (id: string) => (['tested', 'other'].includes(id) ? { id } : undefined) },
    });

  beforeEach(async () => {
    cwd = await scratchFolder();
    setEditor({}, true, [cwd]);
    [all, created] = [[], []];
    make('shown');
  });
  afterEach(async () => {
    for (const one of all) await one.close();
    await removeScratch();
  });

  it('fills the composer of the visible empty session without sending or starting', () => {
    assert.equal(openPrompt(workbench(), { prompt: 'Explain this', agent: 'tested' }), 'shown');
    const { unsent, queue, connection } = all[0]?.conversation ?? assert.fail();
    assert.deepEqual([unsent.draft.text, queue.items, connection.kind], ['Explain this', [], 'idle']);
    assert.deepEqual(created, []);
  });

  it('uses a new session if there is a draft, a history, or another agent', () => {
    const { conversation } = all[0] ?? assert.fail();
    conversation.unsent.write({ text: 'mine', revision: 1 }, undefined);
    assert.equal(openPrompt(workbench(), { prompt: 'Theirs' }), 'new 1');
    conversation.unsent.write({ text: '', revision: 2 }, undefined);
    assert.equal(openPrompt(workbench(), { prompt: 'Theirs', agent: 'other' }), 'new 2');
    const notice = { type: 'notice', severity: 'info', title: 'Something was said' } as const;
    conversation.note([{ at: 0, event: notice }]);
    assert.equal(openPrompt(workbench(), { prompt: 'Theirs' }), 'new 3');
    assert.deepEqual(created, [{ agent: undefined }, { agent: 'other' }, { agent: undefined }]);
    assert.deepEqual(
      all.map(({ conversation: { unsent } }) => unsent.draft.text),
      ['', 'Theirs', 'Theirs', 'Theirs'],
    );
  });

  it('uses the default agent and a notice if the requested one does not exist', async () => {
    const { window } = await import('vscode');
    const { showWarningMessage } = window;
    const told: string[] = [];
    Object.assign(window, { showWarningMessage: async (text: string) => void told.push(text) });
    try {
      assert.equal(openPrompt(workbench(), { prompt: 'Explain', agent: 'none' }), 'shown');
    } finally {
      Object.assign(window, { showWarningMessage });
    }
    assert.deepEqual(told, ['There is no agent “none”.']);
  });

  it('makes hidden characters visible, runs no command, and limits the length', () => {
    assert.equal(shownPrompt('a\u202eb\u{e0041}\u0007c\r\n'), 'a⟨U+202E⟩b⟨U+E0041⟩⟨U+0007⟩c');
    assert.equal(shownPrompt(' /clear all'), '`/clear` all');
    assert.equal(shownPrompt('\u200b/clear'), '⟨U+200B⟩/clear');
    assert.equal(shownPrompt('see src/app.ts'), 'see src/app.ts');
    assert.throws(() => shownPrompt('x'.repeat(MAX_PROMPT + 1)), { code: 'prompt-too-long' });
  });
});
