// The protocol's own JSON Schema (v1, from the official SDK), to hold against what an agent of ours
// sends.
import { createRequire } from 'node:module';
import * as z from 'zod';
import type { Message } from './rawClient';

type JsonSchema = Parameters<typeof z.fromJSONSchema>[0] & object;

const schema = createRequire(import.meta.url)('@agentclientprotocol/sdk/schema/v1/schema.json') as {
  readonly $schema: string;
  readonly $defs: Readonly<Record<string, object>>;
};
const readers = new Map<string, z.ZodType>();

const paramsOf: Readonly<Record<string, string>> = {
  'session/update': 'SessionNotification',
  'session/request_permission': 'RequestPermissionRequest',
  'fs/read_text_file': 'ReadTextFileRequest',
  'fs/write_text_file': 'WriteTextFileRequest',
  'terminal/create': 'CreateTerminalRequest',
  'terminal/output': 'TerminalOutputRequest',
  'terminal/wait_for_exit': 'WaitForTerminalExitRequest',
  'terminal/kill': 'KillTerminalRequest',
  'terminal/release': 'ReleaseTerminalRequest',
};

/**
 * Returns what a value violates, in words; undefined if it fits a definition of the schema
 * (`SessionNotification`, …).
 */
export function misfit(definition: string, value: unknown): string | undefined {
  let reader = readers.get(definition);
  if (reader === undefined) {
    const own = schema.$defs[definition];
    if (own === undefined) throw new Error(`The schema has no ${definition}`);
    reader = z.fromJSONSchema({ ...own, $schema: schema.$schema, $defs: schema.$defs } as JsonSchema);
    readers.set(definition, reader);
  }
  const read = reader.safeParse(value);
  return read.success ? undefined : `${definition}: ${z.prettifyError(read.error)}\n${JSON.stringify(value)}`;
}

/** The same for a call of an agent; turn_complete is a proposal that the schema does not have. */
export function misfitCall({ method, params }: Message): string | undefined {
  const definition = method === undefined ? undefined : paramsOf[method];
  if (definition === undefined || params.update?.sessionUpdate === 'turn_complete') return undefined;
  return misfit(definition, params);
}
