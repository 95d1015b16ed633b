// Loads the MCP SDK in parts, as evaluating all of it would hold up the extension host for 40 ms.

import { setImmediate as otherWork } from 'node:timers/promises';

/** The SDK's validator, and its schemas. */
const PARTS: readonly (() => Promise<unknown>)[] = [
  () => import('ajv'),
  () => import('@modelcontextprotocol/sdk/types.js'),
];

let loading: Promise<void> | undefined;

/** Resolves when the parts are there; what imports the SDK afterwards takes a few milliseconds. */
export function loadSdk(): Promise<void> {
  loading ??= (async () => {
    for (const load of PARTS) {
      await load();
      await otherWork();
    }
  })();
  return loading;
}
