// Tests which method opens a session, by the agent's features and the existing transcript.
import { strict as assert } from 'node:assert';
import type { AgentFeatures } from '../../../../src/acp/protocol/dialect';
import { openMethodFor, type SessionOpenStrategy } from '../../../../src/client/connection/sessionOpenStrategy';

const prompt = { image: false, audio: false, embeddedContext: false };
const fresh: SessionOpenStrategy = { kind: 'reopen', sessionId: 's', transcript: 'replay' };
const standing: SessionOpenStrategy = { kind: 'reopen', sessionId: 's', transcript: 'keep' };

describe('the method that opens a session', () => {
  const cases: readonly [SessionOpenStrategy, Partial<AgentFeatures>, string][] = [
    [{ kind: 'new' }, {}, 'new'],
    [{ kind: 'fork', sessionId: 's' }, { fork: {} }, 'fork'],
    [{ kind: 'fork', sessionId: 's' }, { load: {}, resume: {} }, 'cannot-fork'],
    [fresh, { load: {} }, 'load, replays'],
    [fresh, { resume: {} }, 'resume'],
    [fresh, { load: {}, resume: {} }, 'load, replays'],
    [fresh, { load: {}, resume: { replay: {} } }, 'resume, replays'],
    [standing, { load: {} }, 'load, replays'],
    [standing, { load: {}, resume: {} }, 'resume'],
    [standing, { resume: { replay: {} } }, 'resume'],
    [fresh, { fork: {}, list: {} }, 'cannot-reopen'],
  ];
  for (const [opening, features, expected] of cases) {
    const { kind } = opening;
    const what =
      kind === 'reopen' ? `an old one with its transcript ${opening.transcript === 'keep' ? 'here' : 'lost'}` : kind;
    it(`keeps each message once for ${what} and ${Object.keys(features).join(', ') || 'nothing'}`, () => {
      const way = (): string => {
        const { method, replays } = openMethodFor(opening, { prompt, ...features }, 'Agent');
        return replays ? `${method}, replays` : method;
      };
      if (expected.startsWith('cannot-')) assert.throws(way, { code: expected });
      else assert.equal(way(), expected);
    });
  }
});
