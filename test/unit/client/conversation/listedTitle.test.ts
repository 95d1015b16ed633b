// Tests when the title of a session is taken from the agent's list.
import { strict as assert } from 'node:assert';
import { setImmediate } from 'node:timers/promises';
import { silentLog } from '../../../../src/base/log';
import { ListedTitle } from '../../../../src/client/conversation/listedTitle';
import type { SessionEvent } from '../../../../src/session/events/event';
import { ended } from '../../../support/sessionEvents';

describe('a title from the list of sessions', () => {
  function session(listed: readonly (string | undefined)[], state: { title?: string; isNamed?: boolean } = {}) {
    const it = { title: undefined as string | undefined, isNamed: false, replaying: false, ...state };
    let asked = 0;
    const conversation = {
      key: 'k',
      model: { state: it },
      sessionId: 's',
      recorder: {
        apply: (event: SessionEvent) => {
          if (event.type === 'info') it.title = event.title ?? undefined;
        },
      },
      ops: {
        can: () => true,
        async *list() {
          const found = listed[Math.min(asked++, listed.length - 1)];
          yield [{ sessionId: 's', cwd: '/w', additionalDirectories: [], title: found }];
        },
      },
      services: { log: silentLog },
    };
    const title = new ListedTitle(conversation);
    const turn = async (): Promise<string | undefined> => {
      title.happened(ended('t1'));
      await setImmediate();
      return it.title;
    };
    return { it, turn, conversation, asked: () => asked };
  }

  it('is used after the first turns, and again when it changes', async () => {
    const { turn, asked } = session(['One', undefined, 'Two', 'Three']);
    assert.deepEqual([await turn(), await turn(), await turn(), await turn()], ['One', 'One', 'Two', 'Two']);
    assert.equal(asked(), 3);
  });

  it('is not used while it is a timestamp', async () => {
    const { turn } = session(['New session - 2026-11-28T08:00:00.000Z', 'Real']);
    assert.deepEqual([await turn(), await turn()], [undefined, 'Real']);
  });

  it('is not used for a session that has replaced this one', async () => {
    const { turn, conversation } = session(['Of the old session']);
    const taken = turn();
    conversation.sessionId = 'other';
    assert.equal(await taken, undefined);
  });

  it('is not requested if the user or the agent names the session', async () => {
    for (const state of [{ title: 'Told' }, { title: 'Mine', isNamed: true }]) {
      const { turn, asked } = session(['Listed'], state);
      assert.equal(await turn(), state.title);
      assert.equal(asked(), 0);
    }
  });
});
