// A permission request as the caller of a run reads it.
import { strict as assert } from 'node:assert';
import { permissionQuestion } from '../../../../src/client/serving/permissionQuestion';
import { textOf } from '../../../../src/distributed/client/runParts';
import type { Permission, ToolEntry } from '../../../../src/session/model/state';

describe('the question of a served session', () => {
  it('names each file, and what is deleted or moved', () => {
    const content = [
      { type: 'diff', path: '/w/old.txt', oldText: 'x', newText: '', operation: 'delete' },
      { type: 'diff', path: '/w/b.txt', oldPath: '/w/a.txt', newText: 'x' },
      ...Array.from({ length: 5 }, (_, at) => ({ type: 'diff', path: `/w/${at}.txt`, newText: 'x' })),
    ];
    const tool = { content, locations: [] } as unknown as ToolEntry;
    const asked: Permission = { id: 'p', title: 'Edit', options: [], at: 0 };
    const text = permissionQuestion(asked, tool).map(textOf).join('\n');
    assert.match(text, /Deletes \/w\/old\.txt/);
    assert.match(text, /Makes \/w\/b\.txt of \/w\/a\.txt/);
    for (const { path } of content) assert.ok(text.includes(path), path);
  });
});
