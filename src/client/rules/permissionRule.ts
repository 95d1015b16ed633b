// Permission rules in settings: their schema, and which of them are valid.
import { isAbsolute } from 'node:path';
import * as z from 'zod/mini';

const MAX_RULES = 500;
const MAX_PATTERN = 1000;

const ruleSchema = z.object({
  kind: z.string().check(z.minLength(1), z.maxLength(50)),
  pattern: z.optional(z.string().check(z.minLength(1), z.maxLength(MAX_PATTERN))),
  folder: z.optional(z.string().check(z.minLength(1), z.maxLength(4096), z.refine(isAbsolute))),
  agent: z.optional(z.string().check(z.minLength(1))),
  action: z.enum(['allow', 'ask', 'reject']),
  since: z.optional(z.string().check(z.maxLength(50))),
});

/**
 * A rule of `parley.permissions`. `kind`: that of a tool call, or `*`; `pattern`: a glob for the
 * command, or for paths relative to `folder`; `folder`: absolute, default any; `agent`: an id,
 * default all; `since`: the day it was saved, for display.
 */
export type PermissionRule = z.infer<typeof ruleSchema>;

export const ALLOWABLE_KINDS: readonly string[] = ['execute', 'edit', 'read'];

export function readRules(value: unknown): readonly { readonly rule: PermissionRule; readonly index: number }[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MAX_RULES).flatMap((entry: unknown, index) => {
    const read = ruleSchema.safeParse(entry);
    return read.success ? [{ rule: read.data, index }] : [];
  });
}

export function ruleLabel({ kind, pattern }: PermissionRule): string {
  return pattern === undefined ? kind : `${kind}: ${pattern}`;
}

export function sameRule(rule: PermissionRule, other: PermissionRule): boolean {
  const keys = ['kind', 'pattern', 'folder', 'agent', 'action'] as const;
  return keys.every((key) => rule[key] === other[key]);
}
