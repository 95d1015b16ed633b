// Saved prompts in VS Code's format: bounded, and none from outside the workspace.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the blanks of prompts look like this
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPrompts } from '../../../src/mentions/promptFiles';

describe('saved prompts', () => {
  let base: string;
  let workspace: string;
  let folder: string;

  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), 'parley-prompts-')));
    workspace = join(base, 'workspace');
    folder = join(workspace, '.github/prompts');
    mkdirSync(folder, { recursive: true });
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  const save = (name: string, text: string, at = folder): void => writeFileSync(join(at, name), text);
  const names = async (): Promise<readonly string[]> => (await readPrompts(folder, workspace)).map(({ name }) => name);

  it('are files ending with .prompt.md, described by their header', async () => {
    save(
      'review.prompt.md',
      '---\r\ndescription: "Reviews a change"\r\nargument-hint: which one\r\nmode: agent\r\n---\r\n\r\nReview it.\r\nBe brief.\r\n',
    );
    save('plain words.prompt.md', 'Explain ${input:what}.\n\nWith examples.');
    save('named.prompt.md', "---\nname: 'my prompt'\n---\nHello.");
    save('rule.prompt.md', '---\n---\n---\nNo header.');
    save('notes.md', 'no prompt');
    save('empty.prompt.md', '---\ndescription: Nothing.\n---\n');
    assert.deepEqual(await readPrompts(folder, workspace), [
      { name: 'my-prompt', description: 'Hello.', hint: undefined, text: 'Hello.' },
      {
        name: 'plain-words',
        description: 'Explain ${input:what}.',
        hint: undefined,
        text: 'Explain ${input:what}.\n\nWith examples.',
      },
      { name: 'review', description: 'Reviews a change', hint: 'which one', text: 'Review it.\nBe brief.' },
      { name: 'rule', description: '---', hint: undefined, text: '---\nNo header.' },
    ]);
  });

  it('make hidden characters visible, so that the user sees what is sent', async () => {
    save('a.prompt.md', 'Fix\u202e it.\u200b');
    assert.equal((await readPrompts(folder, workspace))[0]?.text, 'Fix⟨U+202E⟩ it.⟨U+200B⟩');
  });

  it('are limited in size and number', async () => {
    save('0.prompt.md', 'x'.repeat(32 * 1024 + 1));
    for (let index = 100; index < 200; index++) save(`${index}.prompt.md`, 'text');
    const found = await names();
    assert.equal(found.length, 49);
    assert.equal(found[0], '100');
  });

  it('are not read through links out of the workspace', async () => {
    const outside = join(base, 'outside');
    mkdirSync(outside);
    save('secret.prompt.md', 'secret', outside);
    save('real.prompt.md', 'inside');
    symlinkSync(join(outside, 'secret.prompt.md'), join(folder, 'link.prompt.md'));
    symlinkSync(join(folder, 'real.prompt.md'), join(folder, 'same.prompt.md'));
    mkdirSync(join(folder, 'folder.prompt.md'));
    assert.deepEqual(await names(), ['real', 'same']);
    rmSync(folder, { recursive: true });
    symlinkSync(outside, folder, 'dir');
    assert.deepEqual(await names(), []);
    assert.deepEqual((await readPrompts(folder)).length, 1, 'a folder of the user may be a link');
  });

  it('are empty without a folder', async () => {
    assert.deepEqual(await readPrompts(join(workspace, 'none'), workspace), []);
  });
});
