// What commands say when they fail, to people and to programs, and names that agents give.
import { strict as assert } from 'node:assert';
import { Uri } from 'vscode';
import { RpcError } from '../../src/acp/rpcError';
import { ParleyError } from '../../src/base/errors';
import type { Conversation } from '../../src/client/conversation';
import { failureFor, isProgram, showFailure } from '../../src/workbench/commandErrors';
import { newTerminal } from '../../src/workbench/ui/places';

const LINK = '[Open the report](command:workbench.action.quit)';

describe('failures of commands', () => {
  it('reach a program as an error without a link, and keep their code', () => {
    const thrown = failureFor(new ParleyError('no-modes', `${LINK} offers no modes.`));
    assert.ok(thrown instanceof ParleyError);
    assert.equal(thrown.code, 'no-modes');
    assert.doesNotMatch(thrown.message, /\]\(/);
    const plain = new ParleyError('x', 'Nothing special.');
    assert.equal(failureFor(plain), plain);
  });

  it('are thrown only where a program has called', () => {
    const menu: unknown[][] = [
      [],
      [undefined],
      [null],
      [Uri.file('/x'), [Uri.file('/x')]],
      [{ groupId: 1, editorIndex: 0 }],
      [{ webview: 'parley.chat' }],
    ];
    for (const args of menu) assert.equal(isProgram(args), false, String(args));
    for (const args of [[{ mode: 'x' }], ['x'], [{}]]) assert.equal(isProgram(args), true);
  });

  it("are said in the transcript where they are the agent's answer and the chat is in sight", () => {
    const noted: unknown[] = [];
    const conversation = { agent: { name: 'Ada' }, note: (events: unknown[]) => noted.push(...events) };
    showFailure(new RpcError(-32603, LINK), {
      conversation: conversation as unknown as Conversation,
      isChatVisible: true,
    });
    assert.match(JSON.stringify(noted), /Ada refused the command/);
  });
});

describe('names that agents give', () => {
  it('are text in a terminal', () => {
    const terminal = newTerminal(`$(zap~spin) ${LINK}\nsecond line`, {});
    assert.doesNotMatch(terminal.name, /\]\(|\$\(|\n/);
    terminal.dispose();
  });
});
