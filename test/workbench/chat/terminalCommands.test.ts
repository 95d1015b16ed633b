// Commands of a real shell in a real terminal, attached by `@terminal` and terminal menus.
import { strict as assert } from 'node:assert';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Terminal, version, window } from 'vscode';
import type { MentionView } from '../../../src/panel/contract';
import type { QueuedAttachment } from '../../../src/session/queue/queue';
import { Mentions } from '../../../src/workbench/chat/mentions';
import { TerminalCommands } from '../../../src/workbench/chat/terminalCommands';
import { isProgram } from '../../../src/workbench/commands/commandErrors';
import { removeFolder } from '../../support/scratch';
import { once } from '../editing';

describe('last terminal commands', function () {
  this.timeout(60_000);
  let folder: string;
  let terminal: Terminal;
  let commands: TerminalCommands;
  const told: boolean[] = [];
  const isOurs = (event: { readonly terminal: Terminal }): boolean => event.terminal === terminal;

  before('open a terminal with a shell', async function () {
    // The server of the oldest tested version has no terminals: their module would have to be
    // compiled.
    if (/^1\.10\d\./.test(version)) this.skip();
    folder = await mkdtemp(join(tmpdir(), 'parley-terminal-'));
    commands = new TerminalCommands({ setContext: (_name, has) => void told.push(has === true) });
    const ready = once(window.onDidChangeTerminalShellIntegration, isOurs);
    terminal = window.createTerminal({ name: 'my shell', shellPath: '/bin/bash', cwd: folder });
    terminal.show();
    await ready;
  });

  after(async () => {
    terminal?.dispose();
    commands?.dispose();
    if (folder) await removeFolder(folder);
  });

  async function run(script: string): Promise<void> {
    const go = join(folder, 'go');
    await removeFolder(go);
    await writeFile(join(folder, 'command.sh'), `until [ -e go ]; do sleep 0.05; done\n${script}\n`);
    const began = once(window.onDidStartTerminalShellExecution, isOurs);
    const ended = once(window.onDidEndTerminalShellExecution, isOurs);
    terminal.sendText('bash command.sh');
    await began;
    await writeFile(go, '');
    await ended;
  }

  function textOf(attachment: QueuedAttachment | undefined): string {
    const [form] = attachment?.forms ?? [];
    return form?.type === 'resource' ? (form.text ?? '') : '';
  }

  it('are offered with exit code and terminal, and attached with their output', async () => {
    await run(`printf '\\033[31mone\\033[0m\\ntwo\\n'; exit 3`);
    const [offer] = commands.offers();
    assert.deepEqual(
      [offer?.kind, offer?.label, offer?.description],
      ['terminal', 'bash command.sh', 'exit 3 · my shell'],
    );
    const attachment = await commands.attachment(offer?.id ?? '');
    assert.equal(attachment?.label, 'bash command.sh');
    assert.equal(
      textOf(attachment),
      'The last command in a terminal of the user, “my shell”:\n$ bash command.sh\n[exit code 3]\none\ntwo',
    );
    assert.deepEqual(await commands.attachmentOf(terminal).then(textOf), textOf(attachment));
    assert.deepEqual(told, [true]);
  });

  it('include only the last one, with its own output', async () => {
    const [before] = commands.offers();
    await run('echo second');
    const offers = commands.offers();
    assert.equal(offers.length, 1);
    assert.match(textOf(await commands.attachment(offers[0]?.id ?? '')), /\[exit code 0\]\nsecond$/);
    assert.equal(await commands.attachment(before?.id ?? ''), undefined);
    // An earlier attachment stays beside it, as it has another address.
    const [form] = (await commands.attachment(offers[0]?.id ?? ''))?.forms ?? [];
    const id = offers[0]?.id.replace('terminal:', '');
    assert.equal(form?.type === 'resource' && form.uri, `parley:terminal/${id}/bash%20command.sh`);
  });

  it('are in the list of `@`', async () => {
    const mentions = new Mentions({
      sessions: { named: async () => [], attachment: async () => undefined },
      terminals: commands,
    });
    const { signal } = new AbortController();
    const offered = async (query: string): Promise<readonly MentionView[]> => {
      let last: readonly MentionView[] = [];
      for await (const some of mentions.offers(query, { key: 'this', roots: [folder] }, signal)) last = some;
      return last.filter(({ kind, prefix }) => kind === 'terminal' && prefix === undefined);
    };
    try {
      for (const query of ['', 'terminal:', 'terminal:comm', 'COMMAND.sh'])
        assert.equal((await offered(query)).length, 1, query);
      assert.deepEqual(await offered('nothing'), []);
      const [offer] = await offered('terminal:');
      assert.equal((await mentions.attachments(offer?.id ?? '', [folder])).length, 1);
    } finally {
      mentions.dispose();
    }
  });

  it('belong to a menu rather than a program if VS Code passes a terminal', () => {
    assert.equal(isProgram([terminal, [terminal]]), false);
  });

  it('are removed with their terminal', async () => {
    const closed = once(window.onDidCloseTerminal, (one) => one === terminal);
    terminal.dispose();
    await closed;
    assert.deepEqual(commands.offers(), []);
    assert.equal(told.at(-1), false);
  });
});
