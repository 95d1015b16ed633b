// Agents' replays compared with transcripts.
import assert from 'node:assert/strict';
import type { ToolContent } from '../../../../src/session/events/content';
import type { MessageRole, SessionEvent, StopReason } from '../../../../src/session/events/event';
import { textOf } from '../../../../src/session/model/entryText';
import { SessionModel } from '../../../../src/session/model/model';
import { reconcile } from '../../../../src/session/reconcile/reconcile';
import { began, call, chunk, ended as endOf, play, prompted } from '../../../support/sessionEvents';

const says =
  (role: MessageRole) =>
  (words: string, id?: string): SessionEvent =>
    chunk(role, words, id);
const [agent, user, thought] = [says('agent'), says('user'), says('thought')];
const tool = (id: string, status: 'pending' | 'completed' | 'failed', title = `Read ${id}`): SessionEvent =>
  call(id, { title, status });

type KnownTurn = readonly [prompt: string, ...events: readonly SessionEvent[]];

function ended(stopReason: StopReason, ...turns: readonly KnownTurn[]): SessionModel {
  const model = new SessionModel();
  for (const [index, [prompt, ...events]] of turns.entries()) {
    const turnId = `t${index + 1}`;
    const isLast = index === turns.length - 1;
    const why = isLast ? stopReason : 'end_turn';
    const end = endOf(turnId, why, why === 'error' ? 'exit' : 'response');
    for (const event of [began(turnId), prompted(turnId, prompt, `q${index}`), ...events, end]) model.apply(event, 0);
  }
  return model;
}

const cutOff = (...turns: readonly KnownTurn[]): SessionModel => ended('error', ...turns);
const complete = (...turns: readonly KnownTurn[]): SessionModel => ended('end_turn', ...turns);

const repeated = (...events: readonly SessionEvent[]): SessionModel =>
  play({ type: 'cleared', replay: true }, ...events);

function linesOf(model: SessionModel): string[] {
  return model.state.entries.flatMap((entry): string[] => {
    if (entry.kind === 'tool') return [`tool ${entry.toolCallId} ${entry.status}`];
    if (entry.kind === 'turn_end') return ['---'];
    if (entry.kind === 'notice') return [`notice: ${entry.title}`];
    if (entry.kind !== 'user' && entry.kind !== 'agent' && entry.kind !== 'thought') return [];
    return [`${entry.kind}: ${textOf(entry)}`];
  });
}

/** The transcript after a replay; replaying again must add nothing. */
function reconciled(ours: SessionModel, theirs: SessionModel): string[] {
  for (const event of reconcile(ours.state, theirs.state)) ours.apply(event, 1);
  assert.deepEqual(reconcile(ours.state, theirs.state), [], 'the same repetition brings nothing more');
  for (const [index, entry] of ours.state.entries.entries()) assert.equal(entry.index, index);
  assert.equal(new Set(ours.state.entries.map(({ id }) => id)).size, ours.state.entries.length);
  return linesOf(ours);
}

function brings(nothing: SessionModel, ...events: readonly SessionEvent[]): void {
  const before = linesOf(nothing);
  assert.deepEqual(reconciled(nothing, repeated(...events)), before);
}

