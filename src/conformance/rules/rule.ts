// A rule of the protocol or of a proposal, and its verdict on an agent.

import { advertises } from '../../acp/proposals/announced';
import { redact } from '../../base/redact';
import { at, isMarked } from '../../base/untrusted';
import { type Call, errorCode, type Life } from '../wire/life';
import type { Turn } from '../wire/turns';
import type { WireLine } from '../wire/wireLog';

export type ProtocolVersion = 1 | 2;

/** `not-offered`: the agent does not advertise what the rule is about. */
export type Verdict = 'conforms' | 'breaks' | 'not-offered' | 'not-shown';

export interface Finding {
  readonly verdict: Verdict;
  readonly found: string;
  readonly lines: readonly WireLine[];
}

export const GROUPS = [
  'wire',
  'initialize',
  'new',
  'prompt',
  'cancel',
  'permission',
  'list',
  'load',
  'resume',
  'close',
  'session/ready',
  'session/status',
  'turn_complete',
  'prompt lifecycle',
] as const;
export type Group = (typeof GROUPS)[number];

const PROPOSED: Readonly<Record<string, Group>> = {
  ready: 'session/ready',
  status: 'session/status',
  lifecycle: 'prompt lifecycle',
};

export function groupOf({ id }: Rule): Group {
  const [word = ''] = id.split('.');
  return PROPOSED[word] ?? (word as Group);
}

export interface Rule {
  readonly id: string;
  readonly rule: string;
  readonly place: string | Readonly<Record<ProtocolVersion, string>>;
  /** Default: both. */
  readonly version?: ProtocolVersion;
  judge(seen: Seen): Finding;
}

export interface Offers {
  readonly ready: boolean;
  readonly status: boolean;
  readonly turnComplete: boolean;
  readonly load: boolean;
  readonly resume: boolean;
  readonly list: boolean;
  readonly close: boolean;
}

export interface Seen {
  readonly version: ProtocolVersion;
  readonly lives: readonly Life[];
  readonly turns: readonly Turn[];
  readonly offers: Offers;
  readonly isInitialized: boolean;
  calls(method: string): readonly Call[];
  questions(method: string): readonly Call[];
}

export function conforms(found: string, ...lines: readonly (WireLine | undefined)[]): Finding {
  return { verdict: 'conforms', found, lines: present(lines) };
}

export function breaks(found: string, ...lines: readonly (WireLine | undefined)[]): Finding {
  return { verdict: 'breaks', found, lines: present(lines) };
}

export function notOffered(what: string): Finding {
  return { verdict: 'not-offered', found: `${what} is not advertised`, lines: [] };
}

export function notShown(why: string): Finding {
  return { verdict: 'not-shown', found: why, lines: [] };
}

export function each<T>(cases: readonly T[], judge: (one: T) => Finding | undefined, none: Finding): Finding {
  const findings = cases.flatMap((one) => judge(one) ?? []);
  const first =
    findings.find(({ verdict }) => verdict === 'breaks') ??
    findings.find(({ verdict }) => verdict === 'conforms') ??
    findings[0];
  if (!first) return none;
  const times = findings.filter(({ verdict }) => verdict === first.verdict).length;
  return first.verdict === 'conforms' && times > 1 ? { ...first, found: `${first.found} (${times} times)` } : first;
}

/** The prompt must be refused. */
export function refuses(prompt: Call, life?: Life, ...before: readonly WireLine[]): Finding | undefined {
  const code = errorCode(prompt);
  if (code !== undefined) return conforms(`error ${code}`, ...before, prompt.line, prompt.answer);
  return (
    unanswered(prompt, life) ??
    (prompt.answer && breaks('the prompt was accepted', ...before, prompt.line, prompt.answer))
  );
}

export function lifeOf({ lives }: Seen, { line }: Call): Life | undefined {
  return lives.find(({ lines }) => lines[0]?.life === line.life);
}

export function inBoth(place: string): Readonly<Record<ProtocolVersion, string>> {
  return { 1: `Protocol version 1, ${place}`, 2: `Protocol version 2, ${place}` };
}

export function unanswered(
  { method, line, answer, late }: Call,
  { ended }: Pick<Life, 'ended'> = {},
): Finding | undefined {
  if (answer && !late) return undefined;
  if (late) return breaks(`${method} had no answer in time`, line, late, answer);
  return ended && breaks(`the agent ended before it answered ${method}`, line, ended);
}

/** Redacts before shortening, because a truncated secret would stay. */
export function shown(value: unknown): string {
  const text = redact(JSON.stringify(value) ?? 'nothing');
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function present(lines: readonly (WireLine | undefined)[]): readonly WireLine[] {
  return lines.filter((line) => line !== undefined).sort((one, other) => one.n - other.n);
}

export function offersOf(raw: unknown, version: ProtocolVersion): Offers {
  const marked = (name: string): boolean => isMarked(at(raw, 'agentCapabilities', 'sessionCapabilities', name));
  // In version 2, these come with sessions.
  const hasSessions = version === 2 && isMarked(at(raw, 'capabilities', 'session'));
  return {
    ready: advertises(raw, 'ready'),
    status: advertises(raw, 'status'),
    turnComplete: advertises(raw, 'turnComplete'),
    load: version === 1 && at(raw, 'agentCapabilities', 'loadSession') === true,
    resume: version === 2 ? hasSessions : marked('resume'),
    list: version === 2 ? hasSessions : marked('list'),
    close: version === 2 ? hasSessions : marked('close'),
  };
}
