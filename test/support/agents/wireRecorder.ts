// Stands between a client and an agent and writes down what the agent says, untouched: the wire's
// own account, to hold the client's against.
// Usage: node wireRecorder.js LOG COMMAND ARGS…
import { spawn } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';

const [, , log = '', command = '', ...args] = process.argv;
const record = openSync(log, 'a');
const agent = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });

process.stdin.pipe(agent.stdin);
agent.stdin.on('error', () => undefined);
agent.stdout.on('data', (chunk: Buffer) => {
  // Before it is passed on: who has seen an update finds it in the record.
  writeFileSync(record, chunk);
  process.stdout.write(chunk);
});
agent.on('error', (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 127;
});
agent.on('close', (code, signal) => {
  process.exitCode = code ?? (signal === null ? 1 : 143);
  closeSync(record);
  process.stdin.destroy();
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => agent.kill(signal));
