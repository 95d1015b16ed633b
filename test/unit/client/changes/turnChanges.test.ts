// What turns change on disk, with real agent processes and real git: whoever writes, and however early.
import { strict as assert } from 'node:assert';
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { useChangeSession } from '../../../support/changes/changeSession';

describe('what turns change on disk', function () {
  this.timeout(30_000);
  const test = useChangeSession();
  const { open, started, turn, listed, path } = test;

  it('lists what the agent writes through its client', async () => {
    const conversation = open();
    const id = await turn(`write ${path('a.txt')} one\\nTWO\\nthree\\n`);
    assert.deepEqual(await listed(id), ['a.txt +1 −1']);
    assert.equal(conversation.model.turn(id)?.changes?.files, 1);
  });

  it('lists what commands change: sed -i, git mv, rm', async () => {
    await started();
    const id = await turn('run sed -i s/two/2/ a.txt\nrun git mv b.txt c.txt');
    assert.deepEqual(await listed(id), ['a.txt +1 −1', 'b.txt → c.txt +0 −0']);
    const next = await turn('run rm c.txt');
    assert.deepEqual(await listed(next), ['gone c.txt +0 −1']);
  });

  it('keeps nothing of a turn that changes nothing', async () => {
    const conversation = await started();
    const id = await turn('say Hello');
    assert.equal(conversation.model.turn(id)?.changes, undefined);
    assert.equal(conversation.changes.total(id), undefined);
  });

  it('lists neither what the user changes between turns, nor what is written after an end', async () => {
    await started();
    await turn('own-later late.txt late\nown a.txt x');
    await writeFile(path('b.txt'), 'mine\n');
    await sleep(50); // no file system tells what happens within one tick apart
    assert.deepEqual(await listed(await turn('own a.txt y')), ['a.txt +1 −1']);
  });

  it('tells turns apart that follow each other at once', async () => {
    const conversation = await started();
    const one = conversation.send('own a.txt x\nsleep 50').done;
    const two = conversation.send('own b.txt y').done;
    const ids = [(await one).turnId, (await two).turnId] as const;
    await conversation.changes.settled();
    assert.deepEqual(await listed(ids[0]), ['a.txt +1 −3']);
    assert.deepEqual(await listed(ids[1]), ['b.txt +1 −1']);
  });

  it('runs no git where recording is turned off', async () => {
    test.changes.enabled = false;
    const conversation = open();
    const id = await turn('own a.txt x');
    assert.equal(conversation.model.turn(id)?.changes, undefined);
    assert.deepEqual(test.changes.asked, []);
  });

  it('runs no git in a workspace that is not trusted', async () => {
    const conversation = open({ services: { isTrusted: () => false } });
    conversation.changes.warm();
    await conversation.start();
    await conversation.changes.settled();
    assert.deepEqual(test.changes.asked, []);
  });

  it('says that only named files are known where there is no git', async () => {
    test.changes.env = { ...process.env, PATH: '/nowhere' };
    const conversation = await started();
    const read = { sessionUpdate: 'tool_call', toolCallId: 'r', title: 'Read', kind: 'read' };
    const reading = JSON.stringify({ ...read, locations: [{ path: 'a.txt' }] });
    const text = `update ${reading}\npermission\nedit a.txt changed\nwrite ${path('c.txt')} c\nown b.txt unnoticed`;
    const { done } = conversation.send(text);
    await test.session.until(({ model }) => model.state.permissions.size === 1);
    await (await conversation.changes.states()).take(); // after what was named
    const [asked] = conversation.model.state.permissions.keys();
    conversation.answerPermission(asked ?? '', 'allow');
    const { turnId: id } = await done;
    await conversation.changes.settled();
    assert.deepEqual(await listed(id), ['a.txt +1 −3', 'new c.txt +1 −0']);
    assert.equal(conversation.model.turn(id)?.changes?.incomplete, 'no-git');
  });
});
