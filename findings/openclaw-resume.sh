#!/usr/bin/env bash
# Shows that OpenClaw's ACP bridge cannot resume a session by the id that session/new gave it, once the bridge has restarted.
#
# Tool:      openclaw 2026.9.6 (npm), `openclaw acp` with `openclaw gateway run` beside it
# Date:      2026-11-28
# Behaviour: the bridge offers session/resume, and resumes the id of session/new as long as its process runs. In another
#            process, with the same gateway, it says that there is no such session. session/load finds it by that id.
#            session/list names it by another id, the gateway's key for it, and that one can be resumed.
# Protocol:  in the Agent Client Protocol (version 1, session setup), an agent that advertises
#            `sessionCapabilities.resume` resumes a session by the id that session/new or session/list gave it, without
#            the messages that session/load would repeat.
# Effect:    a client that keeps the id of session/new, and prefers session/resume where it is offered, loses the session.
#
# Seen:
#   agent: openclaw-acp 2026.9.6
#   sessionCapabilities: {"list":{},"resume":{},"close":{}}
#   session/new: <id>
#   session/prompt <id>: end_turn
#   session/resume <id>: a result (configOptions, modes)
#   -- another process of the bridge, the same gateway
#   session/resume <id>: error {"code":-32603,"message":"Internal error","data":{"details":"Session <id> not found"}}
#   session/list: agent:main:acp-bridge:<id>
#   session/resume agent:main:acp-bridge:<id>: a result (configOptions, modes)
#   session/load <id>: a result (configOptions, modes) after 2 message(s)
#   AS DESCRIBED: session/resume does not find the session that session/load opens by the same id
#
# Exit code: 0 if it behaves as described, 1 if it does not, or if that could not be found out.
# Needs:     node >= 20, npm. OpenClaw itself wants Node 24.16 or 26.1 and later: where `node` is not, Node 24.21.0 is
#            installed from npm beside it. Traffic: the npm registry and loopback. All files are in a temporary folder.
set -euo pipefail

limit=600 # seconds: it is a large package, and slow to start
dir=$(cd "$(mktemp -d)" && pwd -P)
child='' watchdog=''

finish() {
  code=$?
  trap - EXIT
  for pid in $watchdog $child; do kill "$pid" 2>/dev/null || true; done
  for pid in $watchdog $child; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$dir"
  exit "$code"
}
trap finish EXIT
trap 'exit 1' INT TERM

# Runs a command so that the script can be ended while it waits.
run() {
  "$@" &
  child=$!
  local code=0
  wait "$child" || code=$?
  child=''
  return "$code"
}

node -e '
  const [script, seconds] = process.argv.slice(1).map(Number);
  setTimeout(() => {
    console.error(`UNKNOWN: no result within ${seconds} s`);
    if (process.ppid === script) process.kill(script, "SIGTERM");
  }, seconds * 1000);
' "$$" "$limit" &
watchdog=$!

printf '{ "private": true }\n' >"$dir/package.json"

# Both packages need their install scripts.
install() {
  run npm install --prefix "$dir" --cache "$dir/npm-cache" --no-audit --no-fund --save-exact --loglevel=error \
    --ignore-scripts=false "$1" >"$dir/npm.log" 2>&1 || {
    cat "$dir/npm.log" >&2
    echo "UNKNOWN: $1 could not be installed" >&2
    exit 1
  }
}

if ! node -e '
  const [major, minor] = process.versions.node.split(".").map(Number);
  process.exitCode = (major === 24 && minor >= 16) || (major === 26 && minor >= 1) || major > 26 ? 0 : 1;
'; then
  install node@24.21.0
  export PATH="$dir/node_modules/node/bin:$PATH"
fi
install openclaw@2026.9.6

cat >"$dir/driver.mjs" <<'EOF'
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';

const dir = process.argv[2];
const home = join(dir, 'home');
const cwd = join(dir, 'work');
const token = join(home, 'token');
const program = join(dir, 'node_modules/openclaw/openclaw.mjs');

const listening = (server) =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));

