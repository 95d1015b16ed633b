// A pseudo-locale puts accents on the letters of all our texts: text without them was not
// translated, or was composed of untranslated pieces.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import * as l10n from '@vscode/l10n';
import { getL10nPseudoLocalized, type l10nJsonFormat } from '@vscode/l10n-dev';
import { noticeTexts } from '../../../../src/client/view/ownTexts';
import { projectSession } from '../../../../src/client/view/projectSession';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import { ownText } from '../../../../src/session/events/ownText';
import { testConversation } from '../../../support/sessions/conversation';

const ENGLISH = JSON.parse(readFileSync('l10n/bundle.l10n.json', 'utf8')) as l10nJsonFormat;

/** Words of three or more letters without an accent, except names and settings. */
function plainWords(text: string): readonly string[] {
  const names = /\b(?:Ada|nowhere-agent|parley\.\w+|PATH|https?:\S+)\b|\/\S+/g;
  return text.replace(names, '').match(/(?<![\p{L}\p{M}])[A-Za-z]{3,}(?![\p{L}\p{M}])/gu) ?? [];
}

describe('a pseudo-locale', () => {
  before(() => l10n.config({ contents: getL10nPseudoLocalized(ENGLISH) }));
  after(() => l10n.config({ contents: {} }));

  it('covers all texts about an agent before it starts and after it fails', async () => {
    const agent = {
      type: 'process',
      id: 'ada',
      name: 'Ada',
      command: 'nowhere-agent',
      args: [],
      env: {},
      protocol: 'auto',
    } as const;
    const { conversation, close } = testConversation({ agent, cwd: process.cwd() });
    const idle = projectSession(conversation).status;
    await conversation.start();
    const { status, error } = projectSession(conversation);
    assert.equal(error?.code, 'agent-not-found');
    const shown = [idle, status, error.message, error.hint ?? '', ...error.actions.map(({ label }) => label)];
    assert.deepEqual(shown.flatMap(plainWords), []);
    assert.equal(snapshotOf(conversation).state, 'failed', 'codes for programs are the same in every language');
    await close();
  });

  it('covers texts stored as codes, with unchanged arguments', () => {
    const base = { kind: 'notice', id: 'e0', index: 0, at: 0, severity: 'info', title: '', text: '' } as const;
    const said = [
      ownText('new-session', 'Ada'),
      ownText('opened-from', 3, 2, 'https://a.example', 2, 'https://b.example', 1),
      ownText('opened-end', 'Ada', 1, 'missing', 0),
      ownText('server-branch', 'https://a.example', 2, 3),
    ];
    for (const one of said) {
      const { title, text } = noticeTexts({ ...base, said: one, action: { id: 'show:x' } });
      assert.deepEqual([title, text].flatMap(plainWords), []);
      assert.match(title + text, /Ada|a\.example/);
    }
  });
});
