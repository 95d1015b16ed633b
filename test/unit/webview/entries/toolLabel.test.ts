// The one-line label of a tool call.
import assert from 'node:assert/strict';
import { type ToolItem, toolLabel } from '../../../../src/webview/entries/toolLabel';

function tool(patch: Partial<ToolItem>): ToolItem {
  return {
    kind: 'tool',
    id: 'c',
    at: 1000,
    title: '',
    toolKind: 'other',
    status: 'completed',
    content: [],
    locations: [],
    hasRaw: false,
    ...patch,
  };
}

const line = (patch: Partial<ToolItem>): string => {
  const { verb, object } = toolLabel(tool(patch));
  return `${verb}|${object}`;
};

describe('webview/toolLabel', () => {
  it('names the lines that were read, unless the title does', () => {
    const locations = [{ path: '/w/src/a.ts', label: 'src/a.ts', line: 10 }];
    const read = { toolKind: 'read', locations, lines: '10–20' };
    assert.equal(line({ ...read, title: 'Read /w/src/a.ts' }), 'Read|src/a.ts:10–20');
    assert.equal(line({ ...read, title: 'Read File' }), 'Read|src/a.ts:10–20');
    assert.equal(line({ ...read, title: 'Read src/a.ts (10 - 20)' }), 'Read|src/a.ts (10 - 20)');
  });

  it("escapes hidden characters in the chosen option, and in a subagent's text", () => {
    const name = 'yes\u202eon';
    const content = [{ type: 'content', block: { type: 'text', text: name } }] as const;
    const words = toolLabel(tool({ toolKind: 'subagent', content, decision: { outcome: 'selected', name } }));
    assert.ok(![words.lastText, ...words.details].join('').includes('\u202e'));
    assert.match(words.lastText, /^yes.+on$/);
  });

  it('shows how long a call waited for the user if at least a second', () => {
    const words = (waitedMs: number) => {
      const { time, details } = toolLabel(tool({ at: 0, endedAt: 34_000, waitedMs }));
      return [time, ...details];
    };
    assert.deepEqual(words(33_000), ['34 s', '34 s (33 s waiting for you)']);
    assert.deepEqual(words(900), ['34 s']);
  });

  it('does not repeat the verb', () => {
    assert.equal(line({ toolKind: 'read', title: 'Read src/a.ts' }), 'Read|src/a.ts');
    assert.equal(line({ toolKind: 'read', title: 'Reading file: src/a.ts' }), 'Read|src/a.ts');
    assert.equal(line({ toolKind: 'edit', title: 'Write `src/a.ts`' }), 'Edit|src/a.ts');
    assert.equal(line({ toolKind: 'execute', title: '`npm run test`' }), 'Run|npm run test');
    assert.equal(line({ toolKind: 'execute', title: 'run-parts /etc' }), 'Run|run-parts /etc');
    assert.equal(line({ toolKind: 'think', title: 'Thinking' }), 'Think|');
  });

  it('shows a path as shortened by the host', () => {
    const locations = [{ path: '/work/app/src/a.ts', label: 'src/a.ts' }];
    assert.equal(line({ toolKind: 'read', title: 'Read /work/app/src/a.ts', locations }), 'Read|src/a.ts');
    assert.equal(line({ toolKind: 'read', title: 'Read', locations }), 'Read|src/a.ts');
  });

  it('shows the name of a tool of unknown kind', () => {
    assert.equal(line({ toolKind: 'other', name: 'mcp__db__query', title: 'select 1' }), 'mcp__db__query|select 1');
    assert.equal(line({ toolKind: 'quantum', title: 'Entangle' }), 'Tool|Entangle');
  });

  it("labels calls of the editor's tools by their function", () => {
    const locations = [{ path: '/w/src/a.ts', label: 'src/a.ts' }];
    const words = (editor: NonNullable<ToolItem['editor']>): string => {
      const { verb, object, facts } = toolLabel(
        tool({
          title: 'mcp__parley__x',
          toolKind: 'other',
          editor,
          locations: editor.tool === 'hover' ? [] : locations,
        }),
      );
      return [verb, object, ...facts].join('|');
    };
    assert.equal(
      words({ tool: 'get_diagnostics', subject: 'src/a.ts', result: { errors: 3, warnings: 1 } }),
      'Problems|src/a.ts|3 errors, 1 warning',
    );
    assert.equal(
      words({ tool: 'get_diagnostics', result: { errors: 0, warnings: 0 } }),
      'Problems|src/a.ts|No problems',
    );
    assert.equal(
      words({ tool: 'find_references', subject: 'area', result: { found: 22 } }),
      'References|area|22 found',
    );
    assert.equal(words({ tool: 'hover', subject: 'area' }), 'Type|area');
  });

  it('shows a rejection in the line, and an exit code only if the command failed', () => {
    const terminal = { id: 't', output: '', truncated: false, running: false, exitCode: 0, openable: false };
    const content = [{ type: 'terminal', terminal }] as const;
    assert.deepEqual(toolLabel(tool({ content })).facts, []);
    assert.deepEqual(toolLabel(tool({ content, decision: { outcome: 'rejected', rule: 'x' } })).facts, ['Rejected']);
  });

  it('shows how the call ended', () => {
    const diff = { path: '/a', label: 'a', isNew: false, added: 2, removed: 1, hunks: [] };
    const terminal = { id: 't', output: '', truncated: false, running: false, exitCode: 1, openable: false };
    const words = toolLabel(
      tool({
        decision: { outcome: 'allowed' },
        endedAt: 1400,
        content: [
          { type: 'diff', diff },
          { type: 'terminal', terminal },
        ],
      }),
    );
    assert.deepEqual(words.details, ['Allowed']);
    assert.deepEqual(words.facts, ['Exit code 1', '+2 −1']);
    assert.equal(words.time, '0.4 s');
  });
});
