// `npm run test:agents -- --table [id …]`: checks real agents with a scripted model, and the demo
// agent, and writes the tables of docs/agents.md. Reports go to out/conformance. With ids, only the
// rows of these agents are updated.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentProcess } from '../src/agents/agentProcess';
import { silentLog } from '../src/base/log';
import { type ConformanceReport, checkAgent, type VersionReport } from '../src/conformance/checkAgent';
import {
  countOf,
  isBroken,
  markdownReport,
  partVerdict,
  terminalReport,
  VERDICT_LABELS,
} from '../src/conformance/report';
import { GROUPS } from '../src/conformance/rules/rule';
import type { CheckOptions, CheckPrompts } from '../src/conformance/run/checkOptions';
import { agentFacts, FACTS } from '../test/agents/agentFacts';
import { GUESTS, startGuest } from '../test/agents/guestAgents';
import { scriptPrompt } from '../test/agents/modelScripts';
import { startModelServer } from '../test/agents/modelServer';
import { type RealAgent, realAgents } from '../test/agents/realAgents';
import { installAgent, KEPT_AGENTS, versionOf } from './lib/agentPackages.mts';

const PAGE = 'docs/agents.md';

/** Table rows by their first cell: agent, and protocol version if each has a row. */
type Rows = Map<string, readonly string[]>;

const ids = process.argv.slice(2);
const isWanted = (id: string): boolean => ids.length === 0 || ids.includes(id);
const today = new Date().toISOString().slice(0, 10);
const folder = await mkdtemp(join(tmpdir(), 'parley-table-'));
const homes = join(folder, 'homes');
const work = join(folder, 'work');
const model = await startModelServer();
const rules: Rows = new Map();
const facts: Rows = new Map();
const names: string[] = [];
try {
  await mkdir('out/conformance', { recursive: true });
  await mkdir(work, { recursive: true });
  names.push('Demo agent');
  if (isWanted('demo')) {
    const args = [join(process.cwd(), 'dist/demo/agent.js')];
    const prompts = { answer: '/help', cancel: '/slow', permission: '/edit', held: '/help', error: '/error' };
    await check('demo', 'Demo agent', '1.0.0', { definition: { command: process.execPath, args, env: {} } }, prompts);
  }
  for (const id of KEPT_AGENTS) if (isWanted(id)) await installAgent(id);
  for (const agent of await realAgents(homes, model.url)) {
    names.push(agent.name);
    if (isWanted(agent.id)) await tryAgent(agent);
  }
  for (const [id, name] of GUESTS) {
    names.push(name);
    if (!isWanted(id)) continue;
    const remove = await installAgent(id);
    const { agent, close } = await startGuest(id, homes, model.url, work);
    await tryAgent(agent).finally(close);
    await remove?.();
  }
  await writeTable('conformance', ['Agent', 'Version', 'Checked', ...GROUPS, 'Rules kept', 'Rules broken'], rules);
  await writeTable('facts', ['Agent', 'Version', 'Tried', ...Object.values(FACTS)], facts);
} finally {
  await model.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function tryAgent(agent: RealAgent): Promise<void> {
  const { id, name } = agent;
  const version = versionOf(id);
  await check(id, name, version, agent, {
    answer: scriptPrompt('text', work),
    cancel: scriptPrompt('slow', work),
    permission: scriptPrompt('command', work),
    held: scriptPrompt('text', work),
  });
  await agent.settle?.();
  const found = await agentFacts(agent, work, (line) => process.stdout.write(`${line}\n`));
  facts.set(name, [name, version, today, ...Object.keys(FACTS).map((fact) => found[fact as keyof typeof FACTS])]);
}

async function check(
  id: string,
  name: string,
  version: string,
  agent: Pick<RealAgent, 'definition' | 'signIn' | 'settle'>,
  prompts: CheckPrompts,
): Promise<void> {
  process.stdout.write(`Checking ${name} …\n`);
  const report = await reportOn(agent, prompts);
  await writeFile(`out/conformance/${id}.md`, markdownReport(report, [['Agent', name]]));
  await writeFile(`out/conformance/${id}.txt`, terminalReport(report));
  process.stdout.write(isBroken(report) ? `  breaks rules: out/conformance/${id}.txt\n` : '  conforms\n');
  for (const one of report.versions) {
    const key = `${name} (v${one.version})`;
    const parts = GROUPS.map((group) => VERDICT_LABELS[partVerdict(one, group)]);
    rules.set(key, [key, version, today, ...parts, String(countOf(one, 'conforms')), brokenIn(one)]);
  }
}

function reportOn(
  { definition, signIn, settle }: Pick<RealAgent, 'definition' | 'signIn' | 'settle'>,
  prompts: CheckPrompts,
): Promise<ConformanceReport> {
  const { command, args, env } = definition;
  let starts = 0;
  const start: CheckOptions['start'] = async (cwd, signal) => {
    if (starts++ > 0) await settle?.();
    return AgentProcess.start({ command, args, cwd, env: { ...environment(), ...env }, log: silentLog, signal });
  };
  return checkAgent(
    {
      start,
      prompts,
      client: { name: 'parley-check', title: 'Parley Check', version: '1.0.0' },
      versions: [1, 2],
      // On two cores, some agents are slow to start for the first time.
      limits: { prompt: 60_000, held: 2_000, quiet: 1_000 },
      signIn,
    },
    new AbortController().signal,
  );
}

function environment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

function brokenIn({ verdicts, stopped }: VersionReport): string {
  const broken = verdicts.filter(({ verdict }) => verdict === 'breaks').map(({ id, found }) => `\`${id}\`: ${found}`);
  return [...(stopped === undefined ? [] : [`not everything was tried, ${stopped}`]), ...broken].join('; ') || 'none';
}

/** Replaces rows in a table of the page, which is delimited by two comments. */
async function writeTable(name: string, head: readonly string[], rows: Rows): Promise<void> {
  const text = await readFile(PAGE, 'utf8');
  const begin = `<!-- ${name}: written by \`npm run test:agents -- --table\` -->`;
  const [from, to] = [text.indexOf(begin), text.indexOf(`<!-- end of ${name} -->`)];
  if (from < 0 || to < 0) throw new Error(`${PAGE} has no place for the table of ${name}`);
  const written = text
    .slice(from, to)
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2);
  const lines = new Map(written.map((line) => [line.slice(2, line.indexOf(' |')), line]));
  for (const [key, cells] of rows) lines.set(key, rowOf(cells.map((cell) => cell.replaceAll('|', '\\|'))));
  const rank = (key: string): number => names.indexOf(key.replace(/ \(v\d\)$/, ''));
  const sorted = [...lines].filter(([key]) => rank(key) >= 0).sort(([one], [two]) => rank(one) - rank(two));
  const table = [rowOf(head), rowOf(head.map(() => '---')), ...sorted.map(([, line]) => line)].join('\n');
  await writeFile(PAGE, `${text.slice(0, from)}${begin}\n\n${table}\n\n${text.slice(to)}`);
}

function rowOf(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
