// Placeholders that agents add to a replayed past.
import { strict as assert } from 'node:assert';
import { repeatedEvents } from '../../../src/acp/quirks/repeatedPast';
import type { SessionEvent } from '../../../src/session/events/event';
import { textOf } from '../../../src/session/model/entryText';
import { chunk, play } from '../../support/sessionEvents';

function transcript(name: string, ...events: readonly SessionEvent[]): string[] {
  const asSaid = repeatedEvents({ agentInfo: { name } });
  return play({ type: 'cleared', replay: true }, ...events.flatMap(asSaid)).state.entries.flatMap((entry) =>
    entry.kind === 'user' || entry.kind === 'agent' ? [`${entry.kind}: ${textOf(entry)}`] : [],
  );
}

describe('a replayed past', () => {
  it('splits messages of gemini-cli at its placeholders', () => {
    assert.deepEqual(
      transcript(
        'gemini-cli',
        chunk('user', 'Write it.'),
        chunk('agent', 'I will write a file.[Function Call: write_file][Function Call: mcp.list:x]'),
        chunk('user', '[Function Response: write_file]'),
        chunk('agent', '[Function Call: run_shell_command]'),
        chunk('user', '[Function Response: run_shell_command]'),
        chunk('agent', '[Thought: true]Done.'),
      ),
      ['user: Write it.', 'agent: I will write a file.', 'agent: Done.'],
    );
  });

  it('keeps real text that resembles a placeholder', () => {
    const events = [chunk('user', 'What is [Function Response: x]?'), chunk('agent', '[Function Call: x] is a call.')];
    const said = ['user: What is [Function Response: x]?', 'agent: [Function Call: x] is a call.'];
    assert.deepEqual(transcript('gemini-cli', ...events), said);
    const last = [chunk('user', '[Function Response: x]'), chunk('agent', 'It writes [Function Call: x]')];
    assert.deepEqual(transcript('other', ...last), [
      'user: [Function Response: x]',
      'agent: It writes [Function Call: x]',
    ]);
  });

  it('separates user messages without an answer in between', () => {
    for (const name of ['gemini-cli', 'pi-acp', 'Copilot'])
      assert.deepEqual(
        transcript(name, chunk('user', 'one'), chunk('user', 'two'), chunk('agent', 'Yes')),
        ['user: one', 'user: two', 'agent: Yes'],
        name,
      );
  });

  it('joins the chunks of a user message of other agents', () => {
    assert.deepEqual(transcript('other', chunk('user', 'o'), chunk('user', 'ne')), ['user: one']);
  });
});
