// Tests the mode and model of a session, however the agent offers them.

import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { type RememberedChoices, rememberedOf } from '../../../../src/client/connection/shownChoices';
import type { Conversation } from '../../../../src/client/conversation/conversation';

import { type ChoiceTarget, choiceOf, nextOf, valueLabel } from '../../../../src/client/conversation/sessionChoices';
import { projectSession } from '../../../../src/client/view/projectSession';

import { waitReasonLabel } from '../../../../src/client/view/waitReasonLabels';
import type { ConfigOption } from '../../../../src/session/events/content';
import type { SessionEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { calledMethods, readAgentLog, scriptedAgent } from '../../../support/agents/definition';
import type { AgentScript } from '../../../support/agents/script';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { parseAgent, type TestConversation, testConversation } from '../../../support/sessions/conversation';

const modes: SessionEvent = {
  type: 'modes',
  current: 'ask',
  modes: [
    { id: 'ask', name: 'Ask' },
    { id: 'code', name: 'Code', description: 'Writes' },
  ],
};
const option = (id: string, category: string): ConfigOption => ({
  id,
  name: id,
  category,
  type: 'select',
  value: 'a',
  values: [
    { value: 'a', name: 'A' },
    { value: 'b', name: 'B' },
  ],
});

function conversation(...events: readonly SessionEvent[]): { it: ChoiceTarget; asked: string[] } {
  const model = new SessionModel();
  for (const event of events) model.apply(event, 0);
  const asked: string[] = [];
  const parts = {
    model,
    choices: {
      setMode: async (id: string) => void asked.push(`mode ${id}`),
      setConfigOption: async (id: string, value: unknown) => void asked.push(`${id} ${value}`),
    },
  };
  return { it: parts, asked };
}

describe('the choice of a mode and of a model', () => {
  it('is among the modes of an agent that has modes', async () => {
    const { it, asked } = conversation(modes, { type: 'config', options: [option('size', 'other')] });
    const choice = choiceOf(it, 'mode');
    assert.equal(choice?.current, 'ask');
    assert.deepEqual(choice?.values[1], { value: 'code', name: 'Code', description: 'Writes' });
    await choice?.choose('code');
    assert.deepEqual(asked, ['mode code']);
  });

  it('is shown by its id if it is in no list, and can be changed', () => {
    const unlisted: SessionEvent = { type: 'mode', current: 'plan' };
    const choice = choiceOf(conversation(modes, unlisted).it, 'mode');
    assert.equal(choice?.current, 'plan');
    assert.deepEqual(
      choice?.values.map(({ value }) => value),
      ['ask', 'code', 'plan'],
    );
    const back: SessionEvent = { type: 'mode', current: 'ask' };
    assert.equal(choiceOf(conversation(modes, unlisted, back).it, 'mode')?.values.length, 2);
    assert.deepEqual(choiceOf(conversation(unlisted).it, 'mode')?.values, [{ value: 'plan', name: 'plan' }]);
  });

  it('is a value of an option that lists the modes under another category', () => {
    const config: SessionEvent = { type: 'config', options: [option('thinking', 'thought_level')] };
    const { it } = conversation(config, { type: 'mode', current: 'b' });
    assert.equal(it.model.state.config[0]?.value, 'b');
    assert.equal(choiceOf(it, 'mode'), undefined);
  });

  it('cycles through the values, unless there is only one', () => {
    const values = ['a', 'b', 'c'].map((value) => ({ value, name: value }));
    const following = (current: string | undefined) => nextOf({ values, current })?.value;
    assert.deepEqual([following('a'), following('c'), following(undefined)], ['b', 'a', 'a']);
    assert.equal(nextOf({ values: values.slice(0, 1), current: 'a' }), undefined);
  });

  it('is an option of that category, which takes precedence over modes', async () => {
    const options = [option('approval', 'mode'), option('llm', 'model')];
    const { it, asked } = conversation(modes, { type: 'config', options });
    await choiceOf(it, 'mode')?.choose('b');
    await choiceOf(it, 'model')?.choose('b');
    assert.deepEqual(asked, ['approval b', 'llm b']);
    assert.equal(choiceOf(it, 'model')?.current, 'a');
  });

  it('is undefined if the agent offers none', () => {
    assert.equal(choiceOf(conversation().it, 'mode'), undefined);
    assert.equal(choiceOf(conversation(modes).it, 'model'), undefined);
  });
});

describe('the last choice', () => {
  const idsOf = (
    remembered: Readonly<Record<string, unknown>>,
    ...options: readonly ConfigOption[]
  ): readonly string[] => rememberedOf(remembered, { config: options }).map(({ id, value }) => `${id} ${value}`);

  it('is applied if the agent offers it now, the model first', () => {
    const options = [option('effort', 'thought_level'), option('llm', 'model'), option('other', 'model')];
    assert.deepEqual(idsOf({ effort: 'b', llm: 'b', other: 'gone', missing: 'b' }, ...options), ['llm b', 'effort b']);
  });

  it('includes the speed, which may be a boolean', () => {
    const fast = { id: 'fast', name: 'Fast mode', category: 'speed', type: 'boolean', value: false } as const;
    assert.deepEqual(idsOf({ pace: 'b', fast: true }, fast, option('pace', 'speed'), option('llm', 'model')), [
      'fast true',
      'pace b',
    ]);
    assert.deepEqual(idsOf({ pace: true, fast: 'on' }, fast, option('pace', 'speed')), []);
  });

  it('is not applied for a mode or another category', () => {
    assert.deepEqual(
      idsOf({ approval: 'b', web: 'b', ask: 'code' }, option('approval', 'mode'), option('web', 'other')),
      [],
    );
  });
});

describe('the label of an option', () => {
  it('is the name of its value, not the id', () => {
    assert.equal(valueLabel(option('size', 'other')), 'A');
    assert.equal(valueLabel({ id: 'web', name: 'Web', type: 'boolean', value: true }), 'On');
  });

  it('is the id of a value that the agent does not list', () => {
    assert.equal(valueLabel({ id: 'size', name: 'Size', type: 'select', value: 'c', values: [] }), 'c');
  });
});

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
    const agent = parseAgent(scriptedAgent(script, log), 'scripted');
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

  it('begins in the mode that the user chose at the first start of the agent', async () => {
    const availableModes = [
      { id: 'auto', name: 'Auto' },
      { id: 'ask', name: 'Ask', description: 'Asks before it writes' },
    ];
    const script = { modes: { currentModeId: 'auto', availableModes } };
    const first = await open(script);
    await first.start();
    const [use] = projectSession(first).startMode?.actions ?? [];
    assert.equal(use?.label, 'Use “Ask”');
    await first.choices.setStartMode('ask');
    assert.equal(projectSession(first).startMode, undefined);
    const next = await open(script);
    await next.send('say hello').done;
    assert.equal(next.model.state.mode, 'ask');
    const set = 'session/set_mode';
    assert.deepEqual(methods(), ['initialize', 'session/new', set, 'initialize', 'session/new', set, 'session/prompt']);
  });

  it('holds the first message while the agent does not answer, until the user sends it', async () => {
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
