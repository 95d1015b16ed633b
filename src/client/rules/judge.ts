// Answers permission requests by rules, and offers a rule for a request.
import { dirname, resolve } from 'node:path';
import type { PermissionAsk } from '../../acp/protocol/dialect';
import type { PermissionRuleOffer } from '../../session/events/content';
import { matchesPath } from '../requests/glob';
import type { Judgement } from '../requests/permissionRequestHandler';
import { isProtected } from '../requests/protectedPaths';
import { isForeignShare, isInsideRoots, realTarget } from '../requests/roots';
import { type NamedInRequest, namedBy, namesFileOf, touches } from './narrowing';
import { ALLOWABLE_KINDS, type PermissionRule, ruleLabel } from './permissionRule';
import { isPlainPath, type RequestSubject, type SessionPlace, subjectOf, within } from './requestSubject';
import { matchesWords } from './runners';

export interface RuleSet {
  readonly user: readonly PermissionRule[];
  /** They can only narrow the user's rules. */
  readonly workspace: readonly (readonly PermissionRule[])[];
  readonly isTrusted: boolean;
}

export interface JudgedSession extends SessionPlace {
  readonly agentId: string;
}

const STRICTNESS = { allow: 0, ask: 1, reject: 2 } as const;

/** @returns no action if the user decides */
export async function judge(asked: PermissionAsk, rules: RuleSet, session: JudgedSession): Promise<Judgement> {
  const proven = await provenSubject(asked, session);
  const allowing = rules.isTrusted ? proven : undefined;
  let named: Promise<NamedInRequest> | undefined;
  const fits = async (rule: PermissionRule): Promise<boolean> => {
    if (rule.agent !== undefined && rule.agent !== session.agentId) return false;
    if (rule.action === 'allow') return allows(rule, allowing, session);
    named ??= namedBy(asked, session);
    return touches(rule, await named, session);
  };
  const verdicts: PermissionRule[] = [];
  for (const [at, list] of [rules.user, ...rules.workspace].entries())
    for (const rule of list) {
      if (at > 0 && rule.action === 'allow') continue;
      if (await fits(rule)) {
        verdicts.push(rule);
        break;
      }
      // Rules for commands can't allow access to a rejected file.
      const run = allowing?.subject.kind === 'execute' && allowing.subject;
      if (run && (await namesFileOf(rule, run, session))) verdicts.push({ ...rule, action: 'ask' });
    }
  const strictest = verdicts.sort((a, b) => STRICTNESS[b.action] - STRICTNESS[a.action])[0];
  // Automatic answers are shown at the tool call; without one, the user decides.
  const isShown = asked.toolCallId !== undefined && asked.patch !== undefined;
  if (strictest && strictest.action !== 'ask' && isShown)
    return { action: strictest.action, rule: ruleLabel(strictest) };
  const offer = strictest || !rules.isTrusted || !proven ? undefined : offerFor(proven, session);
  return offer ? { offer } : {};
}

export async function wouldAllow(rule: PermissionRule, asked: PermissionAsk, session: JudgedSession): Promise<boolean> {
  const isItsAgent = rule.agent === undefined || rule.agent === session.agentId;
  return isItsAgent && allows(rule, await provenSubject(asked, session), session);
}

interface Proven {
  readonly subject: RequestSubject;
  /** Resolved paths in the subject's order; empty for commands. */
  readonly targets: readonly string[];
  readonly realRoots: readonly string[];
}

/** Undefined unless its files are in the session's folders and unprotected. */
async function provenSubject(asked: PermissionAsk, session: JudgedSession): Promise<Proven | undefined> {
  const subject = asked.toolCallId === undefined ? undefined : subjectOf(asked, session);
  if (!subject) return undefined;
  const { roots } = session;
  try {
    const realRoots = await Promise.all(roots.map((root) => realTarget(root)));
    if (subject.kind === 'execute') {
      const isInside =
        !isForeignShare(subject.cwd, roots) && (await isInsideRoots(await realTarget(subject.cwd), roots));
      return isInside ? { subject, targets: [], realRoots } : undefined;
    }
    const targets: string[] = [];
    for (const path of subject.paths) {
      if (isForeignShare(path, roots)) return undefined;
      const target = await realTarget(path);
      if (!(await isInsideRoots(target, roots)) || (await isProtected(path, target, roots))) return undefined;
      targets.push(target);
    }
    return { subject, targets, realRoots };
  } catch {
    return undefined; // the user decides if a path can't be looked up
  }
}

function allows(
  { kind, pattern, folder }: PermissionRule,
  proven: Proven | undefined,
  session: JudgedSession,
): boolean {
  if (!proven || pattern === undefined || !ALLOWABLE_KINDS.includes(kind) || kind !== proven.subject.kind) return false;
  const { subject, targets, realRoots } = proven;
  const roots = session.roots.map((root) => resolve(root));
  const at = folder === undefined ? undefined : roots.indexOf(resolve(folder));
  if (at === -1) return false;
  if (subject.kind === 'execute')
    return (folder === undefined || resolve(subject.cwd) === resolve(folder)) && matchesWords(pattern, subject.words);
  // The written path and its target must both match, from the same folder.
  const places = at === undefined ? roots.map((_, index) => index) : [at];
  return subject.paths.every((path, index) =>
    places.some((place) => {
      const [written, real] = [within(roots[place]!, path), within(realRoots[place]!, targets[index]!)];
      return written !== undefined && real !== undefined && matchesPath(pattern, written) && matchesPath(pattern, real);
    }),
  );
}

function offerFor(
  { subject, targets, realRoots }: Proven,
  { cwd, roots }: JudgedSession,
): PermissionRuleOffer | undefined {
  if (subject.kind === 'execute') {
    const folder = [cwd, ...roots].find((each) => resolve(each) === resolve(subject.cwd));
    return folder === undefined ? undefined : { kind: 'execute', pattern: subject.words.join(' '), folder };
  }
  for (const [index, root] of roots.entries()) {
    if (!isPlainPath(root)) continue;
    const relativePaths = subject.paths.map((path) => within(root, path));
    const real = targets.map((path) => within(realRoots[index]!, path));
    if (!relativePaths.every((path, at) => path !== undefined && path === real[at])) continue;
    const pattern = commonPattern(relativePaths.filter((path) => path !== undefined));
    if (pattern !== undefined) return { kind: subject.kind, pattern, folder: root };
  }
  return undefined;
}

/** Returns a glob for the common folder; without one, files are named. */
function commonPattern(paths: readonly string[]): string | undefined {
  const [first, ...others] = paths;
  if (first === undefined || paths.some((path) => path.includes('*'))) return undefined;
  let folder = dirname(first);
  while (folder !== '.' && !others.every((path) => path.startsWith(`${folder}/`))) folder = dirname(folder);
  if (folder !== '.') return `${folder}/**`;
  return others.length === 0 ? first : undefined;
}
