// The product's own texts in a stored session, read by a window in another language.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import * as l10n from '@vscode/l10n';
import type { Conversation } from '../../../../src/client/conversation/conversation';
import { projectItem } from '../../../../src/client/view/projectItem';
import { waitReasonLabel } from '../../../../src/client/view/waitReasonLabels';
import type { SessionEvent } from '../../../../src/session/events/event';
import { useFaultWindows } from '../../../support/faults/faultWindow';

const GERMAN = JSON.parse(readFileSync('l10n/bundle.l10n.de.json', 'utf8')) as Record<string, string>;
const speakGerman = (): void => l10n.config({ contents: GERMAN });
const speakEnglish = (): void => l10n.config({ contents: {} });

function shown({ model }: Conversation): string {
  const context = { state: model.state, turn: (id: string) => model.turn(id), roots: [], isOpenable: () => false };
  return model.state.entries
    .filter(({ kind }) => ['error', 'notice', 'turn_end'].includes(kind))
    .map((entry) => JSON.stringify(projectItem(entry, context)))
    .join('\n');
}

describe('the texts of a stored session', () => {
  const windows = useFaultWindows();

  afterEach(speakEnglish);

  /** Stores a session whose agent exited with a message in the queue. */
  async function store({ noted, restarts = true }: { noted?: SessionEvent; restarts?: boolean } = {}): Promise<void> {
    const window = windows.start({ services: { restarts: () => false } });
    const { conversation, session } = window;
    conversation.send('die 3').done.catch(() => {});
    conversation.send('say what waits').done.catch(() => {});
    await session.until(({ connection: { kind } }) => kind === 'exited');
    if (noted) conversation.note([{ at: Date.now(), event: noted }]);
    if (restarts) await conversation.restart();
    windows.forget(window);
    await window.close();
  }

  const languages = [
    ['English', 'German', speakEnglish, speakGerman, /Keeper wurde mit Code 3 beendet\./, /exited with code/],
    ['German', 'English', speakGerman, speakEnglish, /Keeper exited with code 3\./, /beendet/],
  ] as const;
  for (const [stored, read, speakFirst, speakThen, wanted, other] of languages) {
    it(`are shown in ${read} if a window in ${stored} stored them`, async () => {
      speakFirst();
      await store();
      speakThen();
      const words = shown(windows.start().conversation);
      assert.equal(words.match(new RegExp(wanted, 'g'))?.length, 2, `the end of the turn and the error: ${words}`);
      assert.doesNotMatch(words, other);
    });

    it(`say in ${read} why the queue is paused if a window in ${stored} paused it`, async () => {
      speakFirst();
      await store({ restarts: false });
      speakThen();
      const paused = waitReasonLabel(windows.start().conversation.queue.paused ?? '');
      assert.match(paused, wanted);
      assert.doesNotMatch(paused, other);
    });
  }

  it('are shown as they were stored by versions that stored sentences', async () => {
    await store({
      noted: { type: 'error', code: 'agent-exited', message: 'Keeper exited with code 7.', hint: 'Restart it.' },
    });
    speakGerman();
    assert.match(shown(windows.start().conversation), /Keeper exited with code 7\..*Restart it\./);
  });

  it('contain the words of agents and servers unchanged', async () => {
    const sentence = 'Restart it.'; // The product has the same text.
    await store({ noted: { type: 'error', code: 'agent-error 1', message: sentence } });
    speakGerman();
    assert.match(shown(windows.start().conversation), /"text":"Restart it\."/);
  });
});
