// An agent that calls tools of the editor on request, as text without dependencies: each prompt is
// a call as JSON, `{"name": …, "arguments": …}`, and the answer is what the tool said; with
// `"times": N` it is called as often, and the answer is how long each call took in milliseconds,
// and how long what it said last is and begins.
// `list` lists the tools, `size` says how long their list is; any other text is heard.

export const TOOL_CALLER = `
const { spawn } = require('node:child_process');

function readLines(stream, each) {
  let rest = '';
  stream.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\\n');
    rest = lines.pop();
    for (const line of lines) if (line.trim() !== '') each(JSON.parse(line));
  });
}

async function connect({ command, args, env }) {
  const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  const child = spawn(command, args, { env: { ...process.env, ...variables }, stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map();
  let last = 0;
  readLines(child.stdout, ({ id, result, error }) => {
    waiting.get(id)?.(result ?? { content: [{ text: error.message }] });
    waiting.delete(id);
  });
  const ask = (method, params) =>
    new Promise((resolve) => {
      const id = ++last;
      waiting.set(id, resolve);
      child.stdin.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\\n');
    });
  const clientInfo = { name: 'caller', version: '1' };
  await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  return ask;
}

const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const update = (update) => send({ method: 'session/update', params: { sessionId: 's1', update } });
let tools;
let calls = 0;

const answers = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {}, authMethods: [] }),
  'session/new': ({ mcpServers }) => {
    tools = connect(mcpServers.find(({ name }) => name === 'parley'));
    return { sessionId: 's1' };
  },
  'session/prompt': async ({ prompt }) => {
    const text = prompt.map((block) => block.text ?? '').join('');
    const ask = await tools;
    const say = (said) =>
      update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: '\`\`\`\\n' + said + '\\n\`\`\`' } });
    if (text === 'list') {
      say((await ask('tools/list', {})).tools.map(({ name }) => name).join('\\n'));
      return { stopReason: 'end_turn' };
    }
    if (text === 'size') {
      say(JSON.stringify((await ask('tools/list', {})).tools).length);
      return { stopReason: 'end_turn' };
    }
    if (!text.startsWith('{')) {
      say('Heard');
      return { stopReason: 'end_turn' };
    }
    const { name, arguments: given, times } = JSON.parse(text);
    if (times !== undefined) {
      const took = [];
      let said;
      for (let call = 0; call < times; call++) {
        const began = performance.now();
        said = (await ask('tools/call', { name, arguments: given })).content[0].text;
        took.push(performance.now() - began);
      }
      say(JSON.stringify({ took, characters: said.length, begin: said.slice(0, 100) }));
      return { stopReason: 'end_turn' };
    }
    const toolCallId = 'call-' + ++calls;
    const title = 'mcp__parley__' + name;
    update({ sessionUpdate: 'tool_call', toolCallId, title, kind: 'other', status: 'in_progress', rawInput: given });
    const { content } = await ask('tools/call', { name, arguments: given });
    update({
      sessionUpdate: 'tool_call_update',
      toolCallId,
      status: 'completed',
      content: content.map((part) => ({ type: 'content', content: { type: 'text', text: part.text } })),
    });
    say(content[0].text);
    return { stopReason: 'end_turn' };
  },
};

readLines(process.stdin, async ({ id, method, params }) => {
  if (id === undefined) return;
  const answer = answers[method];
  if (answer) send({ id, result: await answer(params) });
  else send({ id, error: { code: -32601, message: 'unknown' } });
});
`;
