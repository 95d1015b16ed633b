// Tokens of a turn, from prompt answers and states to the end of the turn.
import { strict as assert } from 'node:assert';
import { readState } from '../../../../src/acp/proposals/promptLifecycle';
import { V1Agent } from '../../../../src/acp/v1/v1Agent';
import { projectTurn } from '../../../../src/client/view/projectItem';
import { sameData } from '../../../support/sameData';
import { began, play } from '../../../support/sessionEvents';

const usage = {
  totalTokens: 1500,
  inputTokens: 1000,
  outputTokens: 300,
  cachedReadTokens: 150,
  cachedWriteTokens: null,
  thoughtTokens: 50,
};
const read = { tokens: 1500, tokenParts: { input: 1000, output: 300, cachedRead: 150, thought: 50 } };

async function answer(raw: unknown): Promise<unknown> {
  const rpc = { request: async () => raw, notify: async () => {} };
  return new V1Agent(rpc).prompt('s', [], () => {}, new AbortController().signal);
}

describe('the tokens of a turn', () => {
  it('are read as total and by kind, from answers and states', async () => {
    sameData(await answer({ stopReason: 'end_turn', usage }), { ends: true, stopReason: 'end_turn', ...read });
    const state = readState({ sessionUpdate: 'state_update', state: 'idle', usage });
    sameData(state, { state: 'idle', ...read });
  });

  it('skip invalid counts, and are absent without a total', async () => {
    const odd = { totalTokens: 2, inputTokens: '1', outputTokens: -1 };
    sameData(await answer({ usage: odd }), { ends: true, tokens: 2 });
    for (const none of [null, 7, {}, { totalTokens: '2' }]) sameData(await answer({ usage: none }), { ends: true });
  });

  it('are read from the quota of gemini-cli, which has no usage', async () => {
    const quota = { token_count: { input_tokens: 246, output_tokens: 90 }, model_usage: [] };
    const tokens = { tokens: 336, tokenParts: { input: 246, output: 90 } };
    sameData(await answer({ _meta: { quota } }), { ends: true, ...tokens });
    sameData(await answer({ usage, _meta: { quota } }), { ends: true, ...read });
    sameData(await answer({ _meta: { quota: { token_count: { input_tokens: '1' } } } }), { ends: true });
  });

  it('are shown at the end of the turn, even if they arrive later', () => {
    for (const late of [false, true]) {
      const turn = { turnId: 't', stopReason: 'end_turn' } as const;
      const model = play(began('t'), { type: 'turn_ended', ...turn, barrier: 'response', at: 2, ...(!late && read) });
      if (late) model.apply({ type: 'turn_reason', ...turn, ...read }, 3);
      const shown = projectTurn(model.turn('t')!);
      assert.deepEqual({ tokens: shown.tokens, tokenParts: shown.tokenParts }, read);
    }
  });
});
