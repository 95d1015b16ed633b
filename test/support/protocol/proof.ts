// Tests that prove a part of the protocol: the tables of docs/protocol.md are made from them
// (scripts/docs.ts), and each must really have driven what it claims.
import { strict as assert } from 'node:assert';
import { drivenBy } from './wireAccount';

/**
 * The items that one text names: `v1:session/list close` are `v1:session/list` and
 * `v1:session/close`.
 */
export function itemsIn(text: string): readonly string[] {
  const [first = '', ...others] = text.split(' ');
  const [prefix = ''] = /^.*[:/.]/.exec(first) ?? [];
  return [first, ...others.map((name) => prefix + name)];
}

/**
 * An `it` that proves items of the protocol through a real agent process: `v1:session/load`,
 * `v2:update/notice`, `v1:agent/loadSession`, `v1:client/fs.readTextFile`.
 */
export function proof(
  title: string,
  items: readonly string[],
  run: (this: Mocha.Context) => unknown,
  version?: 1 | 2,
): void {
  it(title, async function () {
    const driven = await drivenBy(() => run.call(this));
    assert.deepEqual(
      items
        .flatMap(itemsIn)
        .filter((item) => !driven.has(item) && (version === undefined || item.startsWith(`v${version}:`))),
      [],
      'claims what did not happen',
    );
  });
}
