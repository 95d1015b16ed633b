// The troubleshooting report in Markdown, without secrets, home folder and user name.
import * as l10n from '@vscode/l10n';
import type { KnownSecrets } from '../base/knownSecrets';
import { knownSecrets, redact } from '../base/redact';
import { revealControls } from '../base/revealControls';
import type { CheckResult, Outcome } from './checks/check';

const MAX_TEXT = 2_000;
/** Minimum length of a user name to remove: shorter ones occur in too many words. */
const MIN_NAME = 3;

export interface ReportUser {
  readonly homes: readonly string[];
  readonly name: string;
}

type ReportFacts = readonly (readonly [name: string, value: string])[];

export function outcomeLabel(outcome: Outcome): string {
  return {
    ok: l10n.t('OK'),
    warning: l10n.t('Warning'),
    problem: l10n.t('Problem'),
    unchecked: l10n.t('Not checked'),
  }[outcome];
}

export function writeReport(
  facts: ReportFacts,
  results: readonly CheckResult[],
  user: ReportUser,
  known: KnownSecrets = knownSecrets,
): string {
  const clean = (text: string): string => withoutUser(redact(text, known), user);
  const lines = [`# ${l10n.t('Parley report')}`, '', ...table(facts, clean), ''];
  for (const { title, outcome, found, advice, facts: details = [], ms } of results) {
    lines.push(`## ${plain(title)}: ${outcomeLabel(outcome)}`, '', plain(clean(found)), '');
    if (advice) lines.push(plain(clean(advice)), '');
    lines.push(...table([...details, [l10n.t('Time'), l10n.t('{0} ms', ms)]], clean), '');
  }
  return lines.join('\n');
}

function table(facts: ReportFacts, clean: (text: string) => string): readonly string[] {
  return facts.map(([name, value]) => `- ${plain(name)}: ${code(clean(value))}`);
}

function plain(text: string): string {
  return bounded(text).replace(/[\\`*_{}[\]()#+!<>|~$&-]/g, (char) => (char === '-' ? char : `\\${char}`));
}

function code(text: string): string {
  const shown = bounded(text);
  if (shown === '') return '–';
  const longest = Math.max(0, ...[...shown.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${shown}${fence}` : `${fence} ${shown} ${fence}`;
}

function bounded(text: string): string {
  const line = revealControls(text.replace(/\s+/g, ' ').trim()).toWellFormed();
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT).toWellFormed()}…` : line;
}

/** Replaces the home folder with `~`, and removes the user's name from paths. */
export function withoutUser(text: string, { homes, name }: ReportUser): string {
  const spellings = new Set(
    homes
      .filter((home) => home.length > 1)
      .flatMap((home) => {
        const slashes = home.replaceAll('\\', '/');
        return [home, slashes, home.replaceAll('\\', '\\\\'), encodeURI(slashes), encodeURIComponent(home)];
      }),
  );
  let clean = text;
  for (const home of [...spellings].sort((one, other) => other.length - one.length)) {
    const ends = home.replace(/[\\/]+$/, '');
    if (ends !== '') clean = clean.replace(new RegExp(`${escaped(ends)}(?![\\w.-])`, 'gi'), '~');
  }
  if (name.length < MIN_NAME) return clean;
  return clean.replace(new RegExp(`(?<=[\\\\/:@-]|%2F|%5C)${escaped(name)}(?![\\w.])`, 'gi'), '~');
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}
