#!/usr/bin/env bash
# Shows that Gemini CLI answers session/load before it has repeated the conversation.
#
# Tool:      @google/gemini-cli 0.61.0 (npm), started with --acp
# Date:      2026-11-28
# Behaviour: the answer to session/load comes after the first message of the conversation. The other messages
#            follow it as session/update notifications, with nothing that says which of them is the last one.
# Protocol:  in the Agent Client Protocol (version 1, session setup), the agent streams the whole conversation by
#            session/update, and answers session/load when that is complete.
# Effect:    a client that takes the answer for the end of the old conversation shows old messages as new ones.
#
# Seen:
#   agent: gemini-cli 0.61.0, loadSession: true
#   a turn: "First question", end_turn
#   a turn: "Second question", end_turn
#   -> session/load, in another process
#   <- user_message_chunk "<session_context>\nThis is the…"
#   <- the answer to session/load
#   <- user_message_chunk "First question"
#   <- agent_message_chunk "An answer"
#   <- user_message_chunk "Second question"
#   <- agent_message_chunk "An answer"
#   AS DESCRIBED: 1 message(s) before the answer, 4 after it
#
# Exit code: 0 if it behaves as described, 1 if it does not, or if that could not be found out.
# Needs:     node >= 20, npm. Traffic: the npm registry and loopback. All files are in a temporary folder.
set -euo pipefail

limit=240 # seconds, of which up to 60 are a wait for the next minute (see below)
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
run npm install --prefix "$dir" --cache "$dir/npm-cache" --no-audit --no-fund --save-exact --loglevel=error \
  @google/gemini-cli@0.61.0 >"$dir/npm.log" 2>&1 || {
  cat "$dir/npm.log" >&2
  echo 'UNKNOWN: the package could not be installed' >&2
  exit 1
}

cat >"$dir/driver.mjs" <<'EOF'
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const dir = process.argv[2];
const home = join(dir, 'home');
const cwd = join(dir, 'work');
const questions = ['First question', 'Second question'];

// A model that says the same thing each time.
const said = (text, finishReason) => ({
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, finishReason }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
});
const model = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  const wantsJson = body.includes('"responseMimeType":"application/json"');
  const answer = said(wantsJson ? '{"reasoning":"none","next_speaker":"user"}' : 'An answer', 'STOP');
  if (request.url.includes(':countTokens')) response.end('{"totalTokens":1}');
  else if (request.url.includes(':streamGenerateContent')) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${JSON.stringify(answer)}\n\n`);
  } else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
});
await new Promise((listening) => model.listen(0, '127.0.0.1', listening));

mkdirSync(join(home, '.gemini'), { recursive: true });
mkdirSync(cwd);
writeFileSync(
  join(home, '.gemini/settings.json'),
  JSON.stringify({
    security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
    model: { name: 'gemini-2.5-flash' },
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, sessionRetention: { enabled: false } },
    privacy: { usageStatisticsEnabled: false },
  }),
);

let agent;
process.on('exit', () => agent?.kill());
process.on('SIGTERM', () => process.exit(1));

class Agent {
  received = [];
  stderr = '';
  #nextId = 1;
  #waiting = new Map();

  constructor() {
    this.process = spawn(process.execPath, [join(dir, 'node_modules/@google/gemini-cli/bundle/gemini.js'), '--acp'], {
      cwd,
      detached: true,
      env: {
        PATH: process.env.PATH,
        HOME: home,
        TMPDIR: dir,
        GEMINI_API_KEY: 'none',
        GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${model.address().port}`,
      },
    });
    this.ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.stdin.on('error', () => {});
    this.process.stderr.on('data', (data) => (this.stderr += data));
    createInterface({ input: this.process.stdout }).on('line', (line) => this.#take(line));
    void this.ended.then(() => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`The agent ended: ${this.stderr.slice(-1000)}`));
    });
  }

  #take(line) {
    if (line.trim() === '') return;
    const message = JSON.parse(line);
    this.received.push(message);
    if (message.method === undefined) {
      this.#waiting.get(message.id)?.resolve(message);
      this.#waiting.delete(message.id);
    } else if (message.id !== undefined)
      this.#write({ id: message.id, error: { code: -32601, message: 'Method not found' } });
  }

  #write(message) {
    this.process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  /** Returns the message that answers a request. */
  async request(method, params) {
    const id = this.#nextId++;
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#write({ id, method, params });
    const message = await answer;
    if (message.error) throw new Error(`${method}: ${JSON.stringify(message.error)}`);
    return message;
  }

  async start() {
    const { result } = await this.request('initialize', {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false } },
    });
    await this.request('authenticate', { methodId: 'gemini-api-key' });
    return result;
  }

  kill(signal = 'SIGKILL') {
    try {
      process.kill(-this.process.pid, signal);
    } catch {
      // nobody is left in its group
    }
  }

  async close() {
    this.process.stdin.end();
    await Promise.race([this.ended, sleep(5000)]);
    this.kill();
    await this.ended;
  }
}

const short = (text) => JSON.stringify(text.length > 30 ? `${text.slice(0, 29)}…` : text);

agent = new Agent();
const { agentInfo, agentCapabilities } = await agent.start();
console.log(`agent: ${agentInfo?.name} ${agentInfo?.version}, loadSession: ${agentCapabilities.loadSession}`);
const { sessionId } = (await agent.request('session/new', { cwd, mcpServers: [] })).result;
for (const text of questions) {
  const { result } = await agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  console.log(`a turn: ${short(text)}, ${result.stopReason}`);
}
await agent.close();

// The file of a session has the minute of its start in its name. In the next minute, the second process cannot mistake
// the file of the first one for its own.
await sleep(60_500 - (Date.now() % 60_000));

agent = new Agent();
await agent.start();
const before = agent.received.length;
console.log('-> session/load, in another process');
const answer = await agent.request('session/load', { sessionId, cwd, mcpServers: [] });
await sleep(3000);
let answered = false;
let early = 0;
let late = 0;
for (const message of agent.received.slice(before)) {
  const update = message.params?.update;
  if (message === answer) {
    answered = true;
    console.log('<- the answer to session/load');
  } else if (/^(user|agent)_message_chunk$/.test(update?.sessionUpdate)) {
    if (answered) late++;
    else early++;
    console.log(`<- ${update.sessionUpdate} ${short(update.content.text)}`);
  }
}
await agent.close();
model.closeAllConnections();
model.close();

if (late > 0) console.log(`AS DESCRIBED: ${early} message(s) before the answer, ${late} after it`);
else {
  console.log(
    early > 0
      ? `CHANGED: all ${early} messages came before the answer`
      : 'CHANGED: no message of the conversation came',
  );
  process.exitCode = 1;
}
EOF

run node "$dir/driver.mjs" "$dir"
