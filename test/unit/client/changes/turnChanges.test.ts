// What turns change on disk, with real agent processes and real git: whoever writes, and however early.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Conversation } from '../../../../src/client/conversation/conversation';
import type { ConversationServices } from '../../../../src/client/conversation/conversationOptions';
import { useAgentSession } from '../../../support/agentSession';
import { scriptedAgent } from '../../../support/agents/definition';
import type { AgentScript, presets } from '../../../support/agents/script';
import { TestChangeServices } from '../../../support/changeServices';
import { scratchFolder } from '../../../support/scratch';

describe('what turns change on disk', function () {
  this.timeout(30_000);
  const session = useAgentSession();
  let changes: TestChangeServices;

  beforeEach(async () => {
    changes = new TestChangeServices(await scratchFolder());
    git('init', '-q');
    await writeFile(join(session.folder, 'a.txt'), 'one\ntwo\nthree\n');
    await writeFile(join(session.folder, 'b.txt'), 'b\n');
    git('add', '.');
    git('-c', 'user.name=T', '-c', 'user.email=t@t', 'commit', '-qm', 'first');
  });

  const git = (...args: string[]): string => execFileSync('git', args, { cwd: session.folder, encoding: 'utf8' });
  const open = (
    script: keyof typeof presets | AgentScript = 'plain',
    services: Partial<ConversationServices> = {},
  ): Conversation =>
    session.openAgent(scriptedAgent(script, session.agentLog), { services: { changes, ...services } }).conversation;

  /** Starts the agent, and waits for the state that is taken then. */
  const started = async (conversation: Conversation): Promise<void> => {
    await conversation.start();
    await conversation.changes.settled();
  };

  /** Runs one turn to the end of what is known of it. */
  const turn = async (conversation: Conversation, text: string): Promise<string> => {
    const { turnId } = await conversation.send(text).done;
    await conversation.changes.settled();
    return turnId;
  };

  /** What changed, as `path +added −removed`. */
  const listed = async (conversation: Conversation, turnId: string): Promise<string[]> =>
    (await conversation.changes.changesOf(turnId)).map(
      ({ path, oldPath, added, removed, before, after }) =>
        `${!before ? 'new ' : after ? '' : 'gone '}${oldPath === undefined ? '' : `${oldPath} → `}${path} +${added} −${removed}`,
    );

  it('lists what the agent writes through its client', async () => {
    const conversation = open();
    const id = await turn(conversation, `write ${join(session.folder, 'a.txt')} one\\nTWO\\nthree\\n`);
    assert.deepEqual(await listed(conversation, id), ['a.txt +1 −1']);
    assert.equal(conversation.model.turn(id)?.changes?.files, 1);
  });

  it('lists what the agent writes by itself, without a word', async () => {
    const conversation = open();
    await started(conversation);
    const id = await turn(conversation, 'own new/c.txt c\nown a.txt one\\n');
    assert.deepEqual(await listed(conversation, id), ['a.txt +0 −2', 'new new/c.txt +1 −0']);
  });

  it('lists what commands change: sed -i, git mv, rm', async () => {
    const conversation = open();
    await started(conversation);
    const id = await turn(conversation, 'run sed -i s/two/2/ a.txt\nrun git mv b.txt c.txt');
    assert.deepEqual(await listed(conversation, id), ['a.txt +1 −1', 'b.txt → c.txt +0 −0']);
    const next = await turn(conversation, 'run rm c.txt');
    assert.deepEqual(await listed(conversation, next), ['gone c.txt +0 −1']);
  });

  it('lists what a command in a terminal of the client changes', async () => {
    const conversation = open();
    const id = await turn(conversation, "terminal require('fs').writeFileSync('t.txt', 'from a terminal')");
    assert.deepEqual(await listed(conversation, id), ['new t.txt +1 −0']);
  });

  it('keeps nothing of a turn that changes nothing', async () => {
    const conversation = open();
    const id = await turn(conversation, 'say Hello');
    assert.equal(conversation.model.turn(id)?.changes, undefined);
    assert.equal(conversation.changes.total(id), undefined);
  });

  it('lets the prompt leave before the state is taken', async () => {
    const conversation = open();
    await started(conversation);
    changes.asked.length = 0;
    const order: string[] = [];
    const release = changes.holdUp();
    const ended = conversation.send('own a.txt x').done.then(() => order.push('turn ended'));
    await ended;
    release();
    await conversation.changes.settled();
    order.push('states taken');
    assert.deepEqual(order, ['turn ended', 'states taken']);
  });

  it('lists what was written before the first state of the turn was there', async () => {
    const conversation = open();
    await started(conversation);
    const release = changes.holdUp();
    const { turnId } = await conversation.send('own a.txt changed\nrun rm b.txt').done;
    release();
    await conversation.changes.settled();
    assert.deepEqual(await listed(conversation, turnId), ['a.txt +1 −3', 'gone b.txt +0 −1']);
    assert.equal(conversation.model.turn(turnId)?.changes?.incomplete, undefined);
  });

  it('says so where no state before the turn is known', async () => {
    const release = changes.holdUp();
    const conversation = open();
    const { turnId } = await conversation.send('own a.txt changed\nrun true').done;
    release();
    await conversation.changes.settled();
    assert.equal(conversation.model.turn(turnId)?.changes?.incomplete, 'late');
  });

  it('does not list what the user changes between turns, nor what is written after the end', async () => {
    const conversation = open();
    await started(conversation);
    await turn(conversation, 'own-later late.txt late\nown a.txt x');
    await writeFile(join(session.folder, 'b.txt'), 'mine\n');
    await sleep(50); // no file system tells what happens within one tick apart
    const id = await turn(conversation, 'own a.txt y');
    assert.deepEqual(await listed(conversation, id), ['a.txt +1 −1']);
  });

  it('tells turns apart that follow each other at once', async () => {
    const conversation = open();
    await started(conversation);
    const one = conversation.send('own a.txt x\nsleep 50').done;
    const two = conversation.send('own b.txt y').done;
    const ids = [(await one).turnId, (await two).turnId];
    await conversation.changes.settled();
    assert.deepEqual(await listed(conversation, ids[0] ?? ''), ['a.txt +1 −3']);
    assert.deepEqual(await listed(conversation, ids[1] ?? ''), ['b.txt +1 −1']);
  });

  it('shows what has changed while the turn runs', async () => {
    const conversation = open();
    await started(conversation);
    const done = conversation.send('edit a.txt changed\nwait').done;
    await session.until(({ changes: recorded, model }) => recorded.total(model.state.turn?.id ?? '')?.files === 1);
    conversation.cancel();
    const { turnId } = await done;
    await conversation.changes.settled();
    assert.deepEqual(await listed(conversation, turnId), ['a.txt +1 −3']);
  });

  it('records nothing where it is turned off, or the workspace is not trusted', async () => {
    changes.enabled = false;
    const conversation = open();
    const id = await turn(conversation, 'own a.txt x');
    assert.equal(conversation.model.turn(id)?.changes, undefined);
    assert.deepEqual(changes.asked, []);
  });

  it('leaves the repository of the user as it is', async () => {
    const conversation = open();
    const before = await readFile(join(session.folder, '.git/index'));
    const refs = git('for-each-ref');
    await turn(conversation, 'own a.txt x\nown new.txt y');
    assert.deepEqual(await readFile(join(session.folder, '.git/index')), before);
    assert.equal(git('for-each-ref'), refs);
    assert.equal(git('count-objects'), git('count-objects'));
  });

  it('lists changes in several folders', async () => {
    const other = await scratchFolder();
    await mkdir(join(other, 'deep'));
    await writeFile(join(other, 'deep/d.txt'), 'd\n');
    const { conversation } = session.openAgent(scriptedAgent('plain', session.agentLog), {
      services: { changes },
      roots: [session.folder, other],
    });
    await started(conversation);
    const id = await turn(conversation, `own a.txt x\nown ${join(other, 'deep/d.txt')} changed`);
    const found = await conversation.changes.changesOf(id);
    assert.deepEqual(
      found.map(({ root, path }) => join(root, path)).sort(),
      [join(session.folder, 'a.txt'), join(other, 'deep/d.txt')].sort(),
    );
    await rm(other, { recursive: true });
  });
});
