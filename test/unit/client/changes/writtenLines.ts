// The turns that wrote the lines of a file of a session.
import { readFile } from 'node:fs/promises';
import { turnOfLine } from '../../../../src/client/changes/lineOrigin';
import type { useChangeSession } from '../../../support/changes/changeSession';

/** The numbers of the turns that wrote the lines of a file; undefined: none. */
export async function writtenLines(
  test: ReturnType<typeof useChangeSession>,
  name: string,
): Promise<readonly (number | undefined)[]> {
  const { changes, model } = test.session.conversation;
  const content = await readFile(test.path(name));
  const turns = model.state.turns.toReversed().flatMap(({ number, changes }) => (changes ? [{ number, changes }] : []));
  const states = await changes.states();
  const { signal } = new AbortController();
  const lines = content.toString('utf8').split('\n').slice(0, -1);
  const found = lines.map((_, line) => turnOfLine(states, turns, { path: test.path(name), content, line }, signal));
  return (await Promise.all(found)).map((one) => one?.number);
}
