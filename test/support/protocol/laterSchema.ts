// What versions of the schema have added or made stable that came after the one in the SDK: known
// from their release notes and documentation.

/** Items as `itemsOf` in matrix.ts names them. */
export const LATER_ITEMS: readonly { readonly item: string; readonly stable: boolean }[] = [
  { item: 'v2:update/replay_complete', stable: true },
];

export const NOW_STABLE: ReadonlySet<string> = new Set(
  ['update/plan_update', 'update/plan_removed', 'update/subagent_update', 'update/session_message']
    .concat('update/session_message_chunk', 'client/subagents', 'client/plan')
    .flatMap((item) => [`v1:${item}`, `v2:${item}`])
    .concat(
      ['', '.mode.override'].flatMap((of) => [
        `v1:agent/sessionCapabilities.systemPrompt${of}`,
        `v2:agent/session.systemPrompt${of}`,
      ]),
    ),
);

/** Fields of requests, by definition. */
const LATER_FIELDS: Readonly<Record<string, readonly string[]>> = {
  'v2 PromptRequest': ['idempotencyKey'],
};

export function withoutLaterFields(version: 1 | 2, definition: string, value: unknown): unknown {
  const fields = LATER_FIELDS[`v${version} ${definition}`];
  if (!fields || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !fields.includes(key)));
}
