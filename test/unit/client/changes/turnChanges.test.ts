// What turns change on disk, with real agent processes and real git, whichever process writes and
// however early.

import { strict as assert } from 'node:assert';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ParleyError } from '../../../../src/base/errors';
import { statesOf } from '../../../../src/client/changes/recordedTurn';
import type { Conversation } from '../../../../src/client/conversation/conversation';
import { transcriptOf } from '../../../../src/client/sharing/messageCollector';
import { SessionFeed } from '../../../../src/client/view/feed';
import { changesOfTurn, changesPage, reviewOf, waitingFilesOf } from '../../../../src/client/view/projectChanges';
import { projectSession } from '../../../../src/client/view/projectSession';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import type { ChangesScope, ToWebview } from '../../../../src/panel/contract';
import { useChangeSession } from '../../../support/changes/changeSession';
import { pluck } from '../../../support/pluck';
import { sameData } from '../../../support/sameData';
import { scratchFolder } from '../../../support/scratch';
import { testConversation } from '../../../support/sessions/conversation';
import { FEED_SOURCES } from '../../../support/sessions/feedSources';
import { seeds } from '../../../support/tier';

const slowly = seeds(0, 1) === 1 ? it : (): void => undefined;

describe('the changes of turns on disk', function () {
  this.timeout(30_000);
  const test = useChangeSession();
  const { open, started, turn, listed, path } = test;

  it('include what the agent writes through its client', async () => {
    const conversation = open();
    const id = await turn(`write ${path('a.txt')} one\\nTWO\\nthree\\n`);
    assert.deepEqual(await listed(id), ['a.txt +1 −1']);
    assert.equal(conversation.model.turn(id)?.changes?.files, 1);
  });

  it('include what commands change: sed -i, git mv, rm', async () => {
    await started();
    const id = await turn('run sed -i s/two/2/ a.txt\nrun git mv b.txt c.txt');
    assert.deepEqual(await listed(id), ['a.txt +1 −1', 'b.txt → c.txt +0 −0']);
    const next = await turn('run rm c.txt');
    assert.deepEqual(await listed(next), ['gone c.txt +0 −1']);
  });

  it('store nothing for a turn without changes', async () => {
    const conversation = await started();
    const id = await turn('say Hello');
    assert.equal(conversation.model.turn(id)?.changes, undefined);
    assert.equal(conversation.changes.total(id), undefined);
  });

  it('include neither edits between turns nor writes after the end of a turn', async () => {
    await started();
    await turn('own-later late.txt late\nown a.txt x');
    await writeFile(path('b.txt'), 'mine\n');
    await sleep(50); // file times have the resolution of a tick
    assert.deepEqual(await listed(await turn('own a.txt y')), ['a.txt +1 −1']);
  });

  it('are attributed to the right turn when one immediately follows another', async () => {
    const conversation = await started();
    const one = conversation.send('own a.txt x\nsleep 50').done;
    const two = conversation.send('own b.txt y').done;
    const ids = [(await one).turnId, (await two).turnId] as const;
    await conversation.changes.settled();
    assert.deepEqual(await listed(ids[0]), ['a.txt +1 −3']);
    assert.deepEqual(await listed(ids[1]), ['b.txt +1 −1']);
  });

  it('run no git if recording is turned off', async () => {
    test.changes.enabled = false;
    const conversation = open();
    const id = await turn('own a.txt x');
    assert.equal(conversation.model.turn(id)?.changes, undefined);
    assert.deepEqual(test.changes.asked, []);
  });

  it('run no git while the agent starts', async () => {
    let askedAtStart: number | undefined;
    const approve = async (): Promise<void> => {
      await new Promise(setImmediate);
      askedAtStart = test.changes.asked.length;
    };
    const conversation = open({ services: { approve } });
    await conversation.start();
    await conversation.changes.settled();
    assert.equal(askedAtStart, 0);
    assert.ok(test.changes.asked.length > 0);
  });

  it('knows the state before a turn whose message was sent while the agent started', async () => {
    const conversation = open({ services: { approve: () => sleep(500) } });
    const id = await turn('own a.txt changed');
    assert.deepEqual(await listed(id), ['a.txt +1 −3']);
    assert.equal(conversation.model.turn(id)?.changes?.incomplete, undefined);
  });

  it('run no git in an untrusted workspace', async () => {
    const conversation = open({ services: { isTrusted: () => false } });
    conversation.changes.warm();
    await conversation.start();
    await conversation.changes.settled();
    assert.deepEqual(test.changes.asked, []);
  });

  it('are marked as limited to named files if git is missing', async () => {
    test.changes.env = { ...process.env, PATH: '/nowhere' };
    const conversation = await started();
    const read = { sessionUpdate: 'tool_call', toolCallId: 'r', title: 'Read', kind: 'read' };
    const reading = JSON.stringify({ ...read, locations: [{ path: 'a.txt' }] });
    const text = `update ${reading}\npermission\nedit a.txt changed\nwrite ${path('c.txt')} c\nown b.txt unnoticed`;
    const { done } = conversation.send(text);
    await test.session.until(({ model }) => model.state.permissions.size === 1);
    await (await conversation.changes.states()).take(); // after the named files were read
    const [asked] = conversation.model.state.permissions.keys();
    conversation.answerPermission(asked ?? '', 'allow');
    const { turnId: id } = await done;
    await conversation.changes.settled();
    assert.deepEqual(await listed(id), ['a.txt +1 −3', 'new c.txt +1 −0']);
    assert.equal(conversation.model.turn(id)?.changes?.incomplete, 'no-git');
  });

  slowly('lists what a formatter does to 500 files, and undoes it byte by byte', async () => {
    const names = Array.from({ length: 500 }, (_, index) => `many/${index % 7}/f${index}.txt`);
    const content = (index: number): string => `one${index}\r\n\ttwo\nthree`;
    for (const [index, name] of names.entries()) {
      await mkdir(dirname(path(name)), { recursive: true });
      await writeFile(path(name), content(index));
    }
    const conversation = await started();
    const id = await turn('run find many -type f -exec sed -i s/two/2/ {} +');
    assert.deepEqual(
      (await conversation.changes.changesOf(id)).map((change) => change.path),
      [...names].sort(),
    );
    const review = await conversation.changes.loadReview();
    const { conflicts, failed } = await review.undo({ kind: 'all' });
    assert.deepEqual([conflicts, failed], [[], []]);
    for (const [index, name] of names.entries()) assert.equal(await readFile(path(name), 'utf8'), content(index));
  });

  slowly('lists what a command in a terminal of the client changes', async () => {
    open();
    const id = await turn("terminal require('fs').writeFileSync('t.txt', 'from a terminal')");
    assert.deepEqual(await listed(id), ['new t.txt +1 −0']);
  });

  slowly('lets the prompt leave, and the turn end, before a state is taken', async () => {
    const conversation = await started();
    const order: string[] = [];
    const release = test.changes.holdUp();
    await conversation.send('own a.txt x').done.then(() => order.push('turn ended'));
    release();
    await conversation.changes.settled();
    order.push('states taken');
    assert.deepEqual(order, ['turn ended', 'states taken']);
  });

  slowly('lists what was written before the first state of the turn was there', async () => {
    const conversation = await started();
    const release = test.changes.holdUp();
    const { turnId } = await conversation.send('own a.txt changed\nrun rm b.txt').done;
    release();
    await conversation.changes.settled();
    assert.deepEqual(await listed(turnId), ['a.txt +1 −3', 'gone b.txt +0 −1']);
    assert.equal(conversation.model.turn(turnId)?.changes?.incomplete, undefined);
  });

  slowly('says so where no state before the turn is known', async () => {
    const release = test.changes.holdUp();
    const conversation = open();
    const { turnId } = await conversation.send('own a.txt changed\nrun true').done;
    release();
    await conversation.changes.settled();
    assert.equal(conversation.model.turn(turnId)?.changes?.incomplete, 'late');
  });

  slowly('says so of turns without a word as well, where a file was written since they began', async () => {
    const release = test.changes.holdBack();
    const conversation = open();
    const said = await conversation.send('say Hello').done;
    await sleep(50); // file times have the resolution of a tick
    const first = await conversation.send('own a.txt changed').done;
    const second = await conversation.send('run rm b.txt').done;
    await sleep(50);
    const last = await conversation.send('say Done').done;
    release();
    await conversation.changes.settled();
    const why = ({ turnId }: { turnId: string }): unknown => conversation.model.turn(turnId)?.changes?.incomplete;
    assert.deepEqual([said, first, second, last].map(why), ['late', 'late', 'late', undefined]);
  });

  slowly('holds a write through the client until the first state is there', async () => {
    const conversation = await started();
    const release = test.changes.holdUp();
    const done = conversation.send(`write ${path('a.txt')} new`).done;
    await test.changes.untilAsked(2);
    await test.session.until(({ model }) => model.state.turn !== undefined);
    assert.equal(await readFile(path('a.txt'), 'utf8'), 'one\ntwo\nthree\n');
    release();
    await done;
    assert.equal(await readFile(path('a.txt'), 'utf8'), 'new');
  });

  it('can be redone after an undo, by turn, by file, and in the review until another turn ends', async () => {
    const conversation = await started();
    const { changes } = conversation;
    const turnId = await turn('edit a.txt x');
    const review = await changes.loadReview();
    const offers = async () => {
      const page = await changesPage(conversation, { turnId }, 0, 9);
      const files = page.type === 'changes' ? page.files.map(({ state, canRedo }) => [state, canRedo]) : [];
      return [changesOfTurn(conversation, turnId)?.redoable, reviewOf(conversation)?.redoable, ...files];
    };
    const { before, after } = statesOf(conversation.model.turn(turnId)!.changes!);
    await changes.work.run('undo', () => review.undo({ kind: 'turn', turnId, before: before!, after: after! }));
    assert.deepEqual(await offers(), [1, 1, ['undone', true]]);
    assert.equal(reviewOf(conversation)?.files, 0);
    await turn('edit other.txt y');
    assert.deepEqual(await offers(), [1, undefined, ['undone', true]]);
    await changes.work.run('redo', () => review.redo({ turnId }));
    assert.deepEqual(await offers(), [undefined, undefined, ['unreviewed', undefined]]);
    assert.equal(await readFile(path('a.txt'), 'utf8'), 'x');
  });

  slowly('lists no file that an undo has deleted before the turn', async () => {
    const conversation = await started();
    await turn('edit new.txt x');
    const review = await conversation.changes.loadReview();
    await conversation.changes.work.run('undo', () => review.undo({ kind: 'all' }));
    await conversation.changes.settled();
    const release = test.changes.holdUp();
    const { turnId } = await conversation.send('edit other.txt y').done;
    release();
    await conversation.changes.settled();
    assert.deepEqual(await listed(turnId), ['new other.txt +1 −0']);
  });

  slowly('lists what the agent writes again at once after an undo', async () => {
    const conversation = await started();
    await turn('edit a.txt x');
    const review = await conversation.changes.loadReview();
    await conversation.changes.work.run('undo', () => review.undo({ kind: 'all' }));
    assert.deepEqual(await listed(await turn('edit a.txt x')), ['a.txt +1 −3']);
  });

  slowly('asks about files that changed meanwhile and were not named', async () => {
    const conversation = await started();
    const { changes } = conversation;
    // Changes that the agent doesn't name may come from another program.
    const turnId = await turn('edit a.txt agent\nown b.txt other');
    assert.deepEqual([...(await changes.unnamedOf(turnId))], [path('b.txt')]);
    const review = await changes.loadReview();
    assert.deepEqual(
      review.files.map((file) => [file.path, file.isUnnamed === true]),
      [
        ['a.txt', false],
        ['b.txt', true],
      ],
    );
    const { undone, conflicts } = await review.undo({ kind: 'all' });
    assert.deepEqual([undone.map((file) => file.path), conflicts.map(({ why }) => why)], [['a.txt'], ['unnamed']]);
    assert.equal(await readFile(path('b.txt'), 'utf8'), 'other');
  });

  slowly('takes one state for all turns that follow each other while another is taken', async () => {
    const conversation = await started();
    const release = test.changes.holdUp();
    const ids: string[] = [];
    for (let number = 1; number <= 5; number++) {
      ids.push((await conversation.send(`own ${number}.txt x`).done).turnId);
      await sleep(50); // file times have the resolution of a tick
    }
    const asked = test.changes.asked.length;
    release();
    await conversation.changes.settled();
    assert.equal(test.changes.asked.length, asked + 1);
    for (const [index, id] of ids.entries()) assert.deepEqual(await listed(id), [`new ${index + 1}.txt +1 −0`]);
  });

  slowly('shows what has changed while the turn runs', async () => {
    const conversation = await started();
    const done = conversation.send('edit a.txt changed\nwait').done;
    await test.session.until(({ changes, model }) => changes.total(model.state.turn?.id ?? '')?.files === 1);
    conversation.cancel();
    const { turnId } = await done;
    await conversation.changes.settled();
    assert.deepEqual(await listed(turnId), ['a.txt +1 −3']);
  });

  slowly('records the turn of an agent that dies', async () => {
    const conversation = await started();
    const { turnId } = await conversation.send('own a.txt x\ndie 3').done;
    await conversation.changes.settled();
    assert.deepEqual(await listed(turnId), ['a.txt +1 −3']);
  });

  slowly('marks files that the user edits during the turn', async () => {
    const conversation = await started();
    test.changes.edited.add(path('a.txt'));
    const id = await turn('own a.txt x\nown c.txt y');
    assert.deepEqual(conversation.model.turn(id)?.changes?.alsoYours, [path('a.txt')]);
  });

  it('are not undone in a file that the user created and the turn wrote to before its first state', async () => {
    const conversation = await started();
    await writeFile(path('mine.txt'), 'mine\n');
    test.changes.editedAt.set(path('mine.txt'), Date.now());
    await sleep(50); // no file system tells what happens within one tick apart
    const id = await turn('own mine.txt agent');
    assert.deepEqual(await listed(id), ['new mine.txt +1 −0']);
    assert.deepEqual(conversation.model.turn(id)?.changes?.alsoYours, [path('mine.txt')]);
    const { conflicts } = await (await conversation.changes.loadReview()).undo({ kind: 'all' });
    assert.deepEqual(pluck(conflicts, 'why'), ['yours']);
    assert.equal(await readFile(path('mine.txt'), 'utf8'), 'agent');
  });

  slowly('marks files in a folder that the user makes or moves during the turn', async () => {
    const conversation = await started();
    test.changes.edited.add(path('sub'));
    const id = await turn('own sub/d.txt x\nown subs.txt y');
    assert.deepEqual(conversation.model.turn(id)?.changes?.alsoYours, [path('sub/d.txt')]);
  });

  slowly('runs no git in a session that another window has', async () => {
    const conversation = open({ isHeld: true });
    conversation.changes.warm();
    await conversation.start();
    await conversation.changes.settled();
    assert.deepEqual(test.changes.asked, []);
  });

  slowly('records an agent on another machine only where it may change something here', async () => {
    for (const files of [false, true]) {
      const agent = {
        id: 'far',
        name: 'Far',
        protocol: 'auto',
        type: 'remote',
        url: 'wss://far.example',
        headers: {},
      } as const;
      const allow = { files, terminals: false };
      const far = testConversation({
        agent: { ...agent, allow },
        cwd: test.session.folder,
        services: { changes: test.changes },
      });
      far.conversation.changes.warm();
      await far.conversation.changes.settled();
      assert.equal(test.changes.asked.length, files ? 1 : 0);
      await far.close();
    }
  });

  slowly('hands nothing of it to others with the transcript', async () => {
    const conversation = await started();
    const id = await turn('say Hello\nown a.txt x');
    assert.equal(conversation.model.turn(id)?.changes?.files, 1);
    const messages = JSON.stringify(transcriptOf(conversation.model, 'Agent'));
    assert.ok(messages.includes('Hello'));
    assert.ok(!messages.includes(test.session.folder) && !messages.includes('turn_changes'));
  });

  slowly('lists changes in several folders', async () => {
    const other = await scratchFolder();
    await mkdir(join(other, 'deep'));
    await writeFile(join(other, 'deep/d.txt'), 'd\n');
    const conversation = open({ roots: [test.session.folder, other] });
    await conversation.start();
    await conversation.changes.settled();
    const id = await turn(`own a.txt x\nown ${join(other, 'deep/d.txt')} changed`);
    const found = await conversation.changes.changesOf(id);
    assert.deepEqual(
      found.map((file) => join(file.root, file.path)).sort(),
      [path('a.txt'), join(other, 'deep/d.txt')].sort(),
    );
  });
});

