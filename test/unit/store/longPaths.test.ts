// Folders with paths over 260 characters, the former limit of Windows.
import assert from 'node:assert/strict';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readFramed, writeFramed } from '../../../src/distributed/stores/framedFile';
import { writePrivateJson } from '../../../src/registry/list/registryList';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { newSession, openJournal, textIn, turn } from '../../support/store/journals';

describe('a folder with a path of more than 260 characters', () => {
  let folder: string;

  beforeEach(async () => {
    folder = join(await scratchFolder(), ...Array.from({ length: 6 }, (_, n) => `${n}`.repeat(60)));
    await mkdir(folder, { recursive: true });
  });

  afterEach(removeScratch);

  it('holds the history of sessions', () => {
    const journal = openJournal(folder);
    journal.saveSession(newSession('a'));
    journal.append('a', turn('t', 1, 'question', 'answer'));
    journal.dispose();
    const again = openJournal(folder);
    assert.equal(again.state.kind, 'durable');
    assert.match(textIn(again.events('a').events), /answer/);
    again.dispose();
  });

  it('holds files that are replaced atomically', async () => {
    const path = join(folder, 'file');
    for (const text of ['one', 'two']) await writeFramed(path, Buffer.from(text), {}, { durable: true });
    assert.equal(Buffer.from((await readFramed(path)).bytes).toString(), 'two');
    await writePrivateJson(join(folder, 'kept.json'), [1]);
    await rm(path);
  });
});
