// Options, modes and models that a v1 agent offers with a session.
import { strict as assert } from 'node:assert';
import { V1Agent } from '../../../../src/acp/v1/v1Agent';
import type { ConfigOption } from '../../../../src/session/events/content';
import { pluck } from '../../../support/pluck';
import { readInto } from '../../../support/protocol/onlyReads';
import { sameData } from '../../../support/sameData';

const place = { cwd: '/ws', additionalDirectories: [], mcpServers: [] };
const { signal } = new AbortController();

const modes = {
  currentModeId: 'auto-accept',
  availableModes: [
    { id: 'normal', name: 'Normal' },
    { id: 'auto-accept', name: 'Auto-accept' },
  ],
};
const models = {
  currentModelId: 'flash-2.5',
  availableModels: [
    { modelId: 'auto', name: 'Auto', description: 'Chooses by itself' },
    { modelId: 'pro', name: 'Pro' },
  ],
};
const option = (id: string, category?: string): object => ({
  id,
  name: id,
  type: 'select',
  currentValue: 'a',
  options: [{ value: 'a' }, { value: 'b' }],
  ...(category && { category }),
});

function agentWith(offer: object): { agent: V1Agent; asked: unknown[] } {
  const asked: unknown[] = [];
  const agent = new V1Agent({
    async request(method, params) {
      asked.push([method, params]);
      if (method === 'session/set_config_option') return { configOptions: [option('size')] };
      return method === 'session/set_model' ? {} : { sessionId: 's', ...offer };
    },
    async notify() {},
  });
  return { agent, asked };
}

const idsOf = (options: readonly ConfigOption[] | undefined): readonly string[] =>
  (options ?? []).map(({ id, category, value }) => `${id} ${category ?? '-'} ${value}`);

describe('the offer of a v1 agent', () => {
  it('has modes besides options of other categories', async () => {
    const { agent } = agentWith({ modes, configOptions: [option('provider'), option('model', 'model')] });
    const offer = await agent.newSession(place, signal);
    assert.equal(offer.modes?.current, 'auto-accept');
    assert.equal(offer.config?.length, 2);
  });

  for (const mode of [option('mode'), option('approval', 'mode')]) {
    it(`has no modes besides an option that selects them: ${JSON.stringify(mode).slice(0, 40)}`, async () => {
      const { agent } = agentWith({ modes, configOptions: [mode] });
      assert.equal((await agent.newSession(place, signal)).modes, undefined);
    });
  }

  it('has no modes that are the values of an option of any category', async () => {
    const values = modes.availableModes.map(({ id }) => ({ value: id }));
    const thinking = { ...option('thinking', 'thought_level'), options: [...values, { value: 'more' }] };
    const { agent } = agentWith({ modes, configOptions: [thinking] });
    assert.equal((await agent.newSession(place, signal)).modes, undefined);
  });

  it('has the modes that Grok accepts without listing them, with the current one', async () => {
    const rpc = { request: async () => ({ sessionId: 's' }), notify: async () => {} };
    const agent = new V1Agent(rpc, { _meta: { grokShell: true } });
    const offered = async () => (await agent.newSession(place, signal)).modes;
    assert.deepEqual(pluck((await offered())?.modes ?? [], 'id'), ['default', 'plan']);
    assert.equal((await offered())?.current, 'default');
    agent.readUpdates(
      [{ sessionUpdate: 'current_mode_update', currentModeId: 'plan' }],
      readInto(() => {}),
    );
    assert.equal((await offered())?.current, 'plan');
    assert.equal((await new V1Agent(rpc, {}).newSession(place, signal)).modes, undefined);
  });

  it('turns models into an option of category model that includes the current one', async () => {
    const { agent } = agentWith({ models });
    const [model] = (await agent.load('s', place, signal)).config ?? [];
    assert.equal(model?.category, 'model');
    assert.equal(model?.value, 'flash-2.5');
    sameData(model?.type === 'select' && model.values, [
      { value: 'flash-2.5', name: 'flash-2.5' },
      { value: 'auto', name: 'Auto', description: 'Chooses by itself' },
      { value: 'pro', name: 'Pro' },
    ]);
  });

  it('selects such a model by session/set_model', async () => {
    const { agent, asked } = agentWith({ models, configOptions: [option('size')] });
    const { config } = await agent.newSession(place, signal);
    const id = config?.find(({ category }) => category === 'model')?.id ?? assert.fail('no model');
    const after = await agent.setConfigOption('s', id, 'pro');
    assert.deepEqual(asked.at(-1), ['session/set_model', { sessionId: 's', modelId: 'pro' }]);
    assert.deepEqual(idsOf(after), ['size - a', `${id} model pro`]);
    assert.deepEqual(idsOf(await agent.setConfigOption('s', 'size', 'b')), ['size - a', `${id} model pro`]);
    const [, params] = asked.at(-1) as [string, object];
    assert.deepEqual(params, { sessionId: 's', configId: 'size', value: 'b' });
  });

  it('keeps the models if an update replaces the options, until an option selects the model', async () => {
    const { agent } = agentWith({ models });
    await agent.newSession(place, signal);
    const told = (...configOptions: object[]): readonly string[] => {
      let options: readonly ConfigOption[] = [];
      const into = readInto((event) => {
        if (event.type === 'config') options = event.options;
      });
      agent.readUpdates([{ sessionUpdate: 'config_option_update', configOptions }], into);
      return idsOf(options);
    };
    assert.deepEqual(told(option('size')), ['size - a', 'session/set_model model flash-2.5']);
    assert.deepEqual(told(option('llm', 'model')), ['llm model a']);
  });

  it('has no models if the list is empty or an option selects the model', async () => {
    for (const offer of [
      { models: { ...models, availableModels: [] } },
      { models, configOptions: [option('model')] },
      { models, configOptions: [option('x', 'model')] },
    ]) {
      const { config = [] } = await agentWith(offer).agent.newSession(place, signal);
      assert.ok(!config.some(({ id }) => id === 'session/set_model'));
    }
  });
});
