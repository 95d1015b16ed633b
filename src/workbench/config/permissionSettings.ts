// Reads permission rules from settings for each request, and edits those of the user.
import { ConfigurationTarget, workspace } from 'vscode';
import type { RuleSet } from '../../client/rules/judge';
import { type PermissionRule, readRules, sameRule } from '../../client/rules/permissionRule';
import { folderValues, userValue } from './folderSettings';

const KEY = 'permissions';

export function permissionRules(): RuleSet {
  return {
    user: readRules(userValue(KEY)).map(({ rule }) => rule),
    workspace: folderValues(KEY).map(({ value }) => readRules(value).map(({ rule }) => rule)),
    isTrusted: workspace.isTrusted,
  };
}

export function workspaceRules(): readonly { readonly rule: PermissionRule; readonly file: string }[] {
  return folderValues(KEY).flatMap(({ value, file }) => readRules(value).map(({ rule }) => ({ rule, file })));
}

export async function addRule(rule: PermissionRule): Promise<void> {
  const all = rulesAsWritten();
  if (!readRules(all).some((one) => sameRule(one.rule, rule))) await write([...all, rule]);
}

/** Preserves unreadable entries. */
export async function removeRule(rule: PermissionRule): Promise<void> {
  const all = rulesAsWritten();
  const removedIndexes = new Set(readRules(all).flatMap((one) => (sameRule(one.rule, rule) ? [one.index] : [])));
  await write(all.filter((_, index) => !removedIndexes.has(index)));
}

function rulesAsWritten(): readonly unknown[] {
  const value = userValue(KEY);
  return Array.isArray(value) ? value : [];
}

async function write(rules: readonly unknown[]): Promise<void> {
  const value = rules.length > 0 ? rules : undefined;
  await workspace.getConfiguration('parley').update(KEY, value, ConfigurationTarget.Global);
}
