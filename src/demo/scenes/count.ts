// Counts in the state of the session, which goes along wherever the session does.
import type { Turn } from '../turn';

export async function count(turn: Turn): Promise<void> {
  const { state } = turn.session;
  if (state === undefined) {
    await turn.say('This client keeps no state for agents: the count lives in sessions that others can reach.');
    return;
  }
  if (state.unavailable !== undefined)
    await turn.say(`The state could not be read, so I start again: ${state.unavailable}\n\n`);
  if (state.hasConflict) await turn.say('Somebody else has counted meanwhile: my last count was not stored.\n\n');
  const next = (Number(state.content) || 0) + 1;
  await turn.session.storeState(String(next));
  await turn.say(`Count: ${next}`);
}
