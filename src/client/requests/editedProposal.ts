// A change proposed by an agent and edited by the user before it is made: the proposed file, and
// the message to the agent about the edit.
import type { ChangeHunk } from '../../session/events/content';
import type { SessionView } from '../../session/model/model';
import { lineDiff } from './lineDiff';
import { plainEnds } from './lineEnds';
import { onlyIndexOf } from './textEdit';

const MAX_WORDS = 20_000;

export interface ProposedChange {
  readonly path: string;
  /**
   * Returns the whole file with the change; undefined if the replaced part doesn't occur exactly
   * once.
   * @param text with plain line ends; undefined: no file
   */
  in(text: string | undefined): string | undefined;
}

export function proposalOf(model: SessionView, permissionId: string): number | undefined {
  const permission = model.state.permissions.get(permissionId);
  if (!permission?.options.some(({ kind }) => kind.startsWith('reject'))) return undefined;
  const entry = model.state.entries[model.toolIndex(permission.toolCallId ?? '') ?? -1];
  if (entry?.kind !== 'tool') return undefined;
  const changes = entry.content.flatMap((part, at) => (part.type === 'diff' ? [{ at, ...part }] : []));
  const [only] = changes;
  return changes.length === 1 && ['add', 'modify'].includes(only?.operation ?? 'modify') ? only?.at : undefined;
}

export function proposalIn(model: SessionView, permissionId: string): ProposedChange | undefined {
  const at = proposalOf(model, permissionId);
  const { toolCallId = '' } = model.state.permissions.get(permissionId) ?? {};
  const entry = model.state.entries[model.toolIndex(toolCallId) ?? -1];
  const change = at !== undefined && entry?.kind === 'tool' ? entry.content[at] : undefined;
  if (change?.type !== 'diff') return undefined;
  const { path, oldText } = change;
  const before = oldText === undefined ? undefined : plainEnds(oldText);
  const after = plainEnds(change.newText);
  return {
    path,
    in(text) {
      if (before === undefined || before === text) return after;
      if (text === undefined) return undefined;
      const place = onlyIndexOf(text, before);
      return place === undefined ? undefined : text.slice(0, place) + after + text.slice(place + before.length);
    },
  };
}

/** @param proposed the whole file as the agent proposed it; `made`: as it is now */
export function editMessage(path: string, proposed: string, made: string): string {
  const introduction = `I edited your change of ${path} and saved it myself, so do not make it again. Go on from the file as it is now.`;
  const lines = lineDiff(proposed, made)?.hunks.flatMap(({ oldStart, newStart, lines: hunk }) => [
    `@@ -${oldStart} +${newStart} @@`,
    ...hunk,
  ]);
  const words = lines?.join('\n') ?? '';
  if (words === '' || words.length > MAX_WORDS) return introduction;
  const fence = '`'.repeat(Math.max(3, ...[...words.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `${introduction} What I changed in your version:\n\n${fence}diff\n${words}\n${fence}`;
}

const EDITED =
  /^I edited your change of (.{1,4096}) and saved it myself, so do not make it again\. Go on from the file as it is now\.(?: What I changed in your version:\n\n(`{3,})diff\n([\s\S]*)\n\2)?$/;

/** Parses {@link editMessage}: agents and other clients store only its text. */
export function editsIn(text: string): { readonly path: string; readonly hunks: readonly ChangeHunk[] } | undefined {
  const [, path, , words = ''] = (text.length < 2 * MAX_WORDS && EDITED.exec(text)) || [];
  if (path === undefined) return undefined;
  const hunks: { oldStart: number; newStart: number; lines: string[] }[] = [];
  for (const line of words.split('\n')) {
    const [, oldStart, newStart] = /^@@ -(\d{1,9}) \+(\d{1,9}) @@$/.exec(line) ?? [];
    if (newStart !== undefined) hunks.push({ oldStart: Number(oldStart), newStart: Number(newStart), lines: [] });
    else hunks.at(-1)?.lines.push(line);
  }
  return { path, hunks };
}
