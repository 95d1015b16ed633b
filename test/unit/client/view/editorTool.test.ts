// Calls of the editor's tools, under the names that agents use.
import assert from 'node:assert/strict';
import { join, resolve } from 'node:path';
import { editorToolOf, editorToolPlace } from '../../../../src/client/view/editorTool';
import { TOOL_NAMES } from '../../../../src/editorTools/tools';
import type { ToolEntry } from '../../../../src/session/model/state';
import { sameData } from '../../../support/sameData';

const entry = (patch: Partial<ToolEntry>): ToolEntry =>
  ({ toolCallId: 'c', title: '', content: [], locations: [], status: 'completed', ...patch }) as ToolEntry;
const answer = (text: string): Partial<ToolEntry> => ({
  content: [{ type: 'content', block: { type: 'text', text } }],
});

describe('calls of the editor’s tools', () => {
  it('are recognized by the names that agents give them', () => {
    for (const tool of TOOL_NAMES)
      for (const patch of [
        { title: `mcp__parley__${tool}` },
        { name: `mcp__parley__${tool}`, title: 'Something' },
        { title: `parley_${tool}` },
        { title: `mcp.parley.${tool}` },
        { title: `${tool} (parley MCP Server)` },
        { title: 'x', toolCallId: `mcp_parley_${tool}__fc1bf46ae2804366c977` },
      ])
        assert.equal(editorToolOf(entry(patch))?.tool, tool, JSON.stringify(patch));
  });

  it('don’t include any other call', () => {
    for (const patch of [
      { title: 'mcp__other__get_diagnostics' },
      { title: 'mcp__parley__delete_everything' },
      { title: 'mcp__parley__toString' },
      { title: 'Read parley/src/format.ts' },
      { title: 'Rename area to surface', toolCallId: 'parley-3b1d' },
      { title: `${'x'.repeat(100_000)} mcp__parley__hover` },
    ])
      assert.equal(editorToolOf(entry(patch)), undefined, JSON.stringify(patch).slice(0, 100));
  });

  it('are described by their subject and result', () => {
    const call = (title: string, rawInput: unknown, text: string) =>
      editorToolOf(entry({ title: `parley_${title}`, rawInput, ...answer(text) }));
    assert.deepEqual(call('get_diagnostics', { path: 'src/a.ts' }, '3 errors, 1 warning in src/a.ts\nsrc/a.ts:1:1'), {
      tool: 'get_diagnostics',
      subject: 'src/a.ts',
      result: { errors: 3, warnings: 1 },
    });
    sameData(call('get_diagnostics', {}, 'No problems; files that'), {
      tool: 'get_diagnostics',
      result: { errors: 0, warnings: 0 },
    });
    assert.deepEqual(
      call('find_references', { server: 'parley', arguments: { symbol: 'area', path: 'a' } }, '22 references of area'),
      { tool: 'find_references', subject: 'area', result: { found: 22 } },
    );
    assert.equal(call('get_diagnostics', undefined, '1 error in src/user.ts\nsrc')?.subject, 'src/user.ts');
    assert.equal(call('find_references', undefined, '5 references of area in 3 files')?.subject, 'area');
    sameData(call('hover', { symbol: 7 }, 'Whatever'), { tool: 'hover' });
  });

  it('have their file as location', () => {
    const folder = resolve('/w');
    const place = (rawInput: unknown) => editorToolPlace(entry({ rawInput }), [folder]);
    assert.deepEqual(place({ path: 'src/a.ts', line: 3 }), [{ path: join(folder, 'src', 'a.ts'), line: 3 }]);
    sameData(place({ path: join(folder, 'b.ts') }), [{ path: join(folder, 'b.ts') }]);
    assert.deepEqual(place({ path: ['x'] }), []);
    assert.deepEqual(place(undefined), []);
  });
});
