// Saving a file of a message or tool call, with the location chosen by the test.
import { strict as assert } from 'node:assert';
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ContentBlock } from '../../../src/session/events/content';
import type { SessionEvent } from '../../../src/session/events/event';
import { SessionModel } from '../../../src/session/model/model';
import type { Entry } from '../../../src/session/model/state';
import { type SaveQuestions, saveResource } from '../../../src/workbench/editor/saveResource';
import { removeFolder } from '../../support/scratch';

const BYTES = Uint8Array.from({ length: 256 }, (_, value) => value);

class Answers implements SaveQuestions {
  readonly suggested: string[] = [];
  readonly said: { readonly text: string; readonly canOpen: boolean }[] = [];
  readonly #place: string | undefined;
  readonly #opens: boolean;

  constructor(place: string | undefined, opens = false) {
    this.#place = place;
    this.#opens = opens;
  }

  async where(suggested: vscode.Uri): Promise<vscode.Uri | undefined> {
    this.suggested.push(suggested.fsPath);
    return this.#place === undefined ? undefined : vscode.Uri.file(this.#place);
  }

  readonly risky: string[] = [];

  async mayStartPrograms(path: string): Promise<boolean> {
    this.risky.push(path);
    return false;
  }

  async done(text: string, canOpen: boolean): Promise<boolean> {
    this.said.push({ text, canOpen });
    return this.#opens;
  }
}

const hasCode = (code: string, message = /./) => ({ name: 'ParleyError', code, message });

function entryOf(...events: readonly SessionEvent[]): Entry {
  const model = new SessionModel();
  for (const event of events) model.apply(event, 0);
  const [entry] = model.state.entries;
  assert.ok(entry);
  return entry;
}

function said(...blocks: readonly ContentBlock[]): Entry {
  return entryOf(...blocks.map((block) => ({ type: 'message_chunk', role: 'agent', messageId: 'm', block }) as const));
}

