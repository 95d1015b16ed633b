// An agent of a few lines without dependencies, as text, so that it can be the one file of a
// package or an archive that is installed.

export function tinyAgent(says: string): string {
  return `#!/usr/bin/env node
let rest = '';
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const answers = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {}, authMethods: [] }),
  'session/new': () => ({ sessionId: 's1' }),
  'session/prompt': () => {
    const content = { type: 'text', text: ${JSON.stringify(says)} };
    const update = { sessionUpdate: 'agent_message_chunk', content };
    send({ method: 'session/update', params: { sessionId: 's1', update } });
    return { stopReason: 'end_turn' };
  },
};
process.stdin.setEncoding('utf8').on('data', (text) => {
  const lines = (rest + text).split('\\n');
  rest = lines.pop();
  for (const { id, method } of lines.map((line) => JSON.parse(line))) {
    if (id === undefined) continue;
    const answer = answers[method];
    if (answer) send({ id, result: answer() });
    else send({ id, error: { code: -32601, message: 'unknown' } });
  }
});
`;
}
