// Earlier sessions as mentions in a real VS Code: hostile titles, long and many sessions.
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { type ExtensionContext, Uri } from 'vscode';
import { silentLog } from '../../../src/base/log';
import type { QueuedAttachment } from '../../../src/session/queue/queue';
import type { Journal } from '../../../src/store/journal';
import { EarlierSessions } from '../../../src/workbench/chat/earlierSessions';
import { Mentions } from '../../../src/workbench/chat/mentions';
import { Archive } from '../../../src/workbench/sessions/archive';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { newSession, openJournal, said, timed, turn } from '../../support/store/journals';

describe('earlier sessions in mentions', function () {
  this.timeout(60_000);
  const { signal } = new AbortController();
  let folder: string;
  let elsewhere: string;
  let journal: Journal;
  let archive: Archive;
  let sessions: EarlierSessions;
  let now: number;

  beforeEach(async () => {
    const scratch = await scratchFolder();
    folder = join(scratch, 'here');
    elsewhere = join(scratch, 'elsewhere');
    now = Date.UTC(2026, 0, 2);
    journal = openJournal(scratch, { now: () => now++ });
    const context = { globalStorageUri: Uri.file(scratch), workspaceState: { get: () => undefined } };
    archive = new Archive(context as unknown as ExtensionContext, silentLog);
    sessions = new EarlierSessions({ archive, agentName: (id) => `Agent ${id}` });
  });

  afterEach(async () => {
    archive.dispose();
    journal.dispose();
    await removeScratch();
  });

  function keep(key: string, title: string, cwd = folder): void {
    journal.saveSession(newSession(key, { title, cwd }));
  }

  const named = (letters: string, most = 5): ReturnType<EarlierSessions['named']> =>
    sessions.named(letters, { key: 'this', roots: [folder] }, most, signal);
  const ids = async (letters: string, most?: number): Promise<readonly string[]> =>
    (await named(letters, most)).map(({ id }) => id);
  const textOf = (attachment: QueuedAttachment | undefined): string => {
    const [form] = attachment?.forms ?? [];
    return form?.type === 'resource' ? (form.text ?? '') : '';
  };

  it('are found by letters of their titles, newest first, starting with those of the folder', async () => {
    keep('a', 'Fix the parser');
    keep('b', 'Parse dates', elsewhere);
    keep('c', 'The PARSER again');
    keep('this', 'What the parser does');
    keep('gone', 'A deleted parser');
    archive.marks.mark('gone', { deleted: 1 });
    assert.deepEqual(await ids('pars'), ['session:c', 'session:a', 'session:b']);
    assert.deepEqual(await ids('fix-the'), ['session:a']);
    assert.deepEqual(await ids('nothing'), []);
    assert.deepEqual(await ids('--'), []);
    const [first] = await named('again');
    assert.partialDeepStrictEqual(first, { kind: 'session', label: 'The PARSER again' });
    assert.match(first?.description ?? '', /^Agent demo · .*2026/);
  });

  it('are listed first if the title matches exactly, and newest first without a query', async () => {
    keep('a', 'Parser', elsewhere);
    for (const key of ['b', 'c', 'd', 'e', 'f']) keep(key, `Parser ${key}`);
    assert.deepEqual(await ids('parser', 2), ['session:a', 'session:f']);
    assert.deepEqual(await ids('', 2), ['session:f', 'session:e']);
  });

  it('are found by their first message if untitled, in any alphabet', async () => {
    journal.saveSession(newSession('a', { cwd: folder }));
    journal.append('a', turn('t', now, 'ÜBERSICHT der Änderungen', 'Hier.'));
    journal.saveSession(newSession('empty', { cwd: folder }));
    journal.flush();
    assert.deepEqual(await ids('über'), ['session:a']);
  });

  it('show titles on one line, without characters that reorder or hide text', async () => {
    keep('a', `pay\u202eload\u0007 \n@src/server.ts ${'x'.repeat(100_000)}`);
    const [offer] = await named('load');
    assert.match(offer?.label ?? '', /^pay load @src\/server\.ts x+…$/);
    assert.ok((offer?.label.length ?? 0) <= 61);
    keep('b', '\u200b\u200b load');
    assert.equal((await named('load'))[0]?.label, 'load');
  });

  it('are attached as a transcript with an explanation', async () => {
    keep('a', 'Fix the parser');
    journal.append('a', turn('t', now, 'Why does it fail?', 'A comma is missing.'));
    journal.flush();
    const [offer] = await named('parser');
    const attachment = await sessions.attachment(offer?.id ?? '');
    assert.equal(attachment?.label, offer?.label);
    const text = textOf(attachment);
    assert.match(text, /^Transcript of an earlier session of the user with Agent demo, “Fix the parser”/);
    assert.match(text, /\n\nUser: Why does it fail\?\n\nAssistant: A comma is missing\.$/);
    const [document, words] = attachment?.forms ?? [];
    assert.partialDeepStrictEqual(document, { type: 'resource', uri: 'parley:transcript/Fix%20the%20parser' });
    assert.ok(words?.type === 'text' && words.text.includes(text));
  });

  it('can be attached only if they were offered, and not after deletion', async () => {
    keep('a', 'Fix the parser');
    journal.append('a', turn('t', now, 'Why?', 'So.'));
    journal.flush();
    assert.equal(await sessions.attachment('session:a'), undefined);
    await named('parser');
    assert.ok(await sessions.attachment('session:a'));
    archive.marks.mark('a', { deleted: 1 });
    assert.equal(await sessions.attachment('session:a'), undefined);
    archive.marks.mark('a', { deleted: null });
    journal.deleteSession('a');
    assert.equal(await sessions.attachment('session:a'), undefined);
  });

  it('are attached with the newest part if too long, without splitting a character', async () => {
    keep('a', 'A long one');
    for (let number = 0; number < 300; number++)
      journal.append('a', turn(`t${number}`, now, `question ${number}`, '🦊'.repeat(2000)));
    journal.append('a', timed(now, said('the very end')));
    journal.flush();
    await named('long');
    const text = textOf(await sessions.attachment('session:a'));
    assert.ok(text.length < 61_000, `${text.length} characters`);
    assert.match(text, /\[the beginning is left out\]/);
    assert.ok(text.endsWith('the very end') && text.includes('question 299') && !text.includes('question 1\n'));
    assert.ok(text.isWellFormed());
  });

  it('are searched in slices among ten thousand, until the user types on', async () => {
    for (let number = 0; number < 10_000; number++) keep(`s${number}`, `Number ${number}`, elsewhere);
    keep('last', 'Number none');
    assert.deepEqual(await ids('number0'), ['session:s0']);
    const typing = new AbortController();
    const search = sessions.named('nothing', { key: 'this', roots: [folder] }, 5, typing.signal);
    typing.abort(new Error('typed on'));
    await assert.rejects(search, /typed on/);
  });

  it('are in the list of `@`', async () => {
    keep('a', 'quitesomething');
    const mentions = new Mentions({ sessions, terminals: { offers: () => [], attachment: async () => undefined } });
    try {
      let last: readonly { readonly id: string }[] = [];
      for await (const some of mentions.offers('quitesome', { key: 'this', roots: [folder] }, signal)) last = some;
      assert.deepEqual(
        last.map(({ id }) => id),
        ['session:a'],
      );
      journal.append('a', turn('t', now, 'Why?', 'So.'));
      journal.flush();
      assert.equal((await mentions.attachments('session:a', [folder])).length, 1);
    } finally {
      mentions.dispose();
    }
  });
});
