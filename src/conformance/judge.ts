// Judges the wire of an agent by all rules.
import { lifecycleRules } from './rules/lifecycleRules';
import { permissionRules } from './rules/permissionRules';
import { promptRules } from './rules/promptRules';
import {
  type Finding,
  GROUPS,
  type Group,
  groupOf,
  notShown,
  offersOf,
  type ProtocolVersion,
  type Rule,
  type Seen,
} from './rules/rule';
import { sessionRules } from './rules/sessionRules';
import { startRules } from './rules/startRules';
import { readyRules, statusRules } from './rules/statusRules';
import { turnCompleteRules } from './rules/turnCompleteRules';
import { wireRules } from './rules/wireRules';
import { livesOf, resultOf, succeeded } from './wire/life';
import { turnsOf } from './wire/turns';
import type { WireLine } from './wire/wireLog';

export interface RuleVerdict extends Finding {
  readonly id: string;
  readonly group: Group;
  readonly rule: string;
  readonly place: string;
}

export const RULES: readonly Rule[] = [
  ...wireRules,
  ...startRules,
  ...promptRules,
  ...permissionRules,
  ...sessionRules,
  ...readyRules,
  ...statusRules,
  ...turnCompleteRules,
  ...lifecycleRules,
].sort((one, other) => GROUPS.indexOf(groupOf(one)) - GROUPS.indexOf(groupOf(other)));

/** Judged even if the agent was not initialized. */
const BEFORE_INITIALIZE: readonly Group[] = ['wire', 'initialize'];

export function judgeWire(lines: readonly WireLine[], version: ProtocolVersion): readonly RuleVerdict[] {
  const seen = readWire(lines, version);
  return RULES.filter((rule) => rule.version === undefined || rule.version === version).map((rule) => ({
    id: rule.id,
    group: groupOf(rule),
    rule: rule.rule,
    place: typeof rule.place === 'string' ? rule.place : rule.place[version],
    ...(seen.isInitialized || BEFORE_INITIALIZE.includes(groupOf(rule))
      ? rule.judge(seen)
      : notShown('the agent was not initialized')),
  }));
}

function readWire(lines: readonly WireLine[], version: ProtocolVersion): Seen {
  const lives = livesOf(lines);
  const calls = lives.flatMap((life) => life.calls);
  const questions = lives.flatMap((life) => life.questions);
  const initialize = calls.find((call) => call.method === 'initialize' && succeeded(call));
  return {
    version,
    lives,
    turns: lives.flatMap((life) => turnsOf(life, version)),
    isInitialized: initialize !== undefined,
    offers: offersOf(initialize && resultOf(initialize), version),
    calls: (method) => calls.filter((call) => call.method === method),
    questions: (method) => questions.filter((question) => question.method === method),
  };
}
