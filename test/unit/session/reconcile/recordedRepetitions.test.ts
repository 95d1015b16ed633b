// Recorded replays of real agents, compared with the transcript of a client.
import { strict as assert } from 'node:assert';
import { repeatedEvents } from '../../../../src/acp/quirks/repeatedPast';
import { at } from '../../../../src/base/untrusted';
import type { ContentBlock } from '../../../../src/session/events/content';
import type { SessionEvent } from '../../../../src/session/events/event';
import { textOf } from '../../../../src/session/model/entryText';
import { SessionModel } from '../../../../src/session/model/model';
import { reconcile } from '../../../../src/session/reconcile/reconcile';
import { readerOf, readInto } from '../../../support/protocol/onlyReads';
import { readRecording } from '../../../support/protocol/recordings';
import { began, ended, play } from '../../../support/sessionEvents';

function repeatedIn(recording: string): SessionEvent[] {
  const lines = readRecording(recording);
  const from = lines.findIndex(({ msg }) => msg?.method === 'session/load');
  const to = lines.findIndex(({ msg }) => msg?.method === 'session/prompt');
  const updates = lines
    .slice(from, to)
    .flatMap(({ dir, msg }) => (dir === 'a2c' && msg?.method === 'session/update' ? [at(msg.params, 'update')] : []));
  const events: SessionEvent[] = [];
  readerOf(1).readUpdates(
    updates,
    readInto((event) => events.push(event)),
  );
  return events;
}

const initializedIn = (recording: string): unknown =>
  readRecording(recording).find(({ dir, msg }) => dir === 'a2c' && msg?.id === 0)?.msg?.result;

const promptOf = (event: SessionEvent): ContentBlock | undefined => {
  if (event.type !== 'message_chunk' || event.role !== 'user' || event.block.type !== 'text') return undefined;
  return event.block.text.startsWith('SCRIPT:') ? event.block : undefined;
};

function transcriptOf(events: readonly SessionEvent[], stopReason: 'end_turn' | 'error'): SessionModel {
  const turns: SessionEvent[][] = [];
  for (const event of events) {
    const prompt = promptOf(event);
    const turnId = `t${turns.length + (prompt ? 1 : 0)}`;
    if (prompt) turns.push([began(turnId), { type: 'prompt_sent', turnId, promptId: turnId, content: [prompt] }]);
    else if (!(event.type === 'message_chunk' && event.role === 'user')) turns.at(-1)?.push(event);
  }
  const barrier = stopReason === 'error' ? 'exit' : 'response';
  return play(...turns.flatMap((turn, index) => [...turn, ended(`t${index + 1}`, stopReason, barrier)]));
}

describe('a recorded session', () => {
  for (const recording of ['gemini.reload', 'opencode.reload']) {
    for (const stopReason of ['end_turn', 'error'] as const) {
      it(`is unchanged by a reload: ${recording}, last turn ${stopReason}`, () => {
        const events = repeatedIn(recording);
        const known = transcriptOf(events, stopReason);
        const prompts = known.state.entries.filter(({ kind }) => kind === 'user').length;
        assert.ok(prompts >= 3);
        const repeated = new SessionModel();
        repeated.apply({ type: 'cleared', replay: true }, 0);
        for (const event of events) {
          repeated.apply(event, 0);
          // Split at any pause of the agent.
          assert.deepEqual(reconcile(known.state, repeated.state, true), []);
        }
        assert.deepEqual(reconcile(known.state, repeated.state), []);
      });
    }
  }

  it('becomes a full transcript in a client that opens it for the first time', () => {
    const asSaid = repeatedEvents(initializedIn('gemini.reload'));
    const model = play({ type: 'cleared', replay: true }, ...repeatedIn('gemini.reload').flatMap(asSaid));
    const said = model.state.entries.flatMap((entry) =>
      entry.kind === 'user' || entry.kind === 'agent' ? [`${entry.kind}: ${textOf(entry).slice(0, 25)}`] : [],
    );
    assert.deepEqual(said, [
      'user: <session_context>\nThis is',
      'user: SCRIPT:hello CWD=/rig/run',
      'agent: Hello from the **fake** m',
      'user: SCRIPT:write CWD=/rig/run',
      'agent: I will write a file.',
      'agent: Write finished.',
      'user: SCRIPT:bash CWD=/rig/run/',
      'agent: Running a command.',
      'agent: Command finished.',
    ]);
  });
});
