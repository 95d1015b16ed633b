// The cost of VS Code's own pipe: reads the agent's lines, collects what they say for 16 ms, posts it at once. No Markdown, no bounds, no checks.
const { spawn } = require('node:child_process');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { commands, ViewColumn, window, workspace } = require('vscode');

const BATCH_MS = 16;

exports.activate = (context) => {
  context.subscriptions.push(commands.registerCommand('parleyFloor.open', open));
};

function open() {
  const options = { enableScripts: true };
  const { webview } = window.createWebviewPanel('parleyFloor.chat', 'Floor', ViewColumn.Active, options);
  webview.html = readFileSync(join(__dirname, 'page.html'), 'utf8');

  let texts = [];
  let timer;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (texts.length > 0) webview.postMessage({ texts });
    texts = [];
  };
  const call = startAgent(({ content, sessionUpdate, toolCallId }) => {
    texts.push(content?.text ?? `${sessionUpdate} ${toolCallId ?? ''}\n`);
    timer ??= setTimeout(flush, BATCH_MS);
  });
  const session = call('initialize', { protocolVersion: 1, clientCapabilities: {} })
    .then(() => call('session/new', { cwd: __dirname, mcpServers: [] }))
    .then(({ sessionId }) => sessionId);
  webview.onDidReceiveMessage(async (message) => {
    const sessionId = await session;
    if (message.prompt !== undefined)
      await call('session/prompt', { sessionId, prompt: [{ type: 'text', text: message.prompt }] });
    flush();
    webview.postMessage({ state: 'ready' });
  });
}

/** Starts the agent of the settings. Returns a function that calls one of its methods. */
function startAgent(onUpdate) {
  const { command, args, env } = workspace.getConfiguration('parleyFloor').get('agent');
  const agent = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'ignore'] });
  const answers = new Map();
  let nextId = 0;
  let rest = '';
  agent.stdout.setEncoding('utf8').on('data', (data) => {
    const lines = (rest + data).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const message = JSON.parse(line);
      if (message.method === 'session/update') onUpdate(message.params.update);
      else answers.get(message.id)?.(message.result);
    }
  });
  return (method, params) => {
    const id = nextId++;
    agent.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return new Promise((resolve) => answers.set(id, resolve));
  };
}
