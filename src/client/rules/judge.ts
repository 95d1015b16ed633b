// Decides by rules what becomes of a permission request, and which rule could be made of it.
import { dirname, resolve } from 'node:path';
import type { PermissionAsk } from '../../acp/protocol/dialect';
import { at } from '../../base/untrusted';
import type { PermissionRuleOffer } from '../../session/events/content';
import type { Judgement } from '../requests/judgement';
import { isProtected } from '../requests/protectedPaths';
import { isForeignShare, isInsideRoots, realTarget } from '../requests/roots';
import { matchesWords } from './commandWords';
import { matchesPath, matchesText } from './glob';
import { ALLOWABLE_KINDS, type PermissionRule, ruleLabel } from './permissionRule';
import { isPlainPath, type RequestSubject, type SessionPlace, subjectOf, within } from './requestSubject';

/** The rules that count now. */
export interface RuleSet {
  /** Those of the user, in order: the first that fits decides. */
  readonly user: readonly PermissionRule[];
  /** Those of workspaces and folders: they only narrow what the user's rules say. */
  readonly workspace: readonly (readonly PermissionRule[])[];
  /** False: no rule allows. */
  readonly isTrusted: boolean;
}

export interface JudgedSession extends SessionPlace {
  readonly agentId: string;
}

const STRICTNESS = { allow: 0, ask: 1, reject: 2 } as const;

/** Judges a request. @returns no action where the user is to be asked */
export async function judge(asked: PermissionAsk, rules: RuleSet, session: JudgedSession): Promise<Judgement> {
  const shown = shownBy(asked);
  const proven = await provenSubject(asked, session);
  const allowing = rules.isTrusted ? proven : undefined;
  const verdicts = [
    rules.user.find((rule) => fits(rule, allowing, shown, session)),
    ...rules.workspace.map((list) =>
      list.find((rule) => rule.action !== 'allow' && fits(rule, allowing, shown, session)),
    ),
  ].filter((rule) => rule !== undefined);
  const strictest = verdicts.sort((a, b) => STRICTNESS[b.action] - STRICTNESS[a.action])[0];
  // An automatic answer is shown at its tool call: without one, the user is asked.
  const isShown = asked.toolCallId !== undefined && asked.patch !== undefined;
  if (strictest && strictest.action !== 'ask' && isShown)
    return { action: strictest.action, rule: ruleLabel(strictest) };
  const offer = strictest || !rules.isTrusted || !proven ? undefined : offerFor(proven, session);
  return offer ? { offer } : {};
}

/** Returns whether a rule that a request offers would allow another request. */
export async function wouldAllow(rule: PermissionRule, asked: PermissionAsk, session: JudgedSession): Promise<boolean> {
  const proven = await provenSubject(asked, session);
  return fits(rule, proven, shownBy(asked), session);
}

/** A subject with where its paths really lead, each relative to the session's folders. */
interface Proven {
  readonly subject: RequestSubject;
  /** Real paths, in the order of the subject's; empty for commands. */
  readonly targets: readonly string[];
  /** Real folders, in the order of the session's. */
  readonly realRoots: readonly string[];
}

/** Returns the subject of a request if its files are in the session's folders and unprotected. */
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
    return undefined; // what cannot be looked up is asked about
  }
}

function fits(rule: PermissionRule, proven: Proven | undefined, shown: Shown, session: JudgedSession): boolean {
  if (rule.agent !== undefined && rule.agent !== session.agentId) return false;
  return rule.action === 'allow' ? allows(rule, proven, session) : touches(rule, shown, session);
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
  // Both the path as it is written and where it leads, from the same folder.
  const places = at === undefined ? roots.map((_, index) => index) : [at];
  return subject.paths.every((path, index) =>
    places.some((place) => {
      const [written, real] = [within(roots[place]!, path), within(realRoots[place]!, targets[index]!)];
      return written !== undefined && real !== undefined && matchesPath(pattern, written) && matchesPath(pattern, real);
    }),
  );
}

