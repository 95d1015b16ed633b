// What is shown of the changes of a session, and what survives its window.
import { strict as assert } from 'node:assert';
import { rm, writeFile } from 'node:fs/promises';
import { ParleyError } from '../../../../src/base/errors';
import type { Conversation } from '../../../../src/client/conversation/conversation';
import { SessionFeed } from '../../../../src/client/view/feed';
import { changesPage } from '../../../../src/client/view/projectChanges';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import type { ChangesScope, ToWebview } from '../../../../src/panel/contract';
import { useChangeSession } from '../../../support/changes/changeSession';
import { FEED_SOURCES } from '../../../support/sessions/feedSources';

type Page = Extract<ToWebview, { type: 'changes' }>;

describe('the changes of a session', function () {
  this.timeout(30_000);
  const test = useChangeSession();
  const { started, open, turn, path } = test;

  const page = async (conversation: Conversation, scope: ChangesScope, from = 0, to = 200): Promise<Page> =>
    (await changesPage(conversation, scope, from, to)) as Page;

  it('stand in the snapshot for programs, with what became of each', async () => {
    const conversation = await started();
    await turn('own a.txt x\nown c.txt c');
    const review = await conversation.changes.loadReview();
    await review.undo({ kind: 'file', id: review.files[0]?.id ?? '' });
    assert.deepEqual(snapshotOf(conversation).changes, [
      { path: path('a.txt'), added: 1, removed: 3, state: 'undone' },
      { path: path('c.txt'), added: 1, removed: 0, state: 'unreviewed' },
    ]);
  });

  it('name the last tool call of each file', async () => {
    const conversation = await started();
    const turnId = await turn('edit a.txt x\nown c.txt c\nedit a.txt y');
    const { files } = await page(conversation, { turnId });
    const { entries } = conversation.model.state;
    const last = entries.findLastIndex(({ kind }) => kind === 'tool');
    assert.deepEqual(
      files.map(({ index }) => index),
      [last, undefined],
    );
  });

  it('tell where a file was written differently than its tool call shows', async () => {
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

  it('tell where a file was written differently than the question showed that the user allowed', async () => {
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

  it('are sent in pages', async () => {
    const conversation = await started();
    const turnId = await turn('run for i in $(seq 1 450); do echo $i > f$i.txt; done');
    const first = await page(conversation, { turnId }, 0, 1000);
    assert.deepEqual([first.total, first.from, first.files.length], [450, 0, 200]);
    const last = await page(conversation, { turnId }, 400, 1000);
    assert.deepEqual([last.from, last.files.length], [400, 50]);
    const beyond = await page(conversation, { turnId }, 5000, 6000);
    assert.deepEqual([beyond.from, beyond.files.length], [450, 0]);
  });

  it('offer a restore before each message up to the last that changed something', async () => {
    const conversation = await started();
    await turn('say first');
    const changing = await turn('own a.txt x');
    await turn('say last');
    const can = conversation.model.state.turns.map((one) => conversation.changes.canRestore(one));
    assert.deepEqual(can, [true, true, false]);
    assert.equal(conversation.model.turn(changing)?.number, 2);
  });

  it('of a turn without an end are completed when the agent starts again', async () => {
    const conversation = await started();
    const done = conversation.send('edit a.txt x\nwait').done;
    await test.session.until(
      ({ model }) => model.state.turn !== undefined && model.turn(model.state.turn.id)?.changes !== undefined,
    );
    const kept = test.kept(); // as the journal has it when the window is killed
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

  it('are known after the window has closed in the middle of a turn', async () => {
    const conversation = await started();
    conversation.send('edit a.txt x\nwait').done.catch(() => undefined);
    await test.session.until(
      ({ model }) => model.state.turn !== undefined && model.turn(model.state.turn.id)?.changes !== undefined,
    );
    const turnId = conversation.model.state.turn?.id ?? '';
    await conversation.close('window-ended');
    assert.equal(test.kept().model.turn(turnId)?.changes?.files, 1);
  });

  it('keep their counts where the states are gone', async () => {
    const conversation = await started();
    const turnId = await turn('own a.txt x');
    await conversation.close();
    await rm(test.changes.storage, { recursive: true });
    const again = open({ kept: test.kept() });
    assert.equal(again.changes.total(turnId)?.files, 1);
    await assert.rejects(page(again, { turnId }), ParleyError);
  });
});
