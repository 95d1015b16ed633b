// What testing an agent says about proposals.
import { strict as assert } from 'node:assert';
import { describeV1 } from '../../../../src/acp/v1/v1Description';
import { describeV2 } from '../../../../src/acp/v2/v2Agent';
import { proposalSupport } from '../../../../src/troubleshoot/checks/protocol';

const NONE = { image: false, audio: false, embeddedContext: false };

describe("proposal support in an agent's test", () => {
  const supported = (description: Parameters<typeof proposalSupport>[0] | undefined): readonly string[] => {
    assert.ok(description);
    return proposalSupport(description).flatMap(({ name, isSupported }) => (isSupported ? [name] : []));
  };

  it('lists announced proposals of a version 1 agent, and names the others', () => {
    const sessionCapabilities = { ready: true, status: {}, turnComplete: {} };
    const all = describeV1({ protocolVersion: 1, agentCapabilities: { sessionCapabilities } });
    assert.deepEqual(supported(all), ['session/ready', 'session/status', 'turn_complete']);
    const none = describeV1({ protocolVersion: 1 });
    assert.deepEqual(supported(none), []);
    assert.deepEqual(none && proposalSupport(none).map(({ name, found }) => `${name}: ${found}`), [
      'session/ready: not announced',
      'session/status: not announced',
      'turn_complete: not announced',
      'Prompt lifecycle: part of version 2; in version 1, used when the agent sends it',
      'Distributed sessions: Parley does this for the agent',
    ]);
  });

  it('includes the prompt lifecycle in version 2, and distributed sessions in the Agent Communication Protocol', () => {
    assert.deepEqual(supported(describeV2({ protocolVersion: 2, capabilities: { session: {} } })), [
      'Prompt lifecycle',
    ]);
    assert.deepEqual(supported({ protocol: 'communication', features: { prompt: NONE } }), ['Distributed sessions']);
  });
});