// A model that says the same thing each time.
const model = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  const base = { id: 'answer', created: 1, model: 'scripted' };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  if (!JSON.parse(body || '{}').stream) {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'An answer' }, finish_reason: 'stop' }];
    const answer = { ...base, object: 'chat.completion', choices, usage };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    return;
  }
  const chunk = (choices, more) => ({ ...base, object: 'chat.completion.chunk', choices, ...more });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of [
    chunk([{ index: 0, delta: { role: 'assistant', content: 'An answer' }, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
    chunk([], { usage }),
  ])
    response.write(`data: ${JSON.stringify(event)}\n\n`);
  response.end('data: [DONE]\n\n');
});
const modelPort = await listening(model);

const probe = createServer();
const port = await listening(probe);
await new Promise((closed) => probe.close(closed));

mkdirSync(join(home, '.openclaw'), { recursive: true });
mkdirSync(cwd);
writeFileSync(token, 'scripted');
writeFileSync(
  join(home, '.openclaw/openclaw.json'),
  JSON.stringify({
    gateway: {
      mode: 'local',
      bind: 'loopback',
      port,
      auth: { mode: 'token', token: 'scripted' },
      controlUi: { enabled: false },
    },
    discovery: { mdns: { mode: 'off' } },
    update: { checkOnStart: false },
    logging: { file: join(dir, 'gateway.log') },
    agents: { defaults: { workspace: cwd, skipBootstrap: true, model: { primary: 'scripted/scripted' } } },
    models: {
      mode: 'merge',
      catalogRefresh: { enabled: false },
      providers: {
        scripted: {
          baseUrl: `http://127.0.0.1:${modelPort}/v1`,
          apiKey: 'none',
          api: 'openai-completions',
          models: [
            {
              id: 'scripted',
              name: 'Scripted',
              reasoning: false,
              input: ['text'],
              cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
              contextWindow: 100_000,
              maxTokens: 10_000,
            },
          ],
        },
      },
    },
  }),
);

// The gateway looks for news of models and plugins on the web. Here, each name stands for this machine.
const offline = join(dir, 'offline.cjs');
writeFileSync(
  offline,
  `const dns = require('node:dns');
  const { isIP } = require('node:net');
  for (const module of [dns, dns.promises]) {
    const { lookup } = module;
    module.lookup = (name, ...rest) => lookup(isIP(name) ? name : '127.0.0.1', ...rest);
  }
  require('node:module').syncBuiltinESMExports();`,
);

const started = new Set();
process.on('exit', () => {
  for (const one of started) kill(one);
});
process.on('SIGTERM', () => process.exit(1));

function start(args) {
  const one = spawn(process.execPath, [program, ...args], {
    cwd,
    detached: true,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      TMPDIR: dir,
      NODE_OPTIONS: `--require "${offline}"`,
      OPENCLAW_SKIP_CHANNELS: '1',
      OPENCLAW_DISABLE_BONJOUR: '1',
      OPENCLAW_NO_AUTO_UPDATE: '1',
      OPENCLAW_NO_RESPAWN: '1',
      OPENCLAW_OFFLINE: '1',
    },
  });
  started.add(one);
  one.ended = new Promise((resolve) => one.once('exit', resolve));
  one.output = '';
  one.stdin.on('error', () => {});
  one.stderr.on('data', (data) => (one.output += data));
  return one;
}

function kill(one) {
  try {
    process.kill(-one.pid, 'SIGKILL');
  } catch {
    // nobody is left in its group
  }
  started.delete(one);
}

async function close(one, signal) {
  if (signal) one.kill(signal);
  one.stdin.end();
  await Promise.race([one.ended, sleep(5000)]);
  kill(one);
  await one.ended;
}

class Bridge {
  updates = [];
  #nextId = 1;
  #waiting = new Map();

