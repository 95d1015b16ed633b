// Everything of the protocol that is supported, driven through a real agent process: each test
// claims what it drives, and the tables of docs/protocol.md are made of the claims.
import { strict as assert } from 'node:assert';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { at } from '../../../src/base/untrusted';
import type { EditorTools } from '../../../src/client/mcp/editorTools';
import { accountsText } from '../../../src/client/view/accounts';
import { projectSession } from '../../../src/client/view/projectSession';
import { acpServer } from '../../../src/editorTools/acpServer';
import type { ContentBlock } from '../../../src/session/events/content';
import type { QueuedAttachment } from '../../../src/session/queue/queue';
import type { Offer } from '../../support/agents/reference/referenceScript';
import { officialSchema } from '../../support/protocol/officialSchema';
import { proof } from '../../support/protocol/proof';
import { scratchFolder } from '../../support/scratch';
import { instancesOf } from './instances';
import { Rig } from './rig';

function everyUpdateOf(version: 1 | 2): string {
  const schema = officialSchema(version === 1 ? 'v1 unstable' : 'v2 unstable');
  const notification = schema.method('session/update')?.params ?? '';
  return instancesOf(schema, notification, 'all')
    .map((params) => at(params, 'update'))
    .filter((update) => at(update, 'sessionUpdate') !== 'state_update')
    .map((update) => `update ${JSON.stringify(update)}`)
    .join('\n');
}

function attachment(...forms: ContentBlock[]): QueuedAttachment {
  return { id: JSON.stringify(forms[0]?.type), kind: 'other', label: 'attached', forms };
}

const signal = new AbortController().signal;

