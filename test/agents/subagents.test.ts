// Subagents of real agents: what they do stands under them, whichever way the agent reports it.
import { strict as assert } from 'node:assert';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readUpdate } from '../../src/acp/v1/v1Events';
import { askerOf } from '../../src/client/view/projectRequests';
import { Changes } from '../../src/session/model/changes';
import { SessionModel } from '../../src/session/model/model';
import { inNestedOrder } from '../../src/session/model/state';
import { AgentRun } from './agentRun';
import { type ModelServer, startModelServer } from './modelServer';
import { choose, diskAnswers, RawClient } from './rawClient';
import { type RealAgent, realAgents } from './realAgents';

describe('subagents of Claude', function () {
  this.timeout(180_000);
  let folder: string;
  let cwd: string;
  let claude: RealAgent;
  let model: ModelServer;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley subagents-'));
    cwd = join(folder, 'work');
    await mkdir(cwd);
    await writeFile(join(cwd, 'seed.txt'), 'alpha\nbeta\ngamma\n');
    model = await startModelServer();
    const agents = await realAgents(join(folder, 'homes'), model.url);
    claude = agents.find(({ id }) => id === 'claude') ?? assert.fail('no Claude');
  });

  after(async () => {
    await model?.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  const lines = ({ state }: Pick<SessionModel, 'state'>): string[] =>
    inNestedOrder(state.entries, state.nests).flatMap(({ entry, depth }) =>
      entry.kind === 'tool'
        ? [`${'  '.repeat(depth)}${entry.toolKind} ${entry.title.split('\n')[0]} ${entry.status}`]
        : [],
    );

  const wanted = (kind: string): RegExp =>
    new RegExp(
      [
        `${kind} Explore the files completed`,
        '  read [^\\n]*seed\\.txt[^\\n]* completed',
        '  execute [^\\n]*touch explored[^\\n]* completed',
        `${kind} Check the seed completed`,
        '  read [^\\n]*seed\\.txt[^\\n]* completed',
      ].join('\\n'),
    );

  it('are separate sessions, with their calls and questions nested in them', async () => {
    const scratch = join(folder, 'scratch');
    await mkdir(scratch);
    const run = new AgentRun(claude, 1, cwd, scratch);
    try {
      await run.open('delegate', { kind: 'new' });
      const askers = new Set<string | undefined>();
      const { model: view } = run.conversation;
      const watching = view.observe(
        new Changes(() => {
          for (const permission of view.state.permissions.values()) askers.add(askerOf(view, permission));
        }),
      );
      assert.equal(await run.play('delegate'), 'end_turn');
      watching.dispose();
      assert.match(lines(view).join('\n'), wanted('subagent'));
      assert.deepEqual([...askers], ['Explore the files']);
    } finally {
      await run.close();
    }
  });

  it('are marked calls for a client without support for subagent sessions', async () => {
    const client = new RawClient(claude.definition, cwd, {
      ...diskAnswers,
      'session/request_permission': choose('allow'),
    });
    try {
      await client.request('initialize', {
        protocolVersion: 1,
        clientInfo: { name: 'parley-tests', version: '0.0.0' },
        clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: false },
      });
      const { sessionId } = await client.request('session/new', { cwd, mcpServers: [] });
      const prompt = [{ type: 'text', text: claude.prompt('delegate', cwd) }];
      assert.equal((await client.request('session/prompt', { sessionId, prompt })).stopReason, 'end_turn');
      const said = new SessionModel();
      for (const { method, params } of client.received) {
        if (method !== 'session/update') continue;
        readUpdate(params?.update, (event) => said.apply(event, 0));
      }
      assert.match(lines(said).join('\n'), wanted('think'));
    } finally {
      await client.close();
    }
  });
});
