#!/usr/bin/env bash
# Shows that Droid says yes to any version of the protocol, and speaks version 1.
#
# Tool:      droid 0.215.0 (npm), started with `droid exec --output-format acp`
# Date:      2026-11-28
# Behaviour: the answer to initialize repeats the version that was offered, also one that does not exist. All else in
#            it is of version 1 whatever the version: `agentCapabilities`, `agentInfo`.
# Protocol:  in the Agent Client Protocol (initialization), an agent answers with the version that was offered if it
#            supports it, else with the latest one that it supports. In version 2 the answer has `capabilities` and `info`.
# Effect:    a client that offers version 2 first, and takes the answer at its word, gets no capabilities, no end of a
#            turn and messages without ids.
#
# Seen:
#   agent: @factory/cli 0.215.0
#   offered 1: version 1, with agentCapabilities, agentInfo, authMethods
#   offered 2: version 2, with agentCapabilities, agentInfo, authMethods
#   offered 99: version 99, with agentCapabilities, agentInfo, authMethods
#   AS DESCRIBED: it repeats each version, and answers as in version 1
#
# Exit code: 0 if it behaves as described, 1 if it does not, or if that could not be found out.
# Needs:     node >= 20, npm. Traffic: the npm registry. All files are in a temporary folder.
set -euo pipefail

limit=180 # seconds
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
  --ignore-scripts=false droid@0.215.0 >"$dir/npm.log" 2>&1 || {
  cat "$dir/npm.log" >&2
  echo 'UNKNOWN: the package could not be installed' >&2
  exit 1
}

cat >"$dir/driver.mjs" <<'EOF'
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const dir = process.argv[2];
const home = join(dir, 'home');
mkdirSync(home);

/** Returns the result of initialize in a process of its own. */
async function initialize(protocolVersion) {
  const agent = spawn(join(dir, 'node_modules/.bin/droid'), ['exec', '--output-format', 'acp'], {
    cwd: home,
    detached: true,
    // Without its own servers it wants no account.
    env: { PATH: process.env.PATH, HOME: home, TMPDIR: dir, FACTORY_AIRGAP_ENABLED: 'true', FACTORY_DISABLE_KEYRING: '1' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve) => agent.once('exit', resolve));
  const params = { protocolVersion, info: { name: 'probe', version: '1' }, clientInfo: { name: 'probe', version: '1' } };
  Object.assign(params, { capabilities: {}, clientCapabilities: {} });
  agent.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
  const answered = new Promise((resolve) => {
    createInterface({ input: agent.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      if (message.id === 1) resolve(message);
    });
  });
  const answer = await Promise.race([answered, ended.then(() => undefined)]);
  try {
    process.kill(-agent.pid, 'SIGKILL');
  } catch {
    // nobody is left in its group
  }
  await ended;
  if (answer === undefined) throw new Error('the agent ended');
  return answer;
}

let described = true;
for (const offered of [1, 2, 99]) {
  const { error, result } = await initialize(offered);
  if (error) console.log(`offered ${offered}: error ${error.code}`);
  else {
    if (offered === 1) console.log(`agent: ${result.agentInfo?.name} ${result.agentInfo?.version}`);
    console.log(`offered ${offered}: version ${result.protocolVersion}, with ${Object.keys(result).slice(1).join(', ')}`);
  }
  described &&= result?.protocolVersion === offered && 'agentCapabilities' in result && !('capabilities' in result);
}
if (described) console.log('AS DESCRIBED: it repeats each version, and answers as in version 1');
else {
  console.log('CHANGED: it does not repeat each version, or does not answer as in version 1');
  process.exitCode = 1;
}
EOF

run node "$dir/driver.mjs" "$dir"
