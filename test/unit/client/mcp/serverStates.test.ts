// States of the MCP servers of a session: from reports of agents, calls of tools, and our
// own server.
import { strict as assert } from 'node:assert';
import { required } from '../../../../src/acp/protocol/dialect';
import { mcpReportOf } from '../../../../src/acp/quirks/mcpReports';
import { serverStates } from '../../../../src/client/mcp/serverStates';
import { sessionInfo } from '../../../../src/client/view/sessionInfo';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { ChoosySession } from '../../../support/sessions/choosySession';

const CLAUDE = {
  sessionUpdate: 'notice',
  severity: 'warning',
  title: 'MCP server "my files" failed to start',
  description: 'Its tools are unavailable in this session. Run /mcp for the error.',
};
const CLAUDE_SIGN_IN = { sessionUpdate: 'notice', severity: 'info', title: 'MCP server "docs" needs authentication' };
const CLAUDE_IN_TEXT = {
  sessionUpdate: 'agent_message_chunk',
  content: { type: 'text', text: 'Sign in.' },
  _meta: { claudeCode: { kind: 'mcpServerStatus', server: 'docs', status: 'needs-auth' } },
};
const CODEX = {
  sessionUpdate: 'tool_call',
  toolCallId: 'mcp_startup.my_f%C3%BCr.v2.6b1c-22',
  title: 'mcp__my_für.v2__startup',
  kind: 'other',
  status: 'failed',
  content: [
    {
      type: 'content',
      content: {
        type: 'text',
        text: '[codex-acp forwarded startup error] MCP server `x` failed to start: No such file',
      },
    },
  ],
};

describe('reports of MCP servers', () => {
  it('are read from notices and messages of Claude, and from calls of Codex', () => {
    assert.deepEqual([CLAUDE, CLAUDE_SIGN_IN, CLAUDE_IN_TEXT, CODEX].map(mcpReportOf), [
      { server: 'my_files', state: 'failed', reason: CLAUDE.description },
      { server: 'docs', state: 'needsSignIn', reason: '' },
      { server: 'docs', state: 'needsSignIn', reason: 'Sign in.' },
      { server: 'my_für.v2', state: 'failed', reason: 'MCP server `x` failed to start: No such file' },
    ]);
  });

  it('are not read from anything else', () => {
    const others = [
      { ...CLAUDE, title: 'The MCP server "files" failed to start' },
      { ...CLAUDE, title: { toString: () => CLAUDE.title } },
      { ...CODEX, toolCallId: 'mcp_startup' },
      { ...CLAUDE_IN_TEXT, _meta: { claudeCode: { kind: 'mcpServerStatus', server: 'x'.repeat(300) } } },
      null,
    ];
    assert.deepEqual(
      others.map(mcpReportOf),
      others.map(() => undefined),
    );
  });
});

describe('states of the MCP servers of a session', () => {
  let session: ChoosySession;

  beforeEach(async () => {
    session = new ChoosySession(await scratchFolder());
    const server = (name: string) => ({ name, type: 'stdio', command: '/bin/true', args: [], env: {} }) as const;
    session.open({
      services: { mcpServers: async () => ({ servers: [server('my files'), server('docs')], problems: [] }) },
    });
    await session.conversation.start();
  });
  afterEach(async () => {
    await session.close();
    await removeScratch();
  });

  const hear = async (update: object): Promise<void> => {
    const { sessionId } = session.conversation.connector;
    session.agent.notify('session/update', { sessionId, update });
    await session.until(({ model }) => model.state.entries.length > 0);
  };
  const states = () => {
    const { link, model } = session.conversation;
    return [...serverStates(required(link), model.state)].map(([name, { kind }]) => `${name}: ${kind}`);
  };
  const row = () => sessionInfo(session.conversation).find(({ command }) => command === 'mcp.show')?.value;

  it('are unknown until the agent reports something', () => {
    assert.deepEqual(states(), ['my files: unknown', 'docs: unknown']);
    assert.equal(row(), '2');
  });

  it('are as reported until the agent uses a tool of the server', async () => {
    await hear(CLAUDE);
    assert.deepEqual(states(), ['my files: failed', 'docs: unknown']);
    assert.equal(row(), '2 · 1 failed');
    session.conversation.note([
      {
        at: Date.now() + 1000,
        event: {
          type: 'tool_call',
          toolCallId: 'c',
          patch: { title: 'mcp__my_files__read', status: 'completed' },
          announced: true,
        },
      },
    ]);
    assert.deepEqual(states(), ['my files: connected', 'docs: unknown']);
  });

  it('belong to the running agent', async () => {
    await hear(CLAUDE_SIGN_IN);
    assert.equal(row(), '2 · 1 waiting for sign-in');
    await session.conversation.restart();
    assert.equal(row(), '2');
  });

  it('include the number of tools of our own server', () => {
    const program = { name: 'parley', type: 'stdio', command: '', args: [], env: {} } as const;
    const given = { servers: [program], problems: [], systemPrompt: [], tools: { program, listed: 19 } };
    const { state } = session.conversation.model;
    assert.deepEqual([...serverStates({ given }, state).values()], [{ kind: 'connected', tools: 19 }]);
  });
});