type Page = Extract<ToWebview, { type: 'changes' }>;

describe('the changes of a session', function () {
  this.timeout(30_000);
  const test = useChangeSession();
  const { started, open, turn, path } = test;

  const page = async (conversation: Conversation, scope: ChangesScope, from = 0, to = 200): Promise<Page> =>
    (await changesPage(conversation, scope, from, to)) as Page;

  it('wait for review until they are kept', async () => {
    const conversation = await started();
    const turnId = await turn('own a.txt x\nown c.txt c');
    sameData(reviewOf(conversation), {
      files: 2,
      added: 2,
      removed: 3,
      version: conversation.changes.version(),
    });
    assert.equal(projectSession(conversation).review?.files, 2);
    assert.deepEqual(waitingFilesOf(conversation), [path('a.txt'), path('c.txt')]);
    const before = await page(conversation, { turnId });
    assert.deepEqual(pluck(before.files, 'label', 'change', 'state'), [
      ['a.txt', 'modified', 'unreviewed'],
      ['c.txt', 'added', 'unreviewed'],
    ]);
    const review = await conversation.changes.loadReview();
    await review.keep({ kind: 'all' });
    assert.equal(reviewOf(conversation), undefined);
    assert.equal(waitingFilesOf(conversation), undefined);
    const after = await page(conversation, { turnId });
    assert.deepEqual(pluck(after.files, 'state'), ['kept', 'kept']);
    assert.ok(after.version > before.version);
  });

  it('are undone file by file', async () => {
    const conversation = await started();
    const turnId = await turn('own a.txt x\nown c.txt c');
    const review = await conversation.changes.loadReview();
    const [file] = review.files;
    await review.undo({ kind: 'file', id: file?.id ?? '' });
    assert.equal(await readFile(path('a.txt'), 'utf8'), 'one\ntwo\nthree\n');
    assert.deepEqual(pluck((await page(conversation, { turnId })).files, 'state'), ['undone', 'unreviewed']);
    assert.deepEqual(pluck((await page(conversation, 'review')).files, 'id'), [path('c.txt')]);
  });

  it('still wait after the session is reopened', async () => {
    const conversation = await started();
    await turn('own a.txt x');
    await conversation.close();
    const again = open({ kept: test.kept() });
    await test.session.until(({ changes }) => changes.review !== undefined);
    assert.equal(reviewOf(again)?.files, 1);
  });

  slowly('stand in the snapshot for programs, with what became of each', async () => {
    const conversation = await started();
    await turn('own a.txt x\nown c.txt c');
    const review = await conversation.changes.loadReview();
    await review.undo({ kind: 'file', id: review.files[0]?.id ?? '' });
    assert.deepEqual(snapshotOf(conversation).changes, [
      { path: path('a.txt'), added: 1, removed: 3, state: 'undone' },
      { path: path('c.txt'), added: 1, removed: 0, state: 'unreviewed' },
    ]);
  });

  slowly('name the last tool call of each file', async () => {
    const conversation = await started();
    const turnId = await turn('edit a.txt x\nown c.txt c\nedit a.txt y');
    const { files } = await page(conversation, { turnId });
    const { entries } = conversation.model.state;
    const last = entries.findLastIndex(({ kind }) => kind === 'tool');
    assert.deepEqual(pluck(files, 'index'), [last, undefined]);
  });

  slowly('tell where a file was written differently than its tool call shows', async () => {
    const conversation = await started();
    const turnId = await turn('edit a.txt x\\ny\\n\nedit-formatted c.txt x\\ny\\n');
    const messages: ToWebview[] = [];
    const feed = new SessionFeed(conversation, FEED_SOURCES, (message) => messages.push(message));
    feed.snapshot();
    feed.dispose();
    const [shown] = messages.flatMap((message) => (message.type === 'snapshot' ? [message.items] : []));
    const diffs = (shown ?? []).flatMap((item) => (item.kind === 'tool' ? item.content : []));
    assert.deepEqual(
      diffs.map((part) => part.type === 'diff' && [part.diff.label, part.diff.writtenDifferently]),
      [
        ['a.txt', undefined],
        ['c.txt', true],
      ],
    );
    const written = await conversation.changes.written(turnId, { path: path('c.txt'), newText: 'x\ny\n' });
    assert.deepEqual(written, { shown: 'x\ny\n', written: 'x;\ny;\n' });
  });

  slowly('tell where a file was written differently than the question showed that the user allowed', async () => {
    const conversation = await started();
    const diff = (name: string) => ({ type: 'diff', path: path(name), oldText: null, newText: 'asked\n' });
    const ask = (name: string, id: string): string =>
      `permission ${JSON.stringify({ toolCall: { toolCallId: id, title: `Write ${name}`, kind: 'edit', content: [diff(name)] } })}`;
    const end = (id: string): string =>
      `update ${JSON.stringify({ sessionUpdate: 'tool_call_update', toolCallId: id, status: 'completed' })}`;
    const plays = [
      [ask('as-asked.txt', 'one'), 'own as-asked.txt asked\\n', end('one')],
      [ask('other.txt', 'two'), 'own other.txt other\\n', end('two')],
    ];
    const { done } = conversation.send(plays.flat().join('\n'));
    for (const id of ['one', 'two']) {
      const isAsked = (): boolean =>
        [...conversation.model.state.permissions.values()].some(({ toolCallId }) => toolCallId === id);
      await test.session.until(isAsked);
      const [question] = [...conversation.model.state.permissions.keys()];
      assert.ok(conversation.answerPermission(question ?? '', 'allow'));
    }
    const { turnId } = await done;
    await conversation.changes.settled();
    assert.deepEqual(
      ['one', 'two'].map((id, index) =>
        conversation.changes.isWrittenDifferently(turnId, id, path(['as-asked.txt', 'other.txt'][index] ?? '')),
      ),
      [false, true],
    );
    assert.deepEqual(await conversation.changes.written(turnId, { path: path('other.txt'), newText: 'asked\n' }), {
      shown: 'asked\n',
      written: 'other\n',
    });
    const { files } = await page(conversation, { turnId });
    assert.deepEqual(
      files.map(({ label, index }) => [label, conversation.model.state.entries[index ?? -1]?.kind]),
      [
        ['as-asked.txt', 'tool'],
        ['other.txt', 'tool'],
      ],
    );
  });

  slowly('are sent in pages', async () => {
    const conversation = await started();
    const turnId = await turn('run for i in $(seq 1 450); do echo $i > f$i.txt; done');
    const first = await page(conversation, { turnId }, 0, 1000);
    assert.deepEqual([first.total, first.from, first.files.length], [450, 0, 200]);
    const last = await page(conversation, { turnId }, 400, 1000);
    assert.deepEqual([last.from, last.files.length], [400, 50]);
    const beyond = await page(conversation, { turnId }, 5000, 6000);
    assert.deepEqual([beyond.from, beyond.files.length], [450, 0]);
  });

  slowly('offer a restore before each message up to the last that changed something', async () => {
    const conversation = await started();
    await turn('say first');
    const changing = await turn('own a.txt x');
    await turn('say last');
    const can = conversation.model.state.turns.map((one) => conversation.changes.canRestore(one));
    assert.deepEqual(can, [true, true, false]);
    assert.equal(conversation.model.turn(changing)?.number, 2);
  });

  slowly('of a turn without an end are completed when the agent starts again', async () => {
    const conversation = await started();
    const done = conversation.send('edit a.txt x\nwait').done;
    await test.session.until(
      ({ model }) => model.state.turn !== undefined && model.turn(model.state.turn.id)?.changes !== undefined,
    );
    const kept = test.kept(); // as in the journal when the window is killed
    const turnId = kept.model.state.turn?.id ?? '';
    conversation.cancel();
    await done;
    await conversation.close();
    await writeFile(path('a.txt'), 'one\n');
    const again = open({ kept });
    assert.equal(again.changes.total(turnId), undefined);
    await again.start();
    await again.changes.settled();
    const { files, incomplete } = again.changes.total(turnId) ?? {};
    assert.deepEqual([files, incomplete], [1, 'interrupted']);
  });

  slowly('are known after the window has closed in the middle of a turn', async () => {
    const conversation = await started();
    conversation.send('edit a.txt x\nwait').done.catch(() => undefined);
    await test.session.until(
      ({ model }) => model.state.turn !== undefined && model.turn(model.state.turn.id)?.changes !== undefined,
    );
    const turnId = conversation.model.state.turn?.id ?? '';
    await conversation.close('window-ended');
    assert.equal(test.kept().model.turn(turnId)?.changes?.files, 1);
  });

  slowly('keep their counts where the states are gone', async () => {
    const conversation = await started();
    const turnId = await turn('own a.txt x');
    await conversation.close();
    await rm(test.changes.storage, { recursive: true });
    const again = open({ kept: test.kept() });
    assert.equal(again.changes.total(turnId)?.files, 1);
    await assert.rejects(page(again, { turnId }), ParleyError);
  });
});
