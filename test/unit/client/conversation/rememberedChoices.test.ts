// The model that a new session begins with: what the user chose last with its agent. Real processes.
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { parseAgents } from '../../../../src/agents/agentDefinition';
import type { Conversation } from '../../../../src/client/conversation/conversation';
import type { RememberedChoices } from '../../../../src/client/conversation/sessionChoices';
import { waitReasonLabel } from '../../../../src/client/view/waitReasonLabels';
import { calledMethods, readAgentLog, scriptedAgent } from '../../../support/agents/definition';
import type { AgentScript } from '../../../support/agents/script';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { type TestConversation, testConversation } from '../../../support/sessions/conversation';

const select = (id: string, category: string, ...values: readonly string[]): Record<string, unknown> => ({
  id,
  name: id,
  category,
  type: 'select',
  currentValue: values[0],
  options: values.map((value) => ({ value, name: value })),
});

describe('a new session', function () {
  this.timeout(15_000);
  const memory = new Map<string, Record<string, unknown>>();
  const choices: RememberedChoices = {
    of: (agent) => memory.get(agent),
    remember: (agent, id, value) => void memory.set(agent, { ...memory.get(agent), [id]: value }),
  };
  let folder: string;
  let log: string;
  const ends: (() => Promise<void>)[] = [];

  beforeEach(async () => {
    memory.clear();
    folder = await scratchFolder();
    log = join(folder, 'agent.ndjson');
  });
  afterEach(async () => {
    await Promise.all(ends.splice(0).map((end) => end()));
    await removeScratch();
  });

  const open = async (script: AgentScript): Promise<Conversation> => (await openTest(script)).conversation;

  async function openTest(script: AgentScript, more: { readonly choiceMs?: number } = {}): Promise<TestConversation> {
    const [agent] = parseAgents({ scripted: scriptedAgent(script, log) }).agents;
    assert.ok(agent);
    const opened = testConversation({ agent, cwd: folder, services: { choices, ...more } });
    ends.push(opened.close);
    return opened;
  }

  const methods = (): readonly string[] => calledMethods(readAgentLog(log));
  const chosen = ({ model }: Conversation, id: string): unknown =>
    model.state.config.find((option) => option.id === id)?.value;

  it('begins with the model that the user chose last with the agent, before the first prompt', async () => {
    const script = { configOptions: [select('llm', 'model', 'small', 'large')] };
    const first = await open(script);
    await first.start();
    await first.choices.setConfigOption('llm', 'large');
    assert.deepEqual(memory.get('scripted'), { llm: 'large' });
    const next = await open(script);
    await next.send('say hello').done;
    assert.equal(chosen(next, 'llm'), 'large');
    const set = 'session/set_config_option';
    assert.deepEqual(methods(), ['initialize', 'session/new', set, 'initialize', 'session/new', set, 'session/prompt']);
    assert.deepEqual(memory.get('scripted'), { llm: 'large' });
  });

  it('leaves a model alone that the agent no longer offers', async () => {
    memory.set('scripted', { llm: 'large' });
    const conversation = await open({ configOptions: [select('llm', 'model', 'small', 'medium')] });
    await conversation.send('say hello').done;
    assert.equal(chosen(conversation, 'llm'), 'small');
    assert.deepEqual(methods(), ['initialize', 'session/new', 'session/prompt']);
  });

  it('begins in the mode of the agent, whatever the user chose before', async () => {
    const modes = { currentModeId: 'ask', availableModes: ['ask', 'bypass'].map((id) => ({ id, name: id })) };
    const first = await open({ modes });
    await first.start();
    await first.choices.setMode('bypass');
    const next = await open({ modes });
    await next.start();
    assert.equal(next.model.state.mode, 'ask');
    const option = await open({ configOptions: [select('approval', 'mode', 'ask', 'bypass')] });
    await option.start();
    await option.choices.setConfigOption('approval', 'bypass');
    const again = await open({ configOptions: [select('approval', 'mode', 'ask', 'bypass')] });
    await again.start();
    assert.equal(chosen(again, 'approval'), 'ask');
  });

  it('holds the first message while the agent does not answer, and sends it when the user wants', async () => {
    memory.set('scripted', { llm: 'large' });
    const { conversation, until } = await openTest(
      { configOptions: [select('llm', 'model', 'small', 'large')], mute: ['session/set_config_option'] },
      { choiceMs: 10 },
    );
    const { done } = conversation.send('say hello');
    await until(({ queue }) => queue.paused !== undefined);
    assert.equal(
      waitReasonLabel(conversation.queue.paused ?? ''),
      "Paused: scripted didn't answer when asked for “llm: large”. Choose again, or send with what the agent has now.",
    );
    assert.deepEqual(methods(), ['initialize', 'session/new', 'session/set_config_option']);
    conversation.queueActions.resume();
    assert.equal((await done).stopReason, 'end_turn');
    assert.deepEqual(memory.get('scripted'), { llm: 'small' }, 'the next session begins with it');
  });
});
