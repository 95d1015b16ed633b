// `npm run test:agents -- --table [id …]`: checks the real agents with a scripted model, and the demo agent, and writes the table of docs/agents.md. Reports go to
// out/conformance. With ids, only these agents are checked, and the table is printed.
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
import { grok, kimi, startOpenClaw } from '../test/agents/guestAgents';
import { scriptPrompt } from '../test/agents/modelScripts';
import { startModelServer } from '../test/agents/modelServer';
import type { AgentDefinition } from '../test/agents/rawClient';
import { realAgents } from '../test/agents/realAgents';

/** An agent to be checked. */
interface Checked {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly definition: AgentDefinition;
  readonly prompts: CheckPrompts;
  readonly signIn?: string;
  /** To be called between two processes. */
  readonly settle?: () => Promise<void>;
}

const BEGIN = '<!-- conformance: written by `npm run test:agents -- --table` -->';
const END = '<!-- end of conformance -->';

const ids = process.argv.slice(2);
const only = (id: string): boolean => ids.length === 0 || ids.includes(id);
const folder = await mkdtemp(join(tmpdir(), 'parley-table-'));
const model = await startModelServer();
const ends: (() => Promise<void>)[] = [() => model.close()];
try {
  const rows: [Checked, ConformanceReport][] = [];
  await mkdir('out/conformance', { recursive: true });
  for (const agent of await agents()) {
    process.stdout.write(`Checking ${agent.name} …\n`);
    const report = await check(agent);
    await writeFile(`out/conformance/${agent.id}.md`, markdownReport(report, [['Agent', agent.name]]));
    await writeFile(`out/conformance/${agent.id}.txt`, terminalReport(report));
    process.stdout.write(isBroken(report) ? `  breaks rules: out/conformance/${agent.id}.txt\n` : '  conforms\n');
    rows.push([agent, report]);
  }
  const table = tableOf(rows);
  if (ids.length > 0) process.stdout.write(`${table}\n`);
  else await writeTable(table);
} finally {
  for (const end of ends.reverse()) await end();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function agents(): Promise<readonly Checked[]> {
  const homes = join(folder, 'homes');
  const work = join(folder, 'work');
  await mkdir(work, { recursive: true });
  const prompts: CheckPrompts = {
    answer: scriptPrompt('text', work),
    cancel: scriptPrompt('slow', work),
    permission: scriptPrompt('command', work),
    held: scriptPrompt('text', work),
  };
  const demo: Checked = {
    id: 'demo',
    name: 'Demo agent',
    version: '1.0.0',
    definition: { command: process.execPath, args: [join(process.cwd(), 'dist/demo/agent.js')], env: {} },
    prompts: { answer: '/help', cancel: '/slow', permission: '/edit', held: '/help', error: '/error' },
  };
  const names = { claude: 'Claude', gemini: 'Gemini', opencode: 'OpenCode', codex: 'Codex' };
  const found: Checked[] = only('demo') ? [demo] : [];
  for (const { id, definition, signIn, settle } of await realAgents(homes, model.url))
    if (only(id))
      found.push({
        id,
        name: names[id],
        version: await installedVersion(id),
        definition,
        prompts,
        signIn,
        settle,
      });
  if (only('kimi'))
    found.push({
      id: 'kimi',
      name: 'Kimi Code',
      version: await installedVersion('kimi'),
      definition: await kimi(homes, model.url),
      prompts,
    });
  if (only('grok'))
    found.push({
      id: 'grok',
      name: 'Grok',
      version: await installedVersion('grok'),
      definition: await grok(homes, model.url),
      prompts,
    });
  if (only('openclaw')) {
    const { definition, close } = await startOpenClaw(homes, model.url, work);
    ends.push(close);
    found.push({ id: 'openclaw', name: 'OpenClaw', version: await installedVersion('openclaw'), definition, prompts });
  }
  return found;
}

function check({ definition, prompts, signIn, settle }: Checked): Promise<ConformanceReport> {
  const { command, args = [], env = {} } = definition;
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
      // The first start of some agents takes long on a machine with two cores.
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

function tableOf(rows: readonly (readonly [Checked, ConformanceReport])[]): string {
  const columns = rows.flatMap(([agent, report]) => report.versions.map((version) => ({ agent, version })));
  const heads = columns.map(({ agent, version }) => `${agent.name} ${agent.version} (v${version.version})`);
  const lines = [`| | ${heads.join(' | ')} |`, `| --- | ${heads.map(() => '---').join(' | ')} |`];
  for (const group of GROUPS)
    lines.push(`| ${group} | ${columns.map(({ version }) => cellOf(version, group)).join(' | ')} |`);
  lines.push(
    `| Rules: ${VERDICT_LABELS.conforms} / ${VERDICT_LABELS.breaks} | ${columns.map(({ version }) => `${countOf(version, 'conforms')} / ${countOf(version, 'breaks')}`).join(' | ')} |`,
  );
  const broken = columns.flatMap(({ agent, version }) =>
    version.verdicts
      .filter(({ verdict }) => verdict === 'breaks')
      .map(
        ({ id, found }) => `- ${agent.name}, version ${version.version}: \`${id}\`, ${found.replaceAll('|', '\\|')}`,
      ),
  );
  const stopped = columns.flatMap(({ agent, version }) =>
    version.stopped === undefined
      ? []
      : [`- ${agent.name}, version ${version.version}: not everything was tried, ${version.stopped}`],
  );
  return [...lines, ...(broken.length + stopped.length > 0 ? ['', ...stopped, ...broken] : [])].join('\n');
}

/** What breaks is named. */
function cellOf(version: VersionReport, group: (typeof GROUPS)[number]): string {
  return VERDICT_LABELS[partVerdict(version, group)];
}

/** The version of the package that an agent is installed from. */
async function installedVersion(id: string): Promise<string> {
  const manifest = join(process.env.PARLEY_AGENTS ?? '', id, 'package.json');
  const { dependencies = {} } = JSON.parse(await readFile(manifest, 'utf8')) as {
    dependencies?: Record<string, string>;
  };
  return Object.values(dependencies)[0] ?? '';
}

async function writeTable(table: string): Promise<void> {
  const page = 'docs/agents.md';
  const text = await readFile(page, 'utf8');
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from < 0 || to < 0) throw new Error(`${page} has no place for the table`);
  const date = new Date().toISOString().slice(0, 10);
  const intro = `Checked on ${date}, with a scripted model in place of a real one.`;
  await writeFile(page, `${text.slice(0, from)}${BEGIN}\n\n${intro}\n\n${table}\n\n${text.slice(to)}`);
}
