// Permission rules as settings hold them: what they look like, and which of them count.
import { isAbsolute } from 'node:path';
import * as z from 'zod/mini';

/** Rules that are read from one place; more are left out. */
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
 * A rule of `parley.permissions`. `kind` is the kind of a tool call, or `*`; `pattern` a glob on the
 * command, or on paths relative to `folder`; `folder` an absolute folder of the session that the
 * rule is for, by default any; `agent` the id of an agent, by default all;
 * `since` the day on which it was saved, for people alone.
 */
export type PermissionRule = z.infer<typeof ruleSchema>;

/** The kinds of tool calls that can be allowed by a rule. */
export const ALLOWABLE_KINDS: readonly string[] = ['execute', 'edit', 'read'];

/** Returns the readable rules of a setting, with their positions in it, in order. */
export function readRules(value: unknown): readonly { readonly rule: PermissionRule; readonly index: number }[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MAX_RULES).flatMap((one: unknown, index) => {
    const read = ruleSchema.safeParse(one);
    return read.success ? [{ rule: read.data, index }] : [];
  });
}

/** Returns the rule as one line: what it is about, without its action. */
export function ruleLabel({ kind, pattern }: PermissionRule): string {
  return pattern === undefined ? kind : `${kind}: ${pattern}`;
}

/** Returns whether two rules say the same. */
export function sameRule(one: PermissionRule, other: PermissionRule): boolean {
  const keys = ['kind', 'pattern', 'folder', 'agent', 'action'] as const;
  return keys.every((key) => one[key] === other[key]);
}
