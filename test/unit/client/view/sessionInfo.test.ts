// The list of what there is to know of a session.
import { strict as assert } from 'node:assert';
import { type InfoRow, sessionInfo } from '../../../../src/client/view/sessionInfo';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { ChoosySession } from '../../../support/sessions/choosySession';

describe('session info', () => {
  let folder: string;
  let session: ChoosySession;

  beforeEach(async () => {
    folder = await scratchFolder();
    session = new ChoosySession(folder);
    session.open();
  });
  afterEach(async () => {
    await session.close();
    await removeScratch();
  });

  const rows = (): readonly string[] =>
    sessionInfo(session.conversation).map(({ label, value }: InfoRow) => `${label}: ${value}`);

  it('names the running agent with its version, the protocol and the folder', async () => {
    assert.deepEqual(rows(), ['choosy: Not running', `Folder: ${folder}`]);
    await session.conversation.start();
    assert.deepEqual(rows(), ['choosy: choosy 1', 'Protocol: version 1', `Folder: ${folder}`]);
  });
});
