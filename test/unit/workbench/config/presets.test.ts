// Presets belong to the user; each folder can have a default.
import { strict as assert } from 'node:assert';
import { useFakeEditor } from '../../../support/fakeEditor';
import { memory } from '../../../support/memory';

useFakeEditor();
const { Presets } = await import('../../../../src/workbench/config/presets');

describe('presets', () => {
  let user: ReturnType<typeof memory>;
  let presets: InstanceType<typeof Presets>;
  const model = { id: 'model', value: 'large', label: 'Model: Large' };
  const mode = { value: 'plan', label: 'Plan', isMode: true, isRequired: true } as const;
  const names = (): readonly string[] => presets.list().map(({ name }) => name);

  beforeEach(() => {
    user = memory();
    presets = new Presets({ globalState: user as never, workspaceState: memory() as never });
  });

  it('are listed by name, and replaced under the same name', async () => {
    await presets.save('Careful', 'claude', [mode, model]);
    await presets.save('Average', 'codex', []);
    await presets.save('Careful', 'claude', [mode]);
    assert.deepEqual(names(), ['Average', 'Careful']);
    assert.deepEqual(presets.named('Careful')?.choices, [mode]);
  });

  it("remain a folder's preset after a rename, until deleted or replaced", async () => {
    await presets.save('Careful', 'claude', [mode]);
    await presets.save('Average', 'codex', []);
    const [average, careful] = presets.list();
    assert.ok(average && careful);
    await presets.use('/work', careful.id);
    await presets.rename(careful.id, 'Average');
    assert.deepEqual(names(), ['Average'], 'it replaces the other one of that name');
    assert.equal(presets.of('/work')?.agent, 'claude');
    assert.equal(presets.of('/elsewhere'), undefined);
    await presets.use('/work', undefined);
    assert.equal(presets.of('/work'), undefined);
    await presets.use('/work', careful.id);
    await presets.delete(careful.id);
    assert.equal(presets.of('/work'), undefined);
  });

  it('are all preserved if one is damaged, too long to read again, or one too many', async () => {
    await presets.save('Careful', 'claude', [mode]);
    const long = { id: 'model', value: 'x'.repeat(2000), label: 'Model: X' };
    for (const [name, choices] of [
      ['Long', [long]],
      ['x'.repeat(2000), []],
      [7 as never, []],
    ] as const)
      await assert.rejects(presets.save(name, 'claude', choices), /too long/);
    assert.deepEqual(names(), ['Careful']);
    await user.update('parley.presets', [...presets.list(), { name: 'Damaged' }]);
    for (let count = 1; count < 50; count++) await presets.save(`More ${count}`, 'codex', []);
    await assert.rejects(presets.save('Another', 'codex', []), /at most 50/);
    await presets.save('More 1', 'claude', []);
    assert.deepEqual([names().length, names()[0]], [50, 'Careful']);
  });

  it('are empty if the stored data has another shape', async () => {
    for (const stored of [7, [{ name: 'Careful' }], [{ id: '1', name: 'x', agent: 'y', choices: [{ value: 7 }] }]]) {
      await user.update('parley.presets', stored);
      assert.deepEqual(presets.list(), []);
    }
  });
});
