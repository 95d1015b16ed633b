// Everything of the protocol that is supported, driven through a real agent process: each test claims what it drives, and the tables of docs/protocol.md are made of the claims.
import { strict as assert } from 'node:assert';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { at } from '../../../src/base/untrusted';
import type { EditorTools } from '../../../src/client/mcp/editorTools';
import { acpServer } from '../../../src/editorTools/acpServer';
import type { ContentBlock } from '../../../src/session/events/content';
import type { QueuedAttachment } from '../../../src/session/queue/queue';
import type { Offer } from '../../support/agents/reference/referenceScript';
import { officialSchema } from '../../support/protocol/officialSchema';
import { proof } from '../../support/protocol/proof';
import { scratchFolder } from '../../support/scratch';
import { instancesOf } from './instances';
import { eachRig, type Rig } from './rig';

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
    let rig: Rig;
    eachRig(version, (made) => {
      rig = made;
    });

    proof(
      'shows an update of the agent as one that nobody knows',
      [
        'v1:initialize',
        'v1:session/new',
        'v1:session/prompt',
        'v1:session/update',
        'v1:update/user_message_chunk',
        'v1:update/agent_message_chunk',
        'v1:update/agent_thought_chunk',
        'v1:update/tool_call',
        'v1:update/tool_call_update',
        'v1:update/plan',
        'v1:update/plan_update',
        'v1:update/plan_removed',
        'v1:update/available_commands_update',
        'v1:update/current_mode_update',
        'v1:update/config_option_update',
        'v1:update/session_info_update',
        'v1:update/usage_update',
        'v1:update/notice',
        'v1:update/compaction_update',
        'v1:update/compaction_summary_chunk',
        'v1:update/subagent_update',
        'v1:update/session_message',
        'v1:update/session_message_chunk',
        'v1:client/session.configOptions.boolean',
        'v1:client/session.notices',
        'v1:client/session.compaction',
        'v1:client/plan',
        'v1:client/subagents',
        'v2:session/update',
        'v2:update/user_message_chunk',
        'v2:update/agent_message_chunk',
        'v2:update/agent_message',
        'v2:update/agent_thought_chunk',
        'v2:update/agent_thought',
        'v2:update/tool_call_content_chunk',
        'v2:update/tool_call_update',
        'v2:update/terminal_update',
        'v2:update/terminal_output_chunk',
        'v2:update/plan_update',
        'v2:update/plan_removed',
        'v2:update/available_commands_update',
        'v2:update/config_option_update',
        'v2:update/session_info_update',
        'v2:update/usage_update',
        'v2:update/notice',
        'v2:update/compaction_update',
        'v2:update/compaction_summary_chunk',
        'v2:update/subagent_update',
        'v2:update/session_message',
        'v2:update/session_message_chunk',
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
      'cannot send what the agent takes',
      [
        'v1:agent/promptCapabilities.image',
        'v1:agent/promptCapabilities.audio',
        'v1:agent/promptCapabilities.embeddedContext',
        'v2:agent/session.prompt.image',
        'v2:agent/session.prompt.audio',
        'v2:agent/session.prompt.embeddedContext',
      ],
      async () => {
        rig.open({ offers: ['image', 'audio', 'embeddedContext'] });
        await rig.session.conversation.send('say x', [
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
      await rig.session.conversation.send('say x', [
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
        'v1:agent/mcpCapabilities.http',
        'v1:agent/mcpCapabilities.sse',
        'v2:agent/session.additionalDirectories',
        'v2:agent/session.mcp.stdio',
        'v2:agent/session.mcp.http',
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
        'v1:session/list',
        'v1:session/delete',
        'v1:session/close',
        'v1:session/set_title',
        'v1:session/archive',
        'v1:session/unarchive',
        'v1:agent/sessionCapabilities.list',
        'v1:agent/sessionCapabilities.delete',
        'v1:agent/sessionCapabilities.close',
        'v1:agent/sessionCapabilities.title',
        'v1:agent/sessionCapabilities.archive',
        'v2:session/list',
        'v2:session/delete',
        'v2:session/close',
        'v2:session/set_title',
        'v2:session/archive',
        'v2:session/unarchive',
        'v2:agent/session.delete',
        'v2:agent/session.title',
        'v2:agent/session.archive',
      ],
      async () => {
        rig.open({ saved: ['a', 'b'], offers: ['list', 'delete', 'close', 'title', 'archive'] });
        await rig.send('say x');
        const { ops } = rig.session.conversation;
        for await (const page of ops.list({}, signal))
          assert.deepEqual(
            page.map(({ sessionId }) => sessionId),
            ['a', 'b'],
          );
        await ops.rename('A new title', signal);
        assert.equal(rig.session.conversation.model.state.title, 'A new title');
        await ops.archive('a', true, signal);
        await ops.archive('a', false, signal);
        await ops.delete('a', signal);
        await rig.session.close();
      },
      version,
    );

    proof(
      'cannot go on in an old session, or in a copy of it',
      ['v2:session/resume', 'v2:session/fork', 'v2:agent/session.fork'],
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

    proof(
      'cannot sign in or out',
      ['v1:authenticate', 'v1:logout', 'v1:agent/auth.logout', 'v2:auth/login', 'v2:auth/logout'],
      async () => {
        const method = version === 2 ? { type: 'agent', methodId: 'login' } : { id: 'login' };
        const authMethods = [{ ...method, name: 'Log in' }];
        rig.open({ authMethods, offers: ['logout'], refuse: { 'session/new': -32000 } });
        await rig.session.conversation.start();
        await rig.session.conversation.signIn('login');
        await rig.send('say x');
        await rig.session.conversation.signOut();
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
        await rig.session.conversation.start();
        assert.equal(rig.session.conversation.connection.kind, 'authRequired');
        await rig.session.conversation.signIn('shell');
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
        await rig.session.conversation.choices.setConfigOption('size', 'large');
        assert.equal(rig.session.conversation.model.state.config[0]?.value, 'large');
      },
      version,
    );

    proof(
      'leaves a question of the agent without an answer',
      [
        'v1:session/request_permission',
        'v1:session/cancel',
        'v1:$/cancel_request',
        'v2:session/request_permission',
        'v2:session/cancel',
        'v2:$/cancel_request',
      ],
      async () => {
        rig.open({});
        assert.equal(await rig.send('withdraw'), 'end_turn');
        const { done } = rig.session.conversation.send('ask');
        await rig.session.until(({ model }) => model.state.permissions.size > 0);
        rig.session.conversation.cancel();
        assert.equal((await done).stopReason, 'cancelled');
      },
      version,
    );

    proof(
      'cannot fill in a form or be sent to a page',
      [
        'v1:elicitation/create',
        'v1:elicitation/complete',
        'v1:client/elicitation.form',
        'v1:client/elicitation.url',
        'v2:elicitation/create',
        'v2:elicitation/complete',
        'v2:client/elicitation.form',
        'v2:client/elicitation.url',
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
        const { done } = rig.session.conversation.send('tool t1\nterminal-stoppable e1\nsay both run\nwait');
        await rig.session.until(() => rig.said() === 'both run');
        await rig.session.conversation.stopOne({ kind: 'tool', id: 't1' });
        await rig.session.conversation.stopOne({ kind: 'terminal', id: 'e1' });
        rig.session.conversation.cancel();
        await done;
      });
      return;
    }

    proof('cannot change the mode of an agent that has modes', ['v1:session/set_mode'], async () => {
      rig.open({ offers: ['modes'] });
      await rig.send('say x');
      await rig.session.conversation.choices.setMode('code');
      assert.equal(rig.session.conversation.model.state.mode, 'code');
    });

    proof(
      'keeps its files from the agent',
      ['v1:fs/read_text_file', 'v1:fs/write_text_file', 'v1:client/fs.readTextFile', 'v1:client/fs.writeTextFile'],
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
      [
        'v1:terminal/create',
        'v1:terminal/wait_for_exit',
        'v1:terminal/output',
        'v1:terminal/kill',
        'v1:terminal/release',
        'v1:client/terminal',
      ],
      async () => {
        rig.open({});
        assert.equal(await rig.send('terminal'), 'end_turn');
        assert.match(rig.said(), /out of the terminal/);
      },
    );
  });
