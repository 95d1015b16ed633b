// Questions of one window answered once in another, with two journals on one database.
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { silentLog } from '../../../../src/base/log';
import { type Machine, thisMachine } from '../../../../src/store/file/machine';
import type { Journal } from '../../../../src/store/journal';
import { AnswerProof, Inbox, type InboxQuestion } from '../../../../src/workbench/overview/inbox';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { type PlainSession, PlainSessions, SharedSecrets } from '../../../support/sessions/overview';
import { HeldTimers, newSession, openJournal } from '../../../support/store/journals';

interface TestWindow {
  readonly sessions: PlainSessions;
  readonly inbox: Inbox;
  readonly journal: Journal;
  readonly timers: HeldTimers;
}

describe('the inbox of all windows', () => {
  after(removeScratch);

  let alive: Set<number>;

  function openWindow(folder: string, pid: number, secrets = new SharedSecrets()): TestWindow {
    const machine: Machine = {
      ...thisMachine,
      pid,
      isAlive: (one) => alive.has(one),
      startOf: (one) => `start ${one}`,
      ticks: () => 0,
    };
    alive.add(pid);
    const journal = openJournal(folder, { machine });
    const sessions = new PlainSessions();
    const timers = new HeldTimers();
    const inbox = new Inbox({
      conversations: sessions,
      questions: () => journal.questions,
      windowId: `window ${pid}`,
      proof: new AnswerProof(secrets),
      titleOf: ({ key }) => `Session ${key}`,
      schedule: timers.schedule,
      log: silentLog,
    });
    return { sessions, inbox, journal, timers };
  }

  async function open(): Promise<{ owner: TestWindow; other: TestWindow; session: PlainSession; folder: string }> {
    alive = new Set();
    const folder = await scratchFolder();
    const secrets = new SharedSecrets();
    const owner = openWindow(folder, 1, secrets);
    const other = openWindow(folder, 2, secrets);
    owner.journal.saveSession(newSession('s'));
    owner.journal.claim('s', 'window 1');
    const session = owner.sessions.add('s');
    owner.sessions.onDidChange((key) => owner.inbox.offer(key));
    session.begin('t1');
    return { owner, other, session, folder };
  }

  const first = ({ inbox }: TestWindow): InboxQuestion => {
    inbox.look();
    const [question] = inbox.questions;
    assert.ok(question);
    return question;
  };

  async function settle(...windows: readonly TestWindow[]): Promise<void> {
    for (let round = 0; round < 3; round++)
      for (const { inbox } of windows) {
        inbox.look();
        await inbox.taken;
      }
  }

  it('lists a question of another window, and answers it there', async () => {
    const { owner, other, session } = await open();
    session.ask('Run the tests');
    const question = first(other);
    assert.deepEqual(
      [question.title, question.text, question.choices.map(({ label }) => label), question.isOurs],
      ['Run the tests', 'npm test', ['Allow', 'Reject'], false],
    );
    const answering = other.inbox.answer(question, 1);
    await new Promise(setImmediate);
    await settle(owner, other);
    assert.equal(await answering, true);
    assert.deepEqual(session.answers, ['no']);
    assert.deepEqual(other.inbox.questions, []);
  });

  it('lists the command of a call, whatever its title says, and answers no other one', async () => {
    const { owner, session } = await open();
    const asked = (command: string) => ({ title: 'npm test', kind: 'execute', rawInput: { command, env: {} } });
    session.askFor({ title: 'npm test', toolCallId: 'c', patch: asked('rm -rf build\nls') });
    const question = first(owner);
    assert.match(question.text, /^rm -rf build\nls\n\{\s+"command"/);
    session.apply({ type: 'tool_call', toolCallId: 'c', patch: asked('rm -rf /'), announced: false });
    assert.equal(await owner.inbox.answer(question, 0), false);
    session.apply({ type: 'tool_call', toolCallId: 'c', patch: asked('x'.repeat(5000)), announced: false });
    assert.deepEqual(first(owner).choices, [], 'it is too long to be read');
    const secret = asked('TOKEN=abcdefghijklmnop1234 rm -rf /');
    session.apply({ type: 'tool_call', toolCallId: 'c', patch: secret, announced: false });
    assert.deepEqual(first(owner).choices, [], 'a part of it is not shown');
    const blank = asked(`ls${'\n'.repeat(300)}rm\u00a0-rf /`);
    session.apply({ type: 'tool_call', toolCallId: 'c', patch: blank, announced: false });
    assert.match(first(owner).text, /^ls\n⟨299 blank lines⟩\nrm⟨U\+00A0⟩-rf \//);
  });

  it('does not answer a question that was withdrawn in the meantime', async () => {
    const { owner, other, session } = await open();
    const withdraw = session.ask('Run the tests');
    const question = first(other);
    withdraw();
    assert.equal(await other.inbox.answer(question, 0), false);
    await settle(owner, other);
    assert.deepEqual(session.answers, ['cancelled']);
  });

  it('rejects an answer that a program wrote to the database', async () => {
    const { owner, other, session, folder } = await open();
    session.ask('Run the tests');
    const database = new DatabaseSync(join(folder, 'parley.db'));
    for (const answer of [
      '{"choice":0,"proof":""}',
      `{"choice":0,"proof":"${'0'.repeat(64)}"}`,
      '0',
      'x'.repeat(5000),
    ]) {
      database.prepare('UPDATE questions SET answer = ?').run(answer);
      await settle(owner, other);
      assert.deepEqual(session.answers, []);
      assert.equal(first(other).title, 'Run the tests', 'the question stays open');
    }
    database.close();
  });

  it('rejects an answer to a question that a program changed in the database', async () => {
    const { owner, other, session, folder } = await open();
    session.ask('Delete everything', 'rm -rf /');
    const database = new DatabaseSync(join(folder, 'parley.db'));
    database.exec("UPDATE questions SET json = replace(json, 'Delete everything', 'Say hello')");
    database.close();
    const question = first(other);
    assert.equal(question.title, 'Say hello');
    const answering = other.inbox.answer(question, 0);
    await new Promise(setImmediate);
    await settle(owner);
    await settle(other);
    assert.equal(await answering, false);
    assert.deepEqual(session.answers, []);
  });

  it('rejects an answer of a window with another secret storage', async () => {
    const { owner, session, folder } = await open();
    const stranger = openWindow(folder, 3);
    session.ask('Run the tests');
    const answering = stranger.inbox.answer(first(stranger), 0);
    await new Promise(setImmediate);
    await settle(owner);
    await settle(stranger);
    assert.equal(await answering, false);
    assert.deepEqual(session.answers, []);
  });

  it('reports that a window did not accept an answer in time', async () => {
    const { other, session } = await open();
    session.ask('Run the tests');
    const answering = other.inbox.answer(first(other), 0);
    await new Promise(setImmediate);
    other.timers.run();
    assert.equal(await answering, false);
  });

  it('hides questions of closed windows', async () => {
    const { other, session } = await open();
    session.ask('Run the tests');
    first(other);
    alive.delete(1);
    other.inbox.look();
    assert.deepEqual(other.inbox.questions, []);
  });

  it('ignores rows that are not questions', async () => {
    const { other, session, folder } = await open();
    session.ask('Run the tests');
    const database = new DatabaseSync(join(folder, 'parley.db'));
    for (const json of ['', '[]', '{"title":1}', `{"title":"${'x'.repeat(1000)}"}`]) {
      database.prepare('UPDATE questions SET json = ?').run(json);
      other.inbox.look();
      assert.deepEqual(other.inbox.questions, []);
    }
    database.close();
  });

  it('ends every wait for an answer, even of two to the same question', async () => {
    const { owner, session, folder } = await open();
    const stranger = openWindow(folder, 3);
    session.ask('Run the tests');
    const question = first(stranger);
    const answering = [stranger.inbox.answer(question, 0)];
    await new Promise(setImmediate);
    await settle(owner);
    answering.push(stranger.inbox.answer(question, 1));
    await new Promise(setImmediate);
    await settle(owner, stranger);
    assert.deepEqual(await Promise.all(answering), [false, false]);
    assert.deepEqual(session.answers, []);
  });

  it('answers each question exactly once, whatever two windows do concurrently', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ by: fc.nat(2), choice: fc.nat(1), settles: fc.boolean() }), {
          minLength: 1,
          maxLength: 6,
        }),
        async (picks) => {
          const { owner, other, session, folder } = await open();
          const third = openWindow(folder, 3, new SharedSecrets());
          session.ask('Run the tests');
          const seen = new Map([owner, other, third].map((one) => [one, first(one)]));
          const answering: Promise<boolean>[] = [];
          for (const { by, choice, settles } of picks) {
            const one = [owner, other, third][by];
            const question = one && seen.get(one);
            if (!one || !question) continue;
            answering.push(one.inbox.answer(question, choice));
            if (settles) await settle(owner);
          }
          await new Promise(setImmediate);
          await settle(owner, other, third);
          for (const { timers } of [owner, other, third]) timers.run();
          await Promise.all(answering);
          assert.ok(session.answers.length <= 1);
          // The third window has another secret storage, so its answers never count.
          const trusted = picks.filter(({ by }) => by !== 2);
          if (trusted.length === picks.length) assert.equal(session.answers.length, 1);
          if (trusted.length === 0) assert.equal(session.answers.length, 0);
          for (const { journal } of [owner, other, third]) journal.dispose();
        },
      ),
      { numRuns: 40 },
    );
  });
});
