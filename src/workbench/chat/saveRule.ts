// Creates a permission rule from an open request, after a dialog.

import { relative } from 'node:path';
import { l10n } from 'vscode';
import { oneLine } from '../../base/text';
import type { Conversation } from '../../client/conversation/conversation';
import { type JudgedSession, wouldAllow } from '../../client/rules/judge';
import { isAnswered, type PastRequest, pastRequests, requestOf } from '../../client/rules/pastRequests';
import type { PermissionRule } from '../../client/rules/permissionRule';
import { subjectOf } from '../../client/rules/requestSubject';
import { addRule } from '../config/permissionSettings';
import type { Workbench } from '../core/workbench';
import { Archive } from '../sessions/archive';
import { Conversations } from '../sessions/conversations';
import { askModal } from '../ui/messages';

const MAX_EXAMPLES = 3;

/** @returns false if the request is no longer open */
export async function saveRule(workbench: Workbench, conversation: Conversation, id: string): Promise<boolean> {
  const offer = conversation.model.state.permissions.get(id)?.ruleOffer;
  if (!offer) return false;
  const rule: PermissionRule = { ...offer, action: 'allow', since: new Date().toISOString().slice(0, 10) };
  const past = await pastOf(rule, workbench.get(Conversations).list(), workbench.get(Archive));
  const save = l10n.t('Save Rule');
  if ((await askModal(questionOf(rule), detailOf(rule, past), [save])) !== save) return true;
  // It may have been answered; the rule is saved anyway.
  const asked = conversation.model.state.permissions.get(id);
  await addRule(rule);
  const once = asked?.options.find(({ kind }) => kind === 'allow_once');
  if (once) conversation.answerPermission(id, once.optionId);
  return asked !== undefined;
}

function questionOf({ kind, pattern = '' }: PermissionRule): string {
  if (kind === 'execute') return l10n.t('Always allow agents to run “{0}”?', pattern);
  return kind === 'edit'
    ? l10n.t('Always allow agents to edit “{0}”?', pattern)
    : l10n.t('Always allow agents to read “{0}”?', pattern);
}

function detailOf({ kind, folder = '' }: PermissionRule, { asked, allowed }: RulePast): string {
  const examples = [...new Set(allowed)].slice(0, MAX_EXAMPLES);
  const means =
    kind === 'execute'
      ? l10n.t(
          'Exactly this command, in {0}. The command runs whatever its scripts contain, also what agents write.',
          folder,
        )
      : l10n.t(
          'In {0}. Files that can start programs, such as those in .git and .vscode, are always asked about.',
          folder,
        );
  return [means, '', recordOf(asked, allowed.length), ...examples.map((one) => `• ${one}`)].join('\n');
}

function recordOf(asked: number, allowed: number): string {
  if (asked === 0) return l10n.t('No earlier requests are known.');
  if (asked > 1) return l10n.t('The rule would have allowed {0} of your last {1} requests.', allowed, asked);
  return allowed === 1
    ? l10n.t('The rule would have allowed your only earlier request.')
    : l10n.t("The rule wouldn't have allowed your only earlier request.");
}

const MAX_PAST = 50;
const MAX_SESSIONS = 200;
const MAX_ROWS = 20_000;
const MAX_MS = 1500;
const MAX_EXAMPLE = 120;

interface RulePast {
  readonly asked: number;
  readonly allowed: readonly string[];
}

type Kept = Pick<Archive, 'all' | 'eventsOf'>;

interface PlacedRequest extends PastRequest {
  readonly place: JudgedSession;
}

export async function pastOf(rule: PermissionRule, sessions: readonly Conversation[], kept: Kept): Promise<RulePast> {
  const found: PlacedRequest[] = sessions.flatMap(({ model, cwd, roots, agent }) =>
    model.state.entries.flatMap((entry) =>
      entry.kind === 'tool' && entry.decision && isAnswered(entry.decision)
        ? [{ at: entry.at, asked: requestOf(entry), place: { cwd, roots, agentId: agent.id } }]
        : [],
    ),
  );
  const open = new Set(sessions.map(({ key }) => key));
  for await (const request of storedRequests(kept, open, (at) => found.filter((other) => other.at > at).length))
    found.push(request);
  const latest = found.sort((a, b) => b.at - a.at).slice(0, MAX_PAST);
  const allowed: string[] = [];
  for (const { asked, place } of latest)
    if (await wouldAllow(rule, asked, place)) allowed.push(oneLine(labelOf({ asked, place }), MAX_EXAMPLE));
  return { asked: latest.length, allowed };
}

/** Labels a request without using the agent's title. */
function labelOf({ asked, place }: Pick<PlacedRequest, 'asked' | 'place'>): string {
  const subject = subjectOf(asked, place);
  if (subject?.kind === 'execute') return subject.words.join(' ');
  return subject?.paths.map((path) => relative(place.cwd, path)).join(', ') ?? '';
}

async function* storedRequests(
  kept: Kept,
  open: ReadonlySet<string>,
  newer: (at: number) => number,
): AsyncGenerator<PlacedRequest, void, undefined> {
  const signal = AbortSignal.timeout(MAX_MS);
  let left = MAX_SESSIONS;
  for (const { key, cwd, roots, agentId, updatedAt, lastSeq } of kept.all()) {
    if (signal.aborted || left-- === 0 || newer(updatedAt) >= MAX_PAST) return;
    if (open.has(key)) continue;
    let count = 0;
    for await (const request of pastRequests({ lastSeq, read: kept.eventsOf(key) }, MAX_ROWS, signal)) {
      yield { ...request, place: { cwd, roots, agentId } };
      if (++count === MAX_PAST) break;
    }
  }
}
