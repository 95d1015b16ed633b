// A window in a separate process, to be killed as the system kills one: it types the messages of a
// fault (faultPoints.ts), says when the point is reached, and stays.
// Usage: node faultWindowProcess.mjs FOLDER POINT SCRIPT; each line of its output is JSON.
import { writeSync } from 'node:fs';
import { AgentProcess } from '../../../src/agents/agentProcess';
import { faultPoints, typeUntil } from './faultPoints';
import { FaultWindow, type KeepingScript, keepingAgent } from './faultWindow';

const [folder = '', name = '', script = '{}'] = process.argv.slice(2);
const point = faultPoints.find((one) => one.name === name);
if (!point) throw new Error(`There is no point ${name}.`);
const agent = keepingAgent(folder, JSON.parse(script) as KeepingScript);
const window = new FaultWindow({ folder, agent, services: { startProcess: AgentProcess.start } });
await typeUntil(window, point);
window.conversation.unsent.write({ text: 'half a sentence', revision: 1 }, undefined);
writeSync(
  1,
  `${JSON.stringify({ agent: window.agentPid, entries: window.conversation.model.state.entries.length })}\n`,
);
setInterval(() => {}, 60_000);