describe('the replay of a session', () => {
  describe('without anything new', () => {
    it('shares the contents of the transcript in memory', () => {
      const long = 'a long answer '.repeat(100);
      const output = (): SessionEvent =>
        call('c1', {
          title: 'Run',
          status: 'completed',
          content: [{ type: 'content', block: { type: 'text', text: long } }],
          rawOutput: { output: long, code: 0 },
        });
      const known = ended('end_turn', ['go', output(), agent(long)]);
      const theirs = repeated(user('go'), output(), agent(long));
      assert.deepEqual(reconcile(known.state, theirs.state), []);
      const contents = ({ state }: SessionModel): unknown[] =>
        state.entries.flatMap((entry) => {
          if (entry.kind === 'tool') return [entry.content, entry.rawOutput];
          return entry.kind === 'agent' ? [...entry.content] : [];
        });
      const ours = contents(known);
      assert.equal(ours.length, 3);
      assert.deepEqual(
        contents(theirs).map((content, index) => content === ours[index]),
        [true, true, true],
      );
      theirs.apply(agent('more'), 2);
      assert.equal(JSON.stringify(known.state.entries).includes('more'), false, 'each goes on by itself');
    });

    it('shares a diff with the transcript that was read from disk', () => {
      const diff = { type: 'diff', path: '/ws/a.txt', newText: 'new' } as const;
      const edit = (content: ToolContent): SessionEvent =>
        call('c1', { title: 'Edit', status: 'completed', content: [content] });
      const known = ended('end_turn', ['go', edit(diff)]);
      const theirs = repeated(user('go'), edit({ ...diff, oldText: undefined, operation: undefined }));
      assert.deepEqual(reconcile(known.state, theirs.state), []);
      const contents = ({ state }: SessionModel): unknown =>
        state.entries.flatMap((entry) => (entry.kind === 'tool' ? [entry.content] : []))[0];
      assert.ok(contents(known));
      assert.equal(contents(theirs), contents(known));
    });

    it('is recognised when the agent omits text before its answer', () => {
      const ours = (): SessionModel =>
        complete([
          'one',
          agent('I will write a file.'),
          tool('c1', 'completed'),
          agent('Info: /ws/a.txt'),
          agent('Write finished.'),
        ]);
      brings(ours(), user('one'), agent('I will write a file.'), tool('c1', 'completed'), agent('Write finished.'));
      const indexed = complete(['one', agent('Indexing enabled for this folder.\n'), agent('Hello there.')]);
      brings(indexed, user('one'), agent('Hello there.'));
    });

    it('is recognised when unanswered user messages are joined', () => {
      const ours = complete(['first one'], ['hi'], ['third', agent('answer')]);
      brings(ours, user('first onehithird'), agent('answer'));
      brings(ours, user('first onehi'), user('third', 'u3'), agent('answer'));
    });

    it('is recognised when a user message comes in pieces with ids, or has more text than was typed', () => {
      const ours = complete(['look at the file a.txt'], ['thanks for that', agent('ok')]);
      brings(ours, user('look at the', 'u1'), user('file a.txt', 'u2'), user('thanks for that', 'u3'), agent('ok'));
      brings(ours, user('look at the file a.txt\n--- a.txt ---\nalpha'), user('thanks for that', 'u3'), agent('ok'));
    });

    it('is recognised by calls after its own messages before those after text that the agent inserts', () => {
      const prompt = 'Read the file, and then say what stands in it';
      const ours = cutOff([prompt, tool('c1', 'pending', 'Read a.ts')]);
      const lines = reconciled(
        ours,
        repeated(
          user('Read the file, and then'),
          user('[Function Response: read]', 'u2'),
          tool('x1', 'failed', 'Read a.ts'),
          user(' say what stands in it', 'u3'),
          tool('x2', 'completed', 'Read a.ts'),
        ),
      );
      assert.deepEqual(lines, [`user: ${prompt}`, 'tool x1 failed', 'tool c1 completed', '---']);
    });

    it('is recognised by the id of a call whose title changed', () => {
      const ours = complete(['one', tool('c1', 'completed', 'Shell: ls'), tool('c2', 'completed', 'Shell')]);
      brings(ours, user('one'), tool('c1', 'completed', 'Shell'), tool('c2', 'completed', 'Shell'));
    });

    it('is recognised when it begins in the middle of an answer', () => {
      const ours = complete(['one', agent('answer one')], ['two', agent('answer two')]);
      brings(ours, agent('wer one'), user('two'), agent('answer two'));
    });
    it('leaves earlier turns as they are, even if the agent replays more in them', () => {
      const ours = complete(['one', agent('The answer')], ['two', agent('second')]);
      brings(ours, user('one'), agent('The answer, and more'), user('two'), agent('second'));
    });

    it('adds nothing to a turn that the agent ended', () => {
      const ours = complete(['one', agent('first'), tool('c2', 'completed')]);
      const more = [tool('c1', 'completed'), agent('between')];
      brings(ours, user('one'), agent('first'), ...more, tool('c2', 'completed'));
    });

    it('adds nothing if the agent lost the end of the session', () => {
      const ours = complete(['one', agent('answer one')], ['two', agent('answer two')]);
      brings(ours, user('one'), agent('answer one'), user('something else'), agent('another answer'));
    });

    it('keeps thoughts that only one side has', () => {
      const ours = complete(['one', thought('I think about it'), agent('answer one')], ['two', agent('answer two')]);
      brings(ours, user('one'), agent('answer one'), thought('Another'), user('two'), agent('answer two'));
    });
  });

  describe('with new content', () => {
    it('adds the rest of an answer when the agent replays less before it', () => {
      const ours = cutOff(['one', tool('c1', 'completed'), agent('Info: /ws/a.txtWrite fini')]);
      const theirs = repeated(user('one'), tool('c1', 'completed'), agent('Write finished.'));
      assert.deepEqual(reconciled(ours, theirs).slice(1), [
        'tool c1 completed',
        'agent: Info: /ws/a.txtWrite finished.',
        '---',
      ]);
    });

    it('adds the rest of an interrupted turn before its end', () => {
      const ours = cutOff(['one', agent('T')]);
      const theirs = repeated(user('one'), agent('The answer.'), tool('c1', 'completed'), agent('Done.', 'a2'));
      const expected = ['user: one', 'agent: The answer.', 'tool c1 completed', 'agent: Done.', '---'];
      assert.deepEqual(reconciled(ours, theirs), expected);
      assert.ok(ours.state.entries.every(({ turnId, late }) => turnId === 't1' && !late));
      assert.equal(ours.state.turns[0]?.tools, 1);
    });

    it('adds what is missing in the middle of an interrupted turn in its place', () => {
      const ours = cutOff(['one', agent('first'), tool('c2', 'completed')]);
      const theirs = repeated(
        user('one'),
        agent('first'),
        tool('c1', 'completed'),
        agent('between'),
        tool('c2', 'completed'),
      );
      const expected = ['user: one', 'agent: first', 'tool c1 completed', 'agent: between', 'tool c2 completed', '---'];
      assert.deepEqual(reconciled(ours, theirs), expected);
    });

    it('adds what is missing of a turn that was being cancelled when the agent died', () => {
      const events = [began('t1'), prompted('t1', 'one'), agent('first'), tool('c2', 'completed')];
      const ours = play(...events, endOf('t1', 'cancelled', 'exit'));
      const theirs = repeated(user('one'), agent('first'), tool('c1', 'completed'), tool('c2', 'completed'));
      const expected = ['user: one', 'agent: first', 'tool c1 completed', 'tool c2 completed', '---'];
      assert.deepEqual(reconciled(ours, theirs), expected);
    });

    it('ends a tool call that the agent finished', () => {
      const ours = cutOff(['one', tool('c1', 'pending')]);
      assert.deepEqual(linesOf(ours), ['user: one', 'tool c1 cancelled', '---']);
      const theirs = repeated(user('one'), tool('c1', 'completed'));
      assert.deepEqual(reconciled(ours, theirs), ['user: one', 'tool c1 completed', '---']);
    });

    it('adds turns that ran elsewhere as separate turns', () => {
      const ours = complete(['one', agent('answer')]);
      const past = [user('one'), agent('answer'), user('from another client'), tool('c9', 'failed')];
      const theirs = repeated(...past, agent('done there'));
      const there = ['user: from another client', 'tool c9 failed', 'agent: done there'];
      assert.deepEqual(reconciled(ours, theirs), ['user: one', 'agent: answer', '---', ...there]);
      assert.ok(ours.state.entries.slice(3).every(({ turnId, late }) => turnId === 'r2' && !late));
      const more = repeated(...past, agent('done there, and more'));
      assert.deepEqual(reconciled(ours, more).at(-1), 'agent: done there, and more');
    });

    it('adds late messages of the agent after the end of the turn', () => {
      const ours = complete(['one', agent('answer one')]);
      const theirs = repeated(user('one'), agent('answer one', 'a1'), agent('And the build has passed.', 'a2'));
      assert.deepEqual(reconciled(ours, theirs), [
        'user: one',
        'agent: answer one',
        '---',
        'agent: And the build has passed.',
      ]);
    });

    it('adds notices once, and the output of calls with them', () => {
      const ours = complete(['one', agent('answer')]);
      const theirs = repeated(
        user('one'),
        agent('answer'),
        user('two', 'u2'),
        { type: 'terminal', terminalId: 'x1', output: 'out', exit: { exitCode: 0 } },
        call('c1', { title: 'Run', content: [{ type: 'terminal', terminalId: 'x1' }] }),
        { type: 'notice', severity: 'warning', title: 'Low quota' },
      );
      assert.deepEqual(reconciled(ours, theirs).slice(-2), ['tool c1 pending', 'notice: Low quota']);
      assert.equal(ours.state.terminals.get('x1')?.output, 'out');
    });

    it('rebuilds the transcript if nothing was saved', () => {
      const theirs = repeated(user('one'), agent('answer'));
      const ours = new SessionModel();
      ours.apply({ type: 'notice', severity: 'info', title: 'Opened', own: true }, 0);
      assert.deepEqual(reconciled(ours, theirs), ['notice: Opened', 'user: one', 'agent: answer']);
    });
  });
});
