// What turns change on disk, with real agent processes and real git: whoever writes, and however early.

import { strict as assert } from 'node:assert';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { transcriptOf } from '../../../../src/client/sharing/messageCollector';
import { useChangeSession } from '../../../support/changes/changeSession';
import { scratchFolder } from '../../../support/scratch';
import { testConversation } from '../../../support/sessions/conversation';

describe('what turns change on disk', function () {
  this.timeout(30_000);
  const test = useChangeSession();
  const { open, started, turn, listed, git, path } = test;

  it('lists what the agent writes by itself, without a word', async () => {
    await started();
    const id = await turn('own new/c.txt c\nown a.txt one\\n');
    assert.deepEqual(await listed(id), ['a.txt +0 −2', 'new new/c.txt +1 −0']);
  });

  it('lists what a formatter does to 500 files, and undoes it byte by byte', async () => {
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

  it('lists what a command in a terminal of the client changes', async () => {
    open();
    const id = await turn("terminal require('fs').writeFileSync('t.txt', 'from a terminal')");
    assert.deepEqual(await listed(id), ['new t.txt +1 −0']);
  });

  it('lets the prompt leave, and the turn end, before a state is taken', async () => {
    const conversation = await started();
    const order: string[] = [];
    const release = test.changes.holdUp();
    await conversation.send('own a.txt x').done.then(() => order.push('turn ended'));
    release();
    await conversation.changes.settled();
    order.push('states taken');
    assert.deepEqual(order, ['turn ended', 'states taken']);
  });

  it('lists what was written before the first state of the turn was there', async () => {
    const conversation = await started();
    const release = test.changes.holdUp();
    const { turnId } = await conversation.send('own a.txt changed\nrun rm b.txt').done;
    release();
    await conversation.changes.settled();
    assert.deepEqual(await listed(turnId), ['a.txt +1 −3', 'gone b.txt +0 −1']);
    assert.equal(conversation.model.turn(turnId)?.changes?.incomplete, undefined);
  });

  it('says so where no state before the turn is known', async () => {
    const release = test.changes.holdUp();
    const conversation = open();
    const { turnId } = await conversation.send('own a.txt changed\nrun true').done;
    release();
    await conversation.changes.settled();
    assert.equal(conversation.model.turn(turnId)?.changes?.incomplete, 'late');
  });

  it('says so of turns without a word as well, where a file was written since they began', async () => {
    const release = test.changes.holdBack();
    const conversation = open();
    const said = await conversation.send('say Hello').done;
    await sleep(50); // no file system tells what happens within one tick apart
    const first = await conversation.send('own a.txt changed').done;
    const second = await conversation.send('run rm b.txt').done;
    await sleep(50);
    const last = await conversation.send('say Done').done;
    release();
    await conversation.changes.settled();
    const why = ({ turnId }: { turnId: string }): unknown => conversation.model.turn(turnId)?.changes?.incomplete;
    assert.deepEqual([said, first, second, last].map(why), ['late', 'late', 'late', undefined]);
  });

  it('holds a write through the client until the first state is there', async () => {
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

  it('lists no file that an undo has deleted before the turn', async () => {
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

  it('lists what the agent writes again at once after an undo', async () => {
    const conversation = await started();
    await turn('edit a.txt x');
    const review = await conversation.changes.loadReview();
    await conversation.changes.work.run('undo', () => review.undo({ kind: 'all' }));
    assert.deepEqual(await listed(await turn('edit a.txt x')), ['a.txt +1 −3']);
  });

  it('asks about files that changed meanwhile and were not named', async () => {
    const conversation = await started();
    const { changes } = conversation;
    // What the agent does not tell may be another program's.
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

  it('takes one state for all turns that follow each other while another is taken', async () => {
    const conversation = await started();
    const release = test.changes.holdUp();
    const ids: string[] = [];
    for (let number = 1; number <= 5; number++) {
      ids.push((await conversation.send(`own ${number}.txt x`).done).turnId);
      await sleep(50); // no file system tells what happens within one tick apart
    }
    const asked = test.changes.asked.length;
    release();
    await conversation.changes.settled();
    assert.equal(test.changes.asked.length, asked + 1);
    for (const [index, id] of ids.entries()) assert.deepEqual(await listed(id), [`new ${index + 1}.txt +1 −0`]);
  });

  it('shows what has changed while the turn runs', async () => {
    const conversation = await started();
    const done = conversation.send('edit a.txt changed\nwait').done;
    await test.session.until(({ changes, model }) => changes.total(model.state.turn?.id ?? '')?.files === 1);
    conversation.cancel();
    const { turnId } = await done;
    await conversation.changes.settled();
    assert.deepEqual(await listed(turnId), ['a.txt +1 −3']);
  });

  it('records the turn of an agent that dies', async () => {
    const conversation = await started();
    const { turnId } = await conversation.send('own a.txt x\ndie 3').done;
    await conversation.changes.settled();
    assert.deepEqual(await listed(turnId), ['a.txt +1 −3']);
  });

  it('marks files that the user edits during the turn', async () => {
    const conversation = await started();
    test.changes.edited.add(path('a.txt'));
    const id = await turn('own a.txt x\nown c.txt y');
    assert.deepEqual(conversation.model.turn(id)?.changes?.alsoYours, [path('a.txt')]);
  });

  it('marks files in a folder that the user makes or moves during the turn', async () => {
    const conversation = await started();
    test.changes.edited.add(path('sub'));
    const id = await turn('own sub/d.txt x\nown subs.txt y');
    assert.deepEqual(conversation.model.turn(id)?.changes?.alsoYours, [path('sub/d.txt')]);
  });

  it('runs no git in a session that another window has', async () => {
    const conversation = open({ isHeld: true });
    conversation.changes.warm();
    await conversation.start();
    await conversation.changes.settled();
    assert.deepEqual(test.changes.asked, []);
  });

  it('records an agent on another machine only where it may change something here', async () => {
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

  it('hands nothing of it to others with the transcript', async () => {
    const conversation = await started();
    const id = await turn('say Hello\nown a.txt x');
    assert.equal(conversation.model.turn(id)?.changes?.files, 1);
    const messages = JSON.stringify(transcriptOf(conversation.model, 'Agent'));
    assert.ok(messages.includes('Hello'));
    assert.ok(!messages.includes(test.session.folder) && !messages.includes('turn_changes'));
  });

  it('leaves the repository of the user as it is', async () => {
    open();
    const facts = (): string => [git('for-each-ref'), git('count-objects', '-v'), git('config', '--list')].join('\n');
    const [index, before] = [await readFile(path('.git/index')), facts()];
    await turn('own a.txt x\nown new.txt y');
    assert.deepEqual(await readFile(path('.git/index')), index);
    assert.equal(facts(), before);
  });

  it('lists changes in several folders', async () => {
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