describe("saving an agent's file", () => {
  let folder: string;
  const text: ContentBlock = { type: 'resource', uri: 'artifact:///report.md', text: '# Bericht\r\nÄ 😀\n' };
  const blob = Buffer.from(BYTES).toString('base64');
  const bytes: ContentBlock = { type: 'resource', uri: 'artifact:///..%2Fall.bin', blob };

  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'parley-workbench-save-')));
  });

  afterEach(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await chmod(folder, 0o700);
    await removeFolder(folder);
  });

  it('asks again before replacing a file that starts programs, by its name or through a link', async () => {
    await mkdir(join(folder, '.vscode'));
    await symlink('.vscode', join(folder, 'innocent'));
    for (const place of ['.vscode/tasks.json', 'innocent/tasks.json', 'x.code-workspace']) {
      const ask = new Answers(join(folder, place));
      await saveResource({ entry: said(text), content: 0 }, folder, ask);
      assert.equal(ask.risky.length, 1, place);
      assert.deepEqual(ask.said, []);
      await assert.rejects(readFile(join(folder, place)));
    }
  });

  it('uses the name and location chosen by the user', async () => {
    const ask = new Answers(join(folder, 'sub', 'mine.md'));
    await saveResource({ entry: said({ type: 'text', text: 'Here.' }, text), content: 1 }, folder, ask);
    assert.deepEqual(ask.suggested, [join(folder, 'report.md')]);
    assert.equal(await readFile(join(folder, 'sub', 'mine.md'), 'utf8'), '# Bericht\r\nÄ 😀\n');
    assert.deepEqual(ask.said, [{ text: `Saved: ${join(folder, 'sub', 'mine.md')}`, canOpen: true }]);
    assert.deepEqual(await readdir(folder), ['sub']);
    assert.equal(vscode.window.activeTextEditor, undefined);
  });

  it('preserves every byte, including what the panel does not show', async () => {
    const ask = new Answers(join(folder, 'all.bin'), true);
    await saveResource({ entry: said(bytes), content: 0 }, folder, ask);
    assert.deepEqual(ask.suggested, [join(folder, 'all.bin')]);
    assert.deepEqual(new Uint8Array(await readFile(join(folder, 'all.bin'))), BYTES);
    assert.equal(ask.said[0]?.canOpen, false);
    assert.equal(vscode.window.activeTextEditor, undefined, 'what is no text is not opened');
    const long = 'long '.repeat(100_000);
    const other = new Answers(join(folder, 'long.txt'));
    await saveResource({ entry: said({ ...text, text: long }), content: 0 }, folder, other);
    assert.equal(await readFile(join(folder, 'long.txt'), 'utf8'), long);
  });

  it('works for tool calls and pictures', async () => {
    const tool = entryOf({
      type: 'tool_call',
      toolCallId: 'c',
      announced: true,
      patch: {
        content: [
          { type: 'terminal', terminalId: 't' },
          { type: 'content', block: bytes },
        ],
      },
    });
    await saveResource({ entry: tool, content: 1 }, folder, new Answers(join(folder, 'a.bin')));
    assert.deepEqual(new Uint8Array(await readFile(join(folder, 'a.bin'))), BYTES);
    const picture = said({ type: 'image', uri: 'artifact:///plot.png', mimeType: 'image/png', data: blob });
    const ask = new Answers(join(folder, 'plot.png'));
    await saveResource({ entry: picture, content: 0 }, folder, ask);
    assert.deepEqual(ask.suggested, [join(folder, 'plot.png')]);
    assert.deepEqual(new Uint8Array(await readFile(join(folder, 'plot.png'))), BYTES);
  });

  it('writes nothing if the user chose no location', async () => {
    const ask = new Answers(undefined);
    await saveResource({ entry: said(text, bytes), content: 0 }, folder, ask);
    await saveResource({ entry: said(text, bytes), content: 1 }, folder, ask);
    assert.deepEqual(ask.suggested, [join(folder, 'report.md'), join(folder, 'all.bin')]);
    assert.deepEqual(ask.said, []);
    assert.deepEqual(await readdir(folder), []);
  });

  it('opens the file without running it', async () => {
    const notebook: ContentBlock = { type: 'resource', uri: 'artifact:///a.ipynb', text: '{"cells":[]}' };
    const path = join(folder, 'a.ipynb');
    await saveResource({ entry: said(notebook), content: 0 }, folder, new Answers(path, true));
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, path);
    assert.equal(vscode.window.activeTextEditor.document.getText(), '{"cells":[]}');
  });

  it('suggests an existing folder', async () => {
    const ask = new Answers(undefined);
    await saveResource({ entry: said(text), content: 0 }, join(folder, 'gone'), ask);
    await saveResource({ entry: said(text), content: 0 }, undefined, ask);
    assert.deepEqual(ask.suggested, [join(homedir(), 'report.md'), join(homedir(), 'report.md')]);
  });

  it('does not ask if the file is missing or something else', async () => {
    const nobody = new Answers(join(folder, 'x'));
    const save = (entry: Entry | undefined, content: number) => saveResource({ entry, content }, folder, nobody);
    const gone = hasCode('resource-gone', /no longer available/);
    await assert.rejects(save(undefined, 0), gone);
    await assert.rejects(save(said(text), 1), gone);
    await assert.rejects(save(said({ type: 'text', text: 'words' }), 0), gone);
    await assert.rejects(save(said({ type: 'resource', uri: 'file:///etc/passwd' }), 0), gone);
    await assert.rejects(save(said({ type: 'resource_link', uri: 'file:///etc/passwd', name: 'x' }), 0), gone);
    await assert.rejects(save(entryOf({ type: 'notice', own: true, severity: 'info', title: 'x' }), 0), gone);
    assert.deepEqual(nobody.suggested, []);
  });

  it('reports damaged data, or a location that is not writable', async () => {
    for (const broken of ['no base64!', `${blob.slice(0, 8)}=${blob}`, 'AAAAA', `${blob}===`]) {
      const damaged = said({ type: 'resource', uri: 'artifact:///x.bin', blob: broken });
      const save = saveResource({ entry: damaged, content: 0 }, folder, new Answers(join(folder, 'x.bin')));
      await assert.rejects(save, hasCode('resource-unreadable', /^Couldn't save x\.bin/));
    }
    assert.deepEqual(await readdir(folder), []);
    await mkdir(join(folder, 'taken'));
    const there = saveResource({ entry: said(text), content: 0 }, folder, new Answers(join(folder, 'taken')));
    await assert.rejects(there, hasCode('resource-not-saved', /^Couldn't save report\.md: ./));
    await writeFile(join(folder, 'file'), '');
    const below = saveResource({ entry: said(text), content: 0 }, folder, new Answers(join(folder, 'file', 'x')));
    await assert.rejects(below, hasCode('resource-not-saved', /^Couldn't save report\.md: ./));
  });

  it('accepts the URL-safe base64 alphabet, and line breaks', async () => {
    const lines = Buffer.from(BYTES).toString('base64url').replace(/.{40}/g, '$&\r\n');
    const entry = said({ type: 'resource', uri: 'artifact:///u.bin', blob: lines });
    await saveResource({ entry, content: 0 }, folder, new Answers(join(folder, 'u.bin')));
    assert.deepEqual(new Uint8Array(await readFile(join(folder, 'u.bin'))), BYTES);
  });
});
