// Messages that may not have arrived, and a replay by the agent: constructed, and with real agents
// that are killed.
import { strict as assert } from 'node:assert';
import { textOf } from '../../../../src/session/model/entryText';
import type { MessageEntry } from '../../../../src/session/model/state';
import { PromptQueue, type QueueItem } from '../../../../src/session/queue/queue';
import { resolveDoubtfulPrompts } from '../../../../src/session/reconcile/doubtfulPrompts';
import {
  type FaultWindow,
  type FaultWindowOptions,
  keepingAgent,
  useFaultWindows,
} from '../../../support/faults/faultWindow';

function user(index: number, text: string, promptId?: string): MessageEntry {
  const base = { id: `e${index}`, index, at: 0, kind: 'user', dropped: 0, until: 0 } as const;
  return { ...base, content: [{ type: 'text', text }], promptId };
}

function transcript(...texts: readonly string[]): MessageEntry[] {
  return texts.map((text, index) => {
    const [, promptId, rest] = /^(q\d+): (.*)$/s.exec(text) ?? [];
    return user(index, rest ?? text, promptId);
  });
}

function queueOf(...doubtful: readonly (readonly [id: string, text: string, repeats?: string])[]): PromptQueue {
  const queue = new PromptQueue(() => {});
  const common = { attachments: [], held: false } as const;
  const items = doubtful.map(
    ([id, text, repeats]): QueueItem => ({
      ...common,
      ...{ id, text, state: 'failed', reason: 'in-doubt', doubtful: true, repeats },
    }),
  );
  queue.restore([...items, { ...common, id: 'q9', text: 'do it', state: 'queued' }], 'the window ended', 9);
  return queue;
}

const idsOf = (queue: PromptQueue): string[] => queue.items.map(({ id }) => id);

describe('a message in doubt', () => {
  it('is resolved if the agent replays it', () => {
    const queue = queueOf(['q4', 'do it', 'q2'], ['q3', 'and that']);
    const taken = resolveDoubtfulPrompts(
      queue,
      transcript('q1: hello', 'q2: do it'),
      transcript('hello', 'do\nit', 'and that'),
    );
    assert.deepEqual(
      taken.map(({ id }) => id),
      ['q4', 'q3'],
    );
    assert.deepEqual(idsOf(queue), ['q9'], 'what only waits goes on waiting');
    assert.equal(queue.paused, 'the window ended');
  });

  it('stays in doubt if the replay lacks it', () => {
    const queue = queueOf(['q4', 'do it', 'q2']);
    assert.deepEqual(resolveDoubtfulPrompts(queue, transcript('q1: hello', 'q2: do it'), transcript('hello')), []);
    assert.deepEqual(resolveDoubtfulPrompts(queue, transcript('q1: hello', 'q2: do it'), []), []);
    assert.deepEqual(idsOf(queue), ['q4', 'q9']);
  });

  it('is distinguished from another one with the same text', () => {
    const again = queueOf(['q4', 'do it', 'q2']);
    assert.deepEqual(resolveDoubtfulPrompts(again, transcript('q1: do it', 'q2: do it'), transcript('do it')), []);
    assert.equal(
      resolveDoubtfulPrompts(again, transcript('q1: do it', 'q2: do it'), transcript('do it', 'do it')).length,
      1,
    );
    const twice = queueOf(['q2', 'do it'], ['q3', 'do it']);
    assert.equal(resolveDoubtfulPrompts(twice, transcript('q1: hello'), transcript('hello', 'do it')).length, 1);
    assert.deepEqual(idsOf(twice), ['q3', 'q9'], 'one copy stands for one message');
  });

  it('is distinguished from a refused one with the same text', () => {
    const queue = queueOf(['q4', 'do it', 'q2']);
    const refused = queue.find('q4');
    assert.ok(refused);
    queue.setState(refused, 'failed', 'in-doubt');
    assert.deepEqual(
      resolveDoubtfulPrompts(queue, transcript('q1: hello', 'q2: do it'), transcript('hello', 'do it')),
      [],
    );
  });

  it('is matched only after the last certain message', () => {
    const queue = queueOf(['q2', 'do it']);
    assert.deepEqual(resolveDoubtfulPrompts(queue, transcript('q1: hello'), transcript('do it', 'hello')), []);
    assert.equal(
      resolveDoubtfulPrompts(queue, transcript('q1: hello'), transcript('do it')).length,
      1,
      'the rest was forgotten',
    );
  });

  it('leaves an empty queue running', () => {
    const queue = queueOf(['q2', 'do that']);
    queue.remove('q9');
    resolveDoubtfulPrompts(queue, [], transcript('do that'));
    assert.deepEqual([idsOf(queue), queue.paused], [[], undefined]);
  });
});

describe('a user whose window closed while a message was being sent', () => {
  const windows = useFaultWindows({ reopens: 'load' });

  async function comesBack(options: Partial<FaultWindowOptions> = {}): Promise<FaultWindow> {
    const first = windows.start(options);
    first.type('one');
    await first.session.until((c) => c.connection.kind === 'ready' && c.queue.items.length === 0 && !c.isBusy);
    first.type('two', 'wait');
    await first.untilLogged(({ msg }) => JSON.stringify(msg ?? '').includes('<two>'));
    await first.session.until((c) => c.isBusy);
    first.lose();
    windows.forget(first);
    const next = windows.start(options);
    assert.deepEqual(
      next.inDoubt.map(({ text }) => text),
      ['wait\nsay <two>'],
    );
    await next.conversation.start();
    return next;
  }

  const prompts = ({ conversation }: FaultWindow): string[] =>
    conversation.model.state.entries.flatMap((entry) => (entry.kind === 'user' ? [textOf(entry)] : []));

  it('is not asked about a message that the agent replays', async () => {
    const window = await comesBack();
    assert.deepEqual([...window.conversation.queue.items], []);
    assert.equal(window.conversation.queue.paused, undefined);
    assert.deepEqual(prompts(window), ['say <one>', 'wait\nsay <two>'], 'it stands there once');
    assert.equal(window.journal.queue.items(window.key).length, 0);
  });

  it('is asked about a message that the agent does not replay', async () => {
    const window = await comesBack({ agent: keepingAgent(windows.folder, { reopens: 'resume' }) });
    assert.equal(window.conversation.connection.kind, 'ready');
    assert.equal(window.inDoubt.length, 1);
  });
});
