// File locations in tool calls.
import { strict as assert } from 'node:assert';
import { toToolPatch } from '../../../../src/acp/protocol/readContent';

describe('locations of a tool call', () => {
  it('have a valid line or none', () => {
    const at = (line: unknown) => ({ path: '/a', line });
    const locations = [at(0), at(1), at(7), at(-1), at(1.5), at('3'), at(null), { path: '/a' }, { line: 1 }];
    const patch = toToolPatch({ locations } as unknown as Parameters<typeof toToolPatch>[0]);
    assert.deepEqual(
      patch.locations?.map(({ line }) => line),
      [1, 1, 7, undefined, undefined, undefined, undefined, undefined],
    );
  });

  it('are paths, even if the agent sends URLs', () => {
    const locations = ['/a b', 'file:///a%20b', 'file://localhost/a%20b', 'file:///a b#L3'].map((path) => ({ path }));
    const patch = toToolPatch({ locations });
    assert.deepEqual(new Set(patch.locations?.map(({ path }) => path)), new Set(['/a b']));
  });
});
