// What commands say when they fail, to people and to programs, and names that agents give.
import { strict as assert } from 'node:assert';
import { Uri } from 'vscode';
import { RpcError } from '../../src/acp/jsonrpc/rpcError';
import { ParleyError } from '../../src/base/errors';
import type { Conversation } from '../../src/client/conversation/conversation';
import { failureFor, isProgram, showFailure } from '../../src/workbench/commands/commandErrors';
import { type CommandServices, commandsOf } from '../../src/workbench/commands/commands';
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
    assert.match(JSON.stringify(noted), /"code":"command-refused","args":\["Ada"\]/);
  });
});

describe('commands', () => {
  const attached: string[] = [];
  const surface = {
    conversation: { unsent: { attach: ({ detail }: { detail: string }) => attached.push(detail) } },
    focus() {},
  };
  const services = {
    conversations: { peek: () => undefined },
    catalog: { find: () => undefined },
    chat: { open: () => surface, isVisible: false },
    overview: {},
  } as unknown as CommandServices;
  const run = (id: string, ...args: unknown[]): Promise<unknown> =>
    commandsOf(services).get(`parley.${id}`)?.(...(args as never[])) ?? assert.fail(id);

  it('attach all files that are selected in the explorer', async () => {
    const [one, two] = [Uri.file('/tmp/a.txt'), Uri.file('/tmp/b.txt')];
    await run('addFile', one, [one, two]);
    await run('addFile', two, { groupId: 1 });
    assert.deepEqual(attached, ['/tmp/a.txt', '/tmp/b.txt', '/tmp/b.txt']);
  });

  it('end for a person where they fail, and throw for a program', async () => {
    assert.equal(await run('addSelection'), undefined);
    await assert.rejects(
      run('selectAgent', { agent: 'none' }),
      (error: unknown) => error instanceof ParleyError && error.code === 'no-such-agent',
    );
  });
});

describe('names that agents give', () => {
  it('are text in a terminal', () => {
    const terminal = newTerminal(`$(zap~spin) ${LINK}\nsecond line`, {});
    assert.doesNotMatch(terminal.name, /\]\(|\$\(|\n/);
    terminal.dispose();
  });
});
