// Every update of protocol v1 once, in an order that could happen, and what lies beyond it: unknown
// ones, and ones with missing parts.

const text = (words: string): object => ({ type: 'text', text: words });

export const everyUpdate: readonly object[] = [
  { sessionUpdate: 'user_message_chunk', messageId: 'u1', content: text('A question, repeated by the agent') },
  { sessionUpdate: 'agent_thought_chunk', messageId: 't1', content: text('A thought') },
  ...[
    text('An answer'),
    { type: 'resource_link', uri: 'file:///tmp/linked.txt', name: 'linked.txt', mimeType: 'text/plain', size: 12 },
    {
      type: 'resource',
      resource: { uri: 'file:///tmp/embedded.txt', text: 'embedded text', mimeType: 'text/plain' },
    },
    {
      type: 'image',
      mimeType: 'image/png',
      data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    },
    { type: 'audio', mimeType: 'audio/wav', data: 'UklGRiQAAABXQVZF' },
  ].map((content) => ({ sessionUpdate: 'agent_message_chunk', messageId: 'm1', content })),
  {
    sessionUpdate: 'tool_call',
    toolCallId: 'c1',
    title: 'Edit a file',
    name: 'edit_file',
    kind: 'edit',
    status: 'pending',
    locations: [{ path: '/tmp/edited.txt', line: 2 }],
    rawInput: { path: '/tmp/edited.txt' },
  },
  {
    sessionUpdate: 'tool_call_update',
    toolCallId: 'c1',
    status: 'completed',
    title: null,
    content: [
      { type: 'diff', path: '/tmp/edited.txt', oldText: 'one\ntwo\n', newText: 'one\n2\n' },
      { type: 'content', content: text('Edited') },
    ],
    rawOutput: { ok: true },
  },
  {
    sessionUpdate: 'plan',
    entries: [
      { content: 'First step', priority: 'high', status: 'completed' },
      { content: 'Second step', priority: 'low', status: 'in_progress' },
    ],
  },
  {
    sessionUpdate: 'available_commands_update',
    availableCommands: [
      { name: 'review', description: 'Review the changes', input: { hint: 'what to look at' } },
      { name: 'init', description: 'Set up', input: null },
    ],
  },
  { sessionUpdate: 'current_mode_update', currentModeId: 'code' },
  {
    sessionUpdate: 'config_option_update',
    configOptions: [
      {
        id: 'model',
        name: 'Model',
        category: 'model',
        type: 'select',
        currentValue: 'a',
        options: [{ value: 'a', name: 'A' }],
      },
    ],
  },
  { sessionUpdate: 'session_info_update', title: 'A title', updatedAt: '2026-11-21T00:00:00Z' },
  { sessionUpdate: 'usage_update', used: 1234, size: 200000, cost: { amount: 0.05, currency: 'USD' } },
  { sessionUpdate: 'notice', severity: 'warning', title: 'A notice', description: 'with a description' },
  { sessionUpdate: 'compaction_update', compactionId: 'k1', status: 'in_progress' },
  { sessionUpdate: 'compaction_summary_chunk', compactionId: 'k1', content: text('A summary') },
  { sessionUpdate: 'compaction_update', compactionId: 'k1', status: 'completed', summary: [text('A summary')] },
];

export const unknownUpdates: readonly object[] = [
  { sessionUpdate: 'hologram_update', hologram: { depth: 3 }, note: 'from the future' },
  { sessionUpdate: 'agent_message_chunk', content: { type: 'smell', odour: 'coffee' } },
  {
    sessionUpdate: 'tool_call',
    toolCallId: 'future',
    title: 'From the future',
    kind: 'teleport',
    status: 'entangled',
    content: [
      { type: 'hologram', depth: 3 },
      { type: 'text', text: 'bare text, as the documentation once showed' },
    ],
  },
  { sessionUpdate: 'current_mode_update', modeId: 'by-the-older-name' },
  { sessionUpdate: 'state_update', state: 'running' },
  { sessionUpdate: 'agent_message_chunk', _meta: { usage: 1 }, content: text('') },
];

export const malformedUpdates: readonly unknown[] = [
  { sessionUpdate: 'agent_message_chunk' },
  { sessionUpdate: 'agent_message_chunk', content: null },
  { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 7 } },
  { sessionUpdate: 'tool_call', title: 'without an id' },
  { sessionUpdate: 'tool_call_update', toolCallId: null },
  { sessionUpdate: 'plan', entries: 'none' },
  { sessionUpdate: 'available_commands_update', availableCommands: [{ description: 'without a name' }] },
  { sessionUpdate: 'usage_update', used: 'much' },
  { sessionUpdate: 17 },
  {},
  null,
  'text',
  [],
];
