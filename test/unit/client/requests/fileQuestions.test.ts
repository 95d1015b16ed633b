// Questions about files: one at a time in the transcript, closed with the turn.

import { strict as assert } from 'node:assert';
import { FileQuestions } from '../../../../src/client/requests/fileQuestions';
import { PermissionRequestHandler } from '../../../../src/client/requests/permissionRequestHandler';
import type { SessionEvent } from '../../../../src/session/events/event';
import { pluck } from '../../../support/pluck';

type Asked = Extract<SessionEvent, { type: 'permission_asked' }>;

describe('questions about files', () => {
  let events: SessionEvent[];
  let handler: PermissionRequestHandler;
  let questions: FileQuestions;
  const never = new AbortController().signal;

  beforeEach(() => {
    events = [];
    handler = new PermissionRequestHandler((event) => events.push(event));
    questions = new FileQuestions(handler);
  });

  const ask = (path: string, signal = never): Promise<boolean> =>
    questions.ask({ path, access: 'write', reason: 'outside', agentName: 'Ada' }, signal);
  const asked = (): Asked[] => events.filter((event) => event.type === 'permission_asked');
  const open = (): Asked[] =>
    asked().filter(
      ({ permissionId }) =>
        !events.some((event) => event.type === 'permission_closed' && event.permissionId === permissionId),
    );
  const answer = (optionId: string | null): void => {
    const [question] = open();
    assert.ok(question);
    assert.ok(handler.answer(question.permissionId, optionId));
  };
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('are cards in the transcript with the agent, the access and the path', async () => {
    const answered = ask('/etc/\u202epasswd');
    await settled();
    const [{ title, description, options } = assert.fail()] = asked();
    assert.equal(title, 'Allow Ada to write a file outside its folders?');
    assert.equal(description, '/etc/\u202epasswd'); // the card shows invisible characters
    assert.deepEqual(pluck(options, 'optionId'), ['allow', 'refuse', 'refuseAll']);
    answer('allow');
    assert.equal(await answered, true);
  });

  it('are asked one at a time', async () => {
    const answers = ['/a', '/b', '/c'].map((path) => ask(path));
    for (const [path, option] of [
      ['/a', 'allow'],
      ['/b', 'refuse'],
      ['/c', null],
    ] as const) {
      await settled();
      assert.deepEqual(pluck(open(), 'description'), [path]);
      answer(option);
    }
    assert.deepEqual(await Promise.all(answers), [true, false, false]);
  });

  it('are refused for the rest of the turn if the user chooses that', async () => {
    const answers = ['/a', '/b', '/c'].map((path) => ask(path));
    await settled();
    answer('refuseAll');
    assert.deepEqual(await Promise.all(answers), [false, false, false]);
    assert.equal(await ask('/d'), false);
    assert.equal(asked().length, 1);
    questions.turnEnded();
    const next = ask('/e');
    await settled();
    answer('allow');
    assert.equal(await next, true);
  });

  it('end with the turn, including those not yet shown', async () => {
    const answers = ['/a', '/b', '/c'].map((path) => ask(path));
    await settled();
    questions.turnEnded();
    assert.deepEqual(await Promise.all(answers), [false, false, false]);
    assert.equal(asked().length, 1);
    assert.equal(open().length, 0);
  });

  it('end when the agent withdraws its request, even if not yet shown', async () => {
    const withdrawn = new AbortController();
    const first = ask('/a');
    const second = ask('/b', withdrawn.signal);
    const third = ask('/c');
    await settled();
    withdrawn.abort();
    answer('allow');
    assert.deepEqual([await first, await second], [true, false]);
    await settled();
    assert.deepEqual(pluck(open(), 'description'), ['/c']);
    answer('refuse');
    assert.equal(await third, false);
  });

  it('are bounded: of a thousand, twenty are asked', async () => {
    const answers = Array.from({ length: 1_000 }, (_, n) => ask(`/${n}`));
    let given = 0;
    await settled();
    while (open().length > 0) {
      assert.equal(open().length, 1);
      answer('refuse');
      given += 1;
      await settled();
    }
    assert.equal((await Promise.all(answers)).includes(true), false);
    assert.equal(given, 20);
  });
});
