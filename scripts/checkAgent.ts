// `npm run check-agent -- [options] COMMAND [arguments]`: checks whether an agent conforms to the
// protocol and its proposals, and prints a table. Exit code 1 if a rule is broken or could not be
// tested, 2 for invalid arguments. Sends short prompts, which may cost tokens, in a separate
// temporary folder.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { AgentProcess } from '../src/agents/agentProcess';
import { resolveCommand } from '../src/agents/resolveCommand';
import { silentLog } from '../src/base/log';
import { checkAgent } from '../src/conformance/checkAgent';
import { isBroken, jsonReport, markdownReport, recordWire, terminalReport } from '../src/conformance/report';
import type { CheckOptions, CheckPrompts } from '../src/conformance/run/checkOptions';

const USAGE = `Usage: npm run check-agent -- [options] COMMAND [arguments]

  --protocol VERSION   1, 2 or both (default): what is offered
  --sign-in METHOD     sign in with this method first
  --prompt NAME=TEXT   another text for a prompt: answer, cancel, permission, held, refusal, error
  --timeout SECONDS    longest time for a turn (default 120)
  --json               print JSON
  --report FILE        write the report with all lines as Markdown
  --recording FILE     write all messages, as a recording that Parley opens

The command runs in a new folder. Arguments that name files of the current folder keep naming them.
`;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const call = readCall(args);
  if (typeof call === 'string') {
    process.stderr.write(`${call}\n\n${USAGE}`);
    return 2;
  }
  const { command, options, values } = call;
  const stop = new AbortController();
  // May arrive repeatedly, as parent processes forward them.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => stop.abort(new Error(signal)));
  let report: Awaited<ReturnType<typeof checkAgent>>;
  try {
    report = await checkAgent({ ...options, start: starter(command) }, stop.signal);
  } catch (error) {
    process.stderr.write(`${String(error)}\n`);
    return 2;
  }
  if (values.recording !== undefined) {
    const lines = report.versions.flatMap((one) => one.lines);
    await writeFile(values.recording, await recordWire(lines, report.agent, options.client.version));
  }
  if (values.report !== undefined)
    await writeFile(values.report, markdownReport(report, [['Command', command.join(' ')]]));
  process.stdout.write(values.json ? jsonReport(report) : terminalReport(report));
  return isBroken(report) ? 1 : 0;
}

interface Call {
  readonly command: readonly string[];
  readonly options: Omit<CheckOptions, 'start'>;
  readonly values: { readonly json?: boolean; readonly report?: string; readonly recording?: string };
}

/** Returns the parsed arguments, or an error message. */
function readCall(args: readonly string[]): Call | string {
  // Options end at the command: what follows belongs to the agent.
  const end = commandIndex(args);
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(args.slice(0, end));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const { protocol = 'both', prompt = [], timeout = '120', json, report, recording, ...values } = parsed;
  const command = args.slice(end).filter((arg, index) => index > 0 || arg !== '--');
  if (command.length === 0) return 'There is no command.';
  const versions = new Map<string, readonly (1 | 2)[]>([
    ['1', [1]],
    ['2', [2]],
    ['both', [1, 2]],
  ]).get(protocol);
  if (!versions) return `--protocol ${protocol}: 1, 2 or both`;
  const seconds = Number(timeout);
  if (!(seconds > 0)) return `--timeout ${timeout}: a number of seconds`;
  const prompts: Partial<Record<keyof CheckPrompts, string>> = {};
  for (const text of prompt) {
    const [, name, words] = /^(answer|cancel|permission|held|refusal|error)=(.*)$/s.exec(text) ?? [];
    if (name === undefined || words === undefined) return `--prompt ${text}: NAME=TEXT`;
    prompts[name as keyof CheckPrompts] = words;
  }
  const signIn = values['sign-in'];
  return {
    command,
    options: {
      client: { name: 'parley-check', title: 'Parley Check', version: '1.0.0' },
      versions,
      prompts,
      limits: { prompt: seconds * 1000 },
      onStep: (step) => process.stderr.isTTY && process.stderr.write(`${step} …\n`),
      signIn,
    },
    values: { json: json || undefined, report: report || undefined, recording: recording || undefined },
  };
}

function parse(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    options: {
      protocol: { type: 'string' },
      'sign-in': { type: 'string' },
      prompt: { type: 'string', multiple: true },
      timeout: { type: 'string' },
      json: { type: 'boolean' },
      report: { type: 'string' },
      recording: { type: 'string' },
    },
  }).values;
}

/** Returns the index of the command: the first word that is neither an option nor its value. */
function commandIndex(args: readonly string[]): number {
  let index = 0;
  while (index < args.length && args[index]?.startsWith('--') && args[index] !== '--') {
    index += args[index]?.includes('=') || args[index] === '--json' ? 1 : 2;
  }
  return index;
}

function starter([name = '', ...args]: readonly string[]): CheckOptions['start'] {
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
  // npm runs scripts in the project's folder; relative paths refer to the caller's.
  const here = process.env.INIT_CWD ?? process.cwd();
  return async (cwd, signal) => {
    const command = await resolveCommand(name, { cwd: here, env });
    return AgentProcess.start({
      command,
      args: args.map((arg) => pathIn(here, arg)),
      cwd,
      env,
      log: silentLog,
      signal,
    });
  };
}

/** Resolves an argument that names an existing file of the folder. */
function pathIn(folder: string, arg: string): string {
  const path = resolve(folder, arg);
  return !arg.startsWith('-') && existsSync(path) ? path : arg;
}