/** All that a request names, without proof: enough to be careful. */
interface Shown {
  readonly kinds: readonly string[];
  readonly commands: readonly string[];
  readonly paths: readonly string[];
}

const SHOWN_PATHS = ['file_path', 'filePath', 'filepath', 'path', 'abs_path', 'notebook_path', 'cwd', 'workdir'];

function shownBy({ patch, command }: PermissionAsk): Shown {
  const raw = patch?.rawInput;
  const given = at(raw, 'command');
  const line = Array.isArray(given) ? given.filter((word) => typeof word === 'string').join(' ') : given;
  const lines = [command?.line, line].filter((one) => typeof one === 'string');
  // Each command of a line, so that one behind `&&` counts too.
  const commands = lines.flatMap((one) => [one, ...one.split(/[;&|\n\r`(){}]+/)]).map((one) => one.trim());
  const diffs = (patch?.content ?? []).flatMap((part) => (part.type === 'diff' ? [part] : []));
  const changes = at(raw, 'changes');
  const paths = [
    ...diffs.flatMap(({ path, oldPath }) => (oldPath === undefined ? [path] : [path, oldPath])),
    ...(patch?.locations ?? []).map(({ path }) => path),
    ...SHOWN_PATHS.map((name) => at(raw, name)).filter((one) => typeof one === 'string'),
    ...(typeof changes === 'object' && changes !== null ? Object.keys(changes) : []),
  ];
  const kinds = [
    patch?.kind ?? 'other',
    ...(lines.length > 0 ? ['execute'] : []),
    ...(diffs.length > 0 ? ['edit'] : []),
  ];
  return { kinds, commands, paths };
}

/** Returns whether a rule that narrows has to do with a request. */
function touches({ kind, pattern, folder }: PermissionRule, shown: Shown, { cwd, roots }: JudgedSession): boolean {
  if (kind !== '*' && !shown.kinds.includes(kind)) return false;
  if (folder !== undefined && ![cwd, ...roots].some((root) => resolve(root) === resolve(folder))) return false;
  if (pattern === undefined) return true;
  if (shown.commands.some((command) => matchesText(pattern, command))) return true;
  const bases = folder === undefined ? roots : [folder];
  return shown.paths.some((path) => {
    const whole = resolve(cwd, path);
    const ways = bases.flatMap((base) => within(base, whole) ?? []);
    return [whole, ...ways].some((way) => matchesPath(pattern, way) || matchesText(pattern, way));
  });
}

/** Returns the narrowest rule that allows a subject again; undefined where none would. */
function offerFor(
  { subject, targets, realRoots }: Proven,
  { cwd, roots }: JudgedSession,
): PermissionRuleOffer | undefined {
  if (subject.kind === 'execute') {
    const folder = [cwd, ...roots].find((one) => resolve(one) === resolve(subject.cwd));
    return folder === undefined ? undefined : { kind: 'execute', pattern: subject.words.join(' '), folder };
  }
  for (const [index, root] of roots.entries()) {
    if (!isPlainPath(root)) continue;
    const ways = subject.paths.map((path) => within(root, path));
    const real = targets.map((path) => within(realRoots[index]!, path));
    if (!ways.every((way, at) => way !== undefined && way === real[at])) continue;
    const pattern = commonPattern(ways.filter((way) => way !== undefined));
    if (pattern !== undefined) return { kind: subject.kind, pattern, folder: root };
  }
  return undefined;
}

/** Returns a glob for the folder of all paths; files that lie in no folder are named. */
function commonPattern(ways: readonly string[]): string | undefined {
  const [first, ...others] = ways;
  if (first === undefined || ways.some((way) => way.includes('*'))) return undefined;
  let folder = dirname(first);
  while (folder !== '.' && !others.every((way) => way.startsWith(`${folder}/`))) folder = dirname(folder);
  if (folder !== '.') return `${folder}/**`;
  return others.length === 0 ? first : undefined;
}
