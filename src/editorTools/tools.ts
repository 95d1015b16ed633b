// The tools for agents: names, descriptions and arguments.

import * as z from 'zod/mini';

export type ToolEffect = 'read' | 'write';

const MAX_TEXT = 2000;
const text = (about: string) => z.string().check(z.minLength(1), z.maxLength(MAX_TEXT), z.describe(about));
const count = (about: string) => z.int().check(z.gte(0), z.lte(10_000_000), z.describe(about));
const place = (about: string) => z.int().check(z.gte(1), z.lte(10_000_000), z.describe(about));
const offset = { offset: z.optional(count('Lines to skip')) };
const file = { path: text('File') };
/** By name, because models count columns badly. */
const symbol = {
  symbol: text('Name of the symbol'),
  path: z.optional(text('File that uses it')),
  line: z.optional(place('Line, from 1')),
  line_text: z.optional(text('Text of that line')),
};

function tool<S extends z.core.$ZodLooseShape>(effect: ToolEffect, about: string, shape: S) {
  return { effect, about, schema: z.object(shape) };
}

export const TOOLS = {
  get_diagnostics: tool('read', 'Errors and warnings that the editor knows, after its language servers caught up', {
    path: z.optional(text('File or folder; default: everything')),
    severity: z.optional(z.enum(['error', 'warning', 'info', 'hint']).check(z.describe('This and worse'))),
    ...offset,
  }),
  go_to_definition: tool('read', 'Where a symbol is defined', symbol),
  find_references: tool('read', 'All uses of a symbol', { ...symbol, ...offset }),
  find_implementations: tool('read', 'Implementations of an interface or method', { ...symbol, ...offset }),
  call_hierarchy: tool('read', 'Callers of a function, or what it calls', {
    ...symbol,
    direction: z.optional(z.enum(['incoming', 'outgoing'])),
    ...offset,
  }),
  hover: tool('read', 'Type and documentation of a symbol', symbol),
  document_symbols: tool('read', 'Outline of a file', { ...file, ...offset }),
  workspace_symbols: tool('read', 'Symbols of the workspace by name', { query: text('Name or part of it'), ...offset }),
  get_selection: tool('read', 'What the user has selected in the editor', {}),
  open_editors: tool('read', 'Files that the user has open', offset),
  get_unsaved: tool('read', 'Files with unsaved changes of the user', offset),
  open_file: tool('read', 'Show a file to the user', { ...file, line: z.optional(place('Line, from 1')) }),
  rename_symbol: tool('write', 'Rename a symbol everywhere; the user confirms', {
    ...symbol,
    new_name: text('New name'),
  }),
  apply_code_action: tool('write', 'List the quick fixes of a line, or apply one; the user confirms', {
    ...file,
    line: place('Line, from 1'),
    title: z.optional(text('Title of the action to apply; without it they are listed')),
  }),
  format: tool('write', 'Format a file with the formatter of the editor; the user confirms', file),
  organize_imports: tool('write', 'Sort imports and remove unused ones; the user confirms', file),
  run_tests: tool('write', 'Run tests that the editor knows; the user confirms', {
    path: z.optional(text('File with tests; default: all')),
    test: z.optional(text('Part of the name of a test')),
  }),
  test_failures: tool('read', 'Failures of the last run_tests, page by page', offset),
  run_task: tool('write', 'List the tasks of the workspace, or run one; the user confirms', {
    name: z.optional(text('Name of the task; without it they are listed')),
  }),
} as const;

export type ToolName = keyof typeof TOOLS;

export type ToolArgs<Name extends ToolName> = z.output<(typeof TOOLS)[Name]['schema']>;

export const TOOL_NAMES = Object.keys(TOOLS) as readonly ToolName[];

export function isToolName(name: string): name is ToolName {
  return Object.hasOwn(TOOLS, name);
}

/** @throws Error with a sentence for the model */
export function readArgs<Name extends ToolName>(name: Name, args: unknown): ToolArgs<Name> {
  const parsed = TOOLS[name].schema.safeParse(args ?? {});
  if (parsed.success) return parsed.data as ToolArgs<Name>;
  const [issue] = parsed.error.issues;
  throw new Error(`${issue?.path.join('.') || 'arguments'}: ${issue?.message ?? 'invalid'}`);
}

export function hasPages(name: ToolName): boolean {
  return 'offset' in TOOLS[name].schema.shape;
}

const OMITTED_KEYWORDS = ['minLength', 'maxLength', 'minimum', 'maximum'] as const;

export function listTools(names: readonly ToolName[]) {
  return names.map((name) => {
    const { about, effect, schema } = TOOLS[name];
    const { $schema, ...inputSchema } = z.toJSONSchema(schema, {
      io: 'input',
      override: ({ jsonSchema }) => {
        for (const key of OMITTED_KEYWORDS) delete jsonSchema[key];
      },
    });
    return {
      name,
      description: about,
      inputSchema: { ...inputSchema, type: 'object' as const },
      annotations: { readOnlyHint: effect === 'read', destructiveHint: false, openWorldHint: false },
    };
  });
}
