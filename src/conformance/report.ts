// Formats the report of a check: Markdown, JSON, and a table for terminals. All without known
// secrets.
import { redact } from '../base/redact';
import { revealControls } from '../base/revealControls';
import { cleanMessages } from '../traffic/cleanMessages';
import { writeRecording } from '../traffic/recording';
import type { TrafficEntry } from '../traffic/trafficLog';
import type { ConformanceReport, VersionReport } from './checkAgent';
import type { RuleVerdict } from './judge';
import type { Group, Verdict } from './rules/rule';
import type { WireLine } from './wire/wireLog';

/** Maximum characters of a wire line. */
const MAX_LINE = 400;
const MAX_LINES = 6;

export const VERDICT_LABELS: Readonly<Record<Verdict, string>> = {
  conforms: 'conforms',
  breaks: 'breaks',
  'not-offered': 'not offered',
  'not-shown': 'not shown',
};

/** Whether the agent breaks a rule, or could not be judged at all. */
export function isBroken({ versions }: ConformanceReport): boolean {
  return versions.some(
    ({ verdicts, stopped }) => stopped !== undefined || verdicts.some(({ verdict }) => verdict === 'breaks'),
  );
}

export function countOf({ verdicts }: VersionReport, verdict: Verdict): number {
  return verdicts.filter((one) => one.verdict === verdict).length;
}

export function partVerdict({ verdicts }: VersionReport, group: Group): Verdict {
  const own = verdicts.filter((one) => one.group === group).map(({ verdict }) => verdict);
  const order: readonly Verdict[] = ['breaks', 'conforms', 'not-shown', 'not-offered'];
  return order.find((verdict) => own.includes(verdict)) ?? 'not-offered';
}

export function markdownReport(
  report: ConformanceReport,
  facts: readonly (readonly [name: string, value: string])[],
): string {
  const lines = [
    '# Conformance report',
    '',
    ...[...facts, ['Agent says', report.agent] as const].map(([name, value]) => `- ${name}: ${code(value)}`),
  ];
  for (const version of report.versions) {
    lines.push('', `## Protocol version ${version.version}`, '');
    if (version.stopped !== undefined) lines.push(`**Not everything was tried:** ${plain(version.stopped)}`, '');
    lines.push('| Part | Rule | Verdict | Found |', '| --- | --- | --- | --- |');
    for (const { group, rule, verdict, found } of version.verdicts)
      lines.push(
        `| ${plain(group)} | ${plain(rule)} | ${verdict === 'breaks' ? '**breaks**' : VERDICT_LABELS[verdict]} | ${plain(found)} |`,
      );
    for (const verdict of ['breaks', 'conforms'] as const)
      for (const one of version.verdicts.filter((each) => each.verdict === verdict)) lines.push('', ...details(one));
  }
  return `${lines.join('\n')}\n`;
}

function details({ id, rule, verdict, found, place, lines }: RuleVerdict): readonly string[] {
  const fence = '```';
  return [
    `### ${plain(id)}: ${VERDICT_LABELS[verdict]}`,
    '',
    `The agent ${plain(rule)}. Found: ${plain(found)}.`,
    '',
    `${plain(place)}.`,
    ...(lines.length === 0
      ? []
      : ['', `${fence}text`, ...wireText(lines).map((line) => line.replaceAll(fence, "'''")), fence]),
  ];
}

export function wireText(lines: readonly WireLine[]): readonly string[] {
  const arrows: Readonly<Record<WireLine['dir'], string>> = { sent: '→', received: '←', noise: '←', note: '·' };
  const shown = lines
    .slice(0, MAX_LINES)
    .map(({ n, ms, dir, text }) => `${n} (${ms} ms) ${arrows[dir]} ${redactedLine(text, MAX_LINE)}`);
  return lines.length > MAX_LINES ? [...shown, `… ${lines.length - MAX_LINES} more lines`] : shown;
}

/** Includes the wire lines of broken rules. */
export function terminalReport(report: ConformanceReport): string {
  const lines = [`Agent: ${redactedLine(report.agent || 'no name', 100)}`];
  for (const version of report.versions) {
    const { verdicts, stopped } = version;
    lines.push('', `Protocol version ${version.version}`);
    if (stopped !== undefined) lines.push(`Not everything was tried: ${redactedLine(stopped, MAX_LINE)}`);
    const width = Math.max(...verdicts.map(({ id }) => id.length));
    for (const { id, verdict, found } of verdicts)
      lines.push(`  ${id.padEnd(width)}  ${VERDICT_LABELS[verdict].padEnd(11)}  ${redactedLine(found, 100)}`);
    for (const one of verdicts.filter(({ verdict }) => verdict === 'breaks'))
      lines.push(
        '',
        `  ${one.id}: ${one.rule}`,
        `    ${one.place}`,
        `    ${redactedLine(one.found, MAX_LINE)}`,
        ...wireText(one.lines).map((line) => `    ${line}`),
      );
    const counts = (['conforms', 'breaks', 'not-offered', 'not-shown'] as const).map(
      (verdict) => `${countOf(version, verdict)} ${VERDICT_LABELS[verdict]}`,
    );
    lines.push('', `  ${counts.join(', ')}`);
  }
  return `${lines.join('\n')}\n`;
}

export function jsonReport(report: ConformanceReport): string {
  const versions = report.versions.map(({ version, stopped, verdicts }) => ({
    version,
    stopped: stopped !== undefined ? redact(stopped) : undefined,
    verdicts: verdicts.map(({ lines, ...one }) => ({
      ...one,
      found: redact(one.found),
      lines: lines.slice(0, MAX_LINES).map(({ n, ms, dir, text }) => ({ n, ms, dir, text: redact(text) })),
    })),
  }));
  return `${JSON.stringify({ agent: redact(report.agent), versions }, undefined, 2)}\n`;
}

function plain(text: string): string {
  return redactedLine(text, MAX_LINE).replace(/[\\`*_{}[\]()#+!<>|~$&]/g, (char) => `\\${char}`);
}

function code(text: string): string {
  const shown = redactedLine(text, MAX_LINE).replaceAll('`', "'");
  return shown === '' ? '–' : `\`${shown}\``;
}

/** Puts text of the agent on one line, without known secrets. */
function redactedLine(text: string, most: number): string {
  const line = revealControls(redact(text).replace(/\s+/g, ' ').trim()).toWellFormed();
  return line.length > most ? `${line.slice(0, most).toWellFormed()}…` : line;
}

const KINDS = { sent: 'out', received: 'in', noise: 'noise', note: 'stderr' } as const;

export async function recordWire(lines: readonly WireLine[], agent: string, version: string): Promise<string> {
  const entries = lines.map(({ n, ms, dir, text, message }): TrafficEntry => {
    const line = message ? JSON.stringify(message) : text;
    return { seq: n, at: ms, key: 'check', kind: KINDS[dir], text: line, length: line.length };
  });
  return writeRecording(await cleanMessages(entries), [], { agent: redact(agent), version });
}