  constructor() {
    this.process = start(['acp', '--url', `ws://127.0.0.1:${port}`, '--token-file', token]);
    createInterface({ input: this.process.stdout }).on('line', (line) => this.#take(line));
    void this.process.ended.then(() => {
      for (const { reject } of this.#waiting.values())
        reject(new Error(`The bridge ended: ${this.process.output.slice(-1000)}`));
    });
  }

  #take(line) {
    if (line.trim() === '') return;
    const message = JSON.parse(line);
    if (message.method === 'session/update') this.updates.push(message.params.update);
    else if (message.method === undefined) {
      this.#waiting.get(message.id)?.resolve(message);
      this.#waiting.delete(message.id);
    } else if (message.id !== undefined)
      this.#write({ id: message.id, error: { code: -32601, message: 'Method not found' } });
  }

  #write(message) {
    this.process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  /** Returns the message that answers a request: it has a result or an error. */
  async ask(method, params) {
    const id = this.#nextId++;
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#write({ id, method, params });
    return answer;
  }

  async request(method, params) {
    const { error, result } = await this.ask(method, params);
    if (error) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  initialize() {
    return this.request('initialize', {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false } },
    });
  }
}

const gateway = start(['gateway', 'run', '--port', String(port)]);
await new Promise((resolve, reject) => {
  const look = (data) => {
    gateway.output += data;
    if (/\] ready$/m.test(stripVTControlCharacters(gateway.output))) resolve();
  };
  gateway.stdout.on('data', look);
  gateway.stderr.on('data', look);
  void gateway.ended.then(() => reject(new Error(`The gateway ended: ${gateway.output.slice(-1000)}`)));
});

let sessionId;
const named = (text) => text.replaceAll(sessionId, '<id>');
const shown = ({ error, result }) =>
  error ? `error ${named(JSON.stringify(error))}` : `a result (${Object.keys(result).join(', ')})`;
const resume = (id) => bridge.ask('session/resume', { sessionId: id, cwd, mcpServers: [] });

let bridge = new Bridge();
const { agentInfo, agentCapabilities } = await bridge.initialize();
console.log(`agent: ${agentInfo?.name} ${agentInfo?.version}`);
console.log(`sessionCapabilities: ${JSON.stringify(agentCapabilities.sessionCapabilities)}`);
const offered = agentCapabilities.sessionCapabilities?.resume !== undefined;
({ sessionId } = await bridge.request('session/new', { cwd, mcpServers: [] }));
console.log('session/new: <id>');
const prompt = [{ type: 'text', text: 'A question' }];
console.log(`session/prompt <id>: ${(await bridge.request('session/prompt', { sessionId, prompt })).stopReason}`);
console.log(`session/resume <id>: ${shown(await resume(sessionId))}`);
await close(bridge.process);

console.log('-- another process of the bridge, the same gateway');
bridge = new Bridge();
await bridge.initialize();
const resumed = await resume(sessionId);
console.log(`session/resume <id>: ${shown(resumed)}`);
const listed = (await bridge.request('session/list', {})).sessions.map((session) => session.sessionId);
console.log(`session/list: ${named(listed.join(', ')) || 'no session'}`);
for (const other of listed.filter((one) => one !== sessionId && one.endsWith(sessionId)))
  console.log(`session/resume ${named(other)}: ${shown(await resume(other))}`);
const before = bridge.updates.length;
const loaded = await bridge.ask('session/load', { sessionId, cwd, mcpServers: [] });
const messages = bridge.updates
  .slice(before)
  .filter((update) => /^(user|agent)_message_chunk$/.test(update.sessionUpdate));
console.log(`session/load <id>: ${shown(loaded)} after ${messages.length} message(s)`);
await close(bridge.process);
await close(gateway, 'SIGTERM');
model.closeAllConnections();
model.close();

let verdict;
if (!offered) verdict = 'CHANGED: session/resume is not offered';
else if (!resumed.error) verdict = 'CHANGED: session/resume takes the id of session/new';
else if (loaded.error) verdict = 'UNKNOWN: session/load does not find the session either';
else verdict = 'AS DESCRIBED: session/resume does not find the session that session/load opens by the same id';
console.log(verdict);
if (!verdict.startsWith('AS DESCRIBED')) process.exitCode = 1;
EOF

run node "$dir/driver.mjs" "$dir"