for (const version of [1, 2] as const)
  describe(`everything in version ${version}`, function () {
    this.timeout(20_000);
    const rig = Rig.each(version);

    proof(
      'shows an update of the agent as one that nobody knows',
      [
        'v1:initialize',
        'v1:session/new prompt update',
        'v1:update/user_message_chunk agent_message_chunk agent_thought_chunk tool_call tool_call_update plan',
        'v1:update/plan_update plan_removed available_commands_update current_mode_update config_option_update',
        'v1:update/session_info_update usage_update notice compaction_update compaction_summary_chunk',
        'v1:update/subagent_update session_message session_message_chunk prompt_suggestions_update',
        'v1:client/session.configOptions.boolean',
        'v1:client/session.notices compaction',
        'v1:client/plan subagents',
        'v2:session/update',
        'v2:update/user_message_chunk agent_message_chunk agent_message agent_thought_chunk agent_thought',
        'v2:update/tool_call_content_chunk tool_call_update terminal_update terminal_output_chunk plan_update',
        'v2:update/plan_removed available_commands_update config_option_update session_info_update',
        'v2:update/usage_update notice compaction_update compaction_summary_chunk subagent_update',
        'v2:update/session_message session_message_chunk prompt_suggestions_update',
      ],
      async () => {
        rig.open({});
        assert.equal(await rig.send(`${everyUpdateOf(version)}\nsay the end`), 'end_turn');
        assert.match(rig.said(), /the end$/);
        assert.deepEqual(
          rig.warnings.filter((line) => /not understood/.test(line)),
          [],
        );
      },
      version,
    );

    proof(
      'shows the message that the agent suggests, until the next turn',
      ['v1:client/session.promptSuggestions', 'v2:client/session.promptSuggestions'],
      async () => {
        rig.open({}, { suggestions: () => 'auto' });
        const suggestions = [{ prompt: [{ type: 'text', text: 'Run the tests' }] }];
        await rig.send(`update ${JSON.stringify({ sessionUpdate: 'prompt_suggestions_update', suggestions })}`);
        const shown = () => projectSession(rig.conversation).suggestion;
        assert.deepEqual(shown(), { text: 'Run the tests', always: false });
        await rig.send('say x');
        assert.equal(shown(), undefined);
      },
      version,
    );

    it('asks for no suggestions if the user has turned them off', async () => {
      rig.open({}, { suggestions: () => 'off' });
      await rig.send('say x');
      const [initialize] = rig.agentLog.filter(({ dir, msg }) => dir === 'in' && msg?.method === 'initialize');
      assert.doesNotMatch(JSON.stringify(initialize?.msg?.params), /promptSuggestions/);
    });

    proof(
      'cannot send what the agent takes',
      [
        'v1:agent/promptCapabilities.image audio embeddedContext',
        'v2:agent/session.prompt.image audio embeddedContext',
      ],
      async () => {
        rig.open({ offers: ['image', 'audio', 'embeddedContext'] });
        await rig.conversation.send('say x', [
          attachment({ type: 'image', data: 'AAAA', mimeType: 'image/png' }),
          attachment({ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }),
          attachment({ type: 'resource', uri: 'file:///a.txt', text: 'words', mimeType: 'text/plain' }),
          attachment({ type: 'resource_link', uri: 'file:///a.txt', name: 'a.txt' }),
        ]).done;
        const [prompt] = rig.agentLog.filter(({ dir, msg }) => dir === 'in' && msg?.method === 'session/prompt');
        const blocks = prompt?.msg?.params.prompt as readonly { readonly type: string }[];
        assert.deepEqual(
          blocks.map(({ type }) => type),
          ['text', 'image', 'audio', 'resource', 'resource_link'],
        );
      },
      version,
    );

    it('sends only what the agent accepts', async () => {
      rig.open({});
      await rig.conversation.send('say x', [
        attachment(
          { type: 'image', data: 'AAAA', mimeType: 'image/png' },
          { type: 'resource_link', uri: 'file:///a.png', name: 'a.png' },
        ),
      ]).done;
      assert.equal(rig.said().split('\n')[0], 'x');
    });

    proof(
      'does not hand over the folders and the MCP servers that the agent takes',
      [
        'v1:agent/sessionCapabilities.additionalDirectories',
        'v1:agent/mcpCapabilities.http sse',
        'v2:agent/session.additionalDirectories',
        'v2:agent/session.mcp.stdio http',
      ],
      async () => {
        const other = await scratchFolder();
        const offers: Offer[] = ['additionalDirectories', 'mcpHttp', 'mcpSse'];
        const http = { name: 'h', type: 'http', url: 'http://127.0.0.1:1/', headers: { a: 'b' } } as const;
        const servers = [
          { name: 's', type: 'stdio', command: '/bin/true', args: ['x'], env: { K: 'V' } },
          http,
          ...(version === 1 ? [{ ...http, name: 'e', type: 'sse' } as const] : []),
        ] as const;
        rig.open({ offers }, { mcpServers: async () => ({ servers, problems: [] }) }, { roots: [rig.folder, other] });
        await rig.send('say x');
        const [opened] = rig.agentLog.filter(({ dir, msg }) => dir === 'in' && msg?.method === 'session/new');
        assert.deepEqual(opened?.msg?.params.additionalDirectories, [other]);
        assert.equal(opened?.msg?.params.mcpServers.length, servers.length);
      },
      version,
    );

    proof(
      'passes the instructions of the user to an agent that takes them, however it opens the session',
      ['v1:agent/sessionCapabilities.systemPrompt', 'v2:agent/session.systemPrompt'],
      async () => {
        const systemPrompt = () => [{ text: 'Be brief.' }, { text: 'Use tabs.', file: '/p/.vscode/settings.json' }];
        rig.open({ saved: ['old'], offers: ['systemPrompt', 'load', 'fork'] }, { systemPrompt });
        await rig.send('say x');
        const { conversation } = rig.session;
        await conversation.reopen({ kind: 'reopen', sessionId: 'old', transcript: 'replay' });
        await conversation.reopen({ kind: 'fork', sessionId: 'old' });
        const content = ['Be brief.', 'Use tabs.'].map((text) => ({ type: 'text', text }));
        const opened = rig.agentLog.filter(
          ({ dir, msg }) => dir === 'in' && /^session\/(new|load|resume|fork)$/.test(String(msg?.method)),
        );
        assert.deepEqual(
          opened.map(({ msg }) => msg?.params.systemPrompt),
          new Array(3).fill({ mode: 'append', content }),
        );
      },
      version,
    );

    proof(
      'does not let the agent reach the tools of the editor over its connection',
      ['v1:mcp/message', 'v1:agent/mcpCapabilities.acp', 'v2:mcp/message', 'v2:agent/session.mcp.acp'],
      async () => {
        const called: string[] = [];
        const request = await acpServer({
          version: '1',
          tools: () => ['get_diagnostics'],
          call: async (name) => {
            called.push(name);
            return { summary: 'No problems' };
          },
          others: { list: () => [], call: () => assert.fail() },
        });
        const editorTools: EditorTools = {
          grant: async () => ({
            program: { type: 'stdio', name: 'parley', command: '/bin/false', args: [], env: {} },
            overAcp: { type: 'acp', name: 'parley', serverId: 'tools' },
            message: (params, over) => request(String(at(params, 'method')), at(params, 'params') as never, over),
            dispose() {},
          }),
        };
        rig.open({ offers: ['mcpAcp'] }, { editorTools });
        const message = {
          serverId: 'tools',
          requestId: '1',
          method: 'tools/call',
          params: { name: 'get_diagnostics' },
        };
        assert.equal(await rig.send(`request mcp/message ${JSON.stringify(message)}`), 'end_turn');
        assert.match(rig.said(), /No problems/);
        assert.deepEqual(called, ['get_diagnostics']);
        const [opened] = rig.agentLog.filter(({ dir, msg }) => dir === 'in' && msg?.method === 'session/new');
        assert.deepEqual(opened?.msg?.params.mcpServers, [{ type: 'acp', name: 'parley', serverId: 'tools' }]);
      },
      version,
    );

    proof(
      'cannot do with sessions what the agent offers',
      [
        'v1:session/list delete close set_title archive unarchive',
        'v1:agent/sessionCapabilities.list delete close title archive',
        'v2:session/list delete close set_title archive unarchive',
        'v2:agent/session.delete title archive',
      ],
      async () => {
        rig.open({ saved: ['a', 'b'], offers: ['list', 'delete', 'close', 'title', 'archive'] });
        await rig.send('say x');
        const { ops } = rig.conversation;
        for await (const page of ops.list({}, signal))
          assert.deepEqual(
            page.map(({ sessionId }) => sessionId),
            ['a', 'b'],
          );
        await ops.rename('A new title', signal);
        assert.equal(rig.conversation.model.state.title, 'A new title');
        await ops.archive('a', true, signal);
        await ops.archive('a', false, signal);
        await ops.delete('a', signal);
        await rig.session.close();
      },
      version,
    );

    proof(
      'cannot go on in an old session, or in a copy of it',
      ['v2:session/resume fork', 'v2:agent/session.fork', 'v2:update/replay_complete'],
      async () => {
        rig.open({ saved: ['old'], offers: ['resume', 'fork', 'load'] });
        const { conversation } = rig.session;
        await conversation.reopen({ kind: 'reopen', sessionId: 'old', transcript: 'replay' });
        await rig.send('say x');
        assert.match(rig.said(), /Answer 1\nAnswer 2\nAnswer 3\nx/);
        await conversation.reopen({ kind: 'fork', sessionId: 'old' });
        assert.equal(await rig.send('say y'), 'end_turn');
      },
      version,
    );

    it('forks a session at a message, if the agent refuses a message that does not exist', async () => {
      const fork = { kind: 'fork', sessionId: 'old', messageId: 'm7' } as const;
      rig.open({ saved: ['old'], offers: ['fork', 'delete'], forksAt: 'm7' }, {}, { opening: fork });
      assert.equal(await rig.send('say x'), 'end_turn');
      assert.equal(rig.conversation.sessionId, 'old-fork-at-m7');
      rig.open({ saved: ['old'], offers: ['fork', 'delete'] }, {}, { opening: fork });
      assert.equal(await rig.send('say x'), 'end_turn');
      assert.deepEqual(rig.methods.slice(1, 4), ['session/fork', 'session/delete', 'session/new']);
    });

    proof(
      'cannot sign in or out',
      ['v1:authenticate logout', 'v1:agent/auth.logout', 'v2:auth/login logout'],
      async () => {
        const method = version === 2 ? { type: 'agent', methodId: 'login' } : { id: 'login' };
        const authMethods = [{ ...method, name: 'Log in' }];
        rig.open({ authMethods, offers: ['logout'], refuse: { 'session/new': -32000 } });
        await rig.conversation.start();
        await rig.conversation.signIn('login');
        await rig.send('say x');
        await rig.conversation.signOut();
      },
      version,
    );

    proof(
      'knows who is signed in, and leads a user who signs out elsewhere to the sign-in',
      ['v1:auth/status status_update', 'v1:agent/auth.status', 'v2:auth/status status_update', 'v2:agent/auth.status'],
      async () => {
        const method = version === 2 ? { type: 'agent', methodId: 'login' } : { id: 'login' };
        rig.open({ authMethods: [{ ...method, name: 'Log in' }], offers: ['authStatus'] });
        const { conversation } = rig.session;
        const told = () => accountsText(conversation.link?.authStatus);
        await conversation.start();
        await rig.session.until(() => told() === 'Team · ada@example.org');
        assert.equal(await rig.send('signed-out\nsay the turn ends well'), 'end_turn');
        await rig.session.until(({ connection }) => connection.kind === 'authRequired');
        assert.equal(told(), 'signed out');
        await conversation.signIn('login');
        await rig.session.until(() => told() === 'Team · ada@example.org');
        assert.equal(await rig.send('say x'), 'end_turn');
      },
      version,
    );

    proof(
      'cannot sign in where the agent does it in a terminal',
      ['v1:client/auth.terminal', 'v2:client/auth.terminal'],
      async () => {
        const signInFile = join(rig.folder, 'signed-in');
        const method = version === 2 ? { methodId: 'shell' } : { id: 'shell' };
        const authMethods = [{ ...method, type: 'terminal', name: 'In a terminal', args: ['login'] }];
        const signInTerminal = async (): Promise<number> => {
          await writeFile(signInFile, '');
          return 0;
        };
        rig.open({ authMethods, signInFile }, { signInTerminal });
        await rig.conversation.start();
        assert.equal(rig.conversation.connection.kind, 'authRequired');
        await rig.conversation.signIn('shell');
        assert.equal(await rig.send('say x'), 'end_turn');
        assert.ok(!rig.methods.some((name) => /authenticate|login/.test(name)));
      },
      version,
    );

    proof(
      'cannot change what the agent lets the user choose',
      ['v1:session/set_config_option', 'v2:session/set_config_option'],
      async () => {
        rig.open({ offers: ['config'] });
        await rig.send('say x');
        await rig.conversation.choices.setConfigOption('size', 'large');
        assert.equal(rig.conversation.model.state.config[0]?.value, 'large');
      },
      version,
    );

    proof(
      'begins a session with what the user chose last, if the agent takes it with the request',
      ['v1:session/options', 'v1:agent/sessionCapabilities.options', 'v2:session/options', 'v2:agent/session.options'],
      async () => {
        const choices = { of: () => ({ size: 'large' }), remember: () => undefined };
        rig.open({ offers: ['config', 'options'] }, { choices });
        await rig.send('say x');
        assert.equal(rig.conversation.model.state.config[0]?.value, 'large');
        assert.ok(!rig.methods.includes('session/set_config_option'));
      },
      version,
    );

    proof(
      'leaves a question of the agent without an answer',
      [
        'v1:session/request_permission cancel',
        'v1:$/cancel_request',
        'v2:session/request_permission cancel',
        'v2:$/cancel_request',
      ],
      async () => {
        rig.open({});
        assert.equal(await rig.send('withdraw'), 'end_turn');
        const { done } = rig.conversation.send('ask');
        await rig.session.until(({ model }) => model.state.permissions.size > 0);
        rig.conversation.cancel();
        assert.equal((await done).stopReason, 'cancelled');
      },
      version,
    );

    proof(
      'cannot fill in a form or be sent to a page',
      [
        'v1:elicitation/create complete',
        'v1:client/elicitation.form url',
        'v2:elicitation/create complete',
        'v2:client/elicitation.form url',
      ],
      async () => {
        rig.open({});
        const form = {
          mode: 'form',
          message: 'Your name?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        };
        const page = { mode: 'url', message: 'Look', elicitationId: 'e1', url: 'https://example.org/x' };
        const { conversation } = rig.session;
        const { done } = conversation.send(
          `request elicitation/create ${JSON.stringify(form)}\nrequest elicitation/create ${JSON.stringify(page)}\ncomplete e1`,
        );
        for (const values of [{ name: 'Ada' }, undefined]) {
          await rig.session.until(({ model }) => model.state.elicitations.size > 0);
          const [id = ''] = conversation.model.state.elicitations.keys();
          if (values) assert.equal((await conversation.elicitations.submit(id, values))?.size, 0);
          else assert.equal(conversation.elicitations.refuse(id, 'decline'), true);
        }
        await done;
        assert.match(rig.said(), /"accept".*Ada[\s\S]*"decline"/);
      },
      version,
    );

    if (version === 2) {
      proof('cannot stop a single tool call or terminal', ['v2:tool_call/cancel', 'v2:terminal/cancel'], async () => {
        rig.open({});
        const { done } = rig.conversation.send('tool t1\nterminal-stoppable e1\nsay both run\nwait');
        await rig.session.until(() => rig.said() === 'both run');
        await rig.conversation.stopOne({ kind: 'tool', id: 't1' });
        await rig.conversation.stopOne({ kind: 'terminal', id: 'e1' });
        rig.conversation.cancel();
        await done;
      });
      return;
    }

    proof('cannot change the mode of an agent that has modes', ['v1:session/set_mode'], async () => {
      rig.open({ offers: ['modes'] });
      await rig.send('say x');
      await rig.conversation.choices.setMode('code');
      assert.equal(rig.conversation.model.state.mode, 'code');
    });

    proof(
      'keeps its files from the agent',
      ['v1:fs/read_text_file write_text_file', 'v1:client/fs.readTextFile writeTextFile'],
      async () => {
        rig.open({});
        const path = join(rig.folder, 'a.txt');
        await writeFile(path, 'what is in it');
        const write = JSON.stringify({ path: join(rig.folder, 'b.txt'), content: 'new' });
        await rig.send(`request fs/read_text_file ${JSON.stringify({ path })}\nrequest fs/write_text_file ${write}`);
        assert.match(rig.said(), /what is in it/);
      },
    );

    proof(
      'runs no command for the agent',
      ['v1:terminal/create wait_for_exit output kill release', 'v1:client/terminal'],
      async () => {
        rig.open({});
        assert.equal(await rig.send('terminal'), 'end_turn');
        assert.match(rig.said(), /out of the terminal/);
      },
    );
  });
