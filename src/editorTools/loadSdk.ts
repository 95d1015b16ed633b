// Loads the MCP SDK in parts: evaluating all of it would block the extension host for 40 ms.

import { setImmediate as otherWork } from 'node:timers/promises';

const PARTS: readonly (() => Promise<unknown>)[] = [
  () => import('ajv'),
  () => import('@modelcontextprotocol/sdk/types.js'),
];

let loading: Promise<void> | undefined;

export function loadSdk(): Promise<void> {
  loading ??= (async () => {
    for (const load of PARTS) {
      await load();
      await otherWork();
    }
  })();
  return loading;
}
