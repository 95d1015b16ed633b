// The list of the user's standing permissions.
import { strict as assert } from 'node:assert';
import type { ExtensionContext } from 'vscode';
import { silentLog } from '../../../src/base/log';
import { approvalRows } from '../../../src/workbench/commands/approvals';
import { FolderConsent } from '../../../src/workbench/config/folderConsent';
import { AllowedOrigins } from '../../../src/workbench/sharing/allowedOrigins';
import { memory } from '../../support/memory';

describe('approvals', () => {
  const workspaceState = memory();
  const context = { workspaceState, globalState: memory() } as unknown as ExtensionContext;
  const answers: (boolean | undefined)[] = [];
  const workspace = new FolderConsent({ context, log: silentLog, agree: async () => answers.shift() });
  const servers = new AllowedOrigins({
    context,
    catalog: { own: () => [] },
    served: () => [],
    log: silentLog,
  });
  const mcp = { hasAnswers: false, reset: async () => {} };
  const approvals = { workspace, servers, mcp };
  const ask = (content: string): Promise<string> =>
    workspace.ask({ content, question: `Start “${content}”?`, detail: content });
  const rows = () => approvalRows(approvals, Date.now()).filter(({ choose }) => choose);
  const press = async (label: string): Promise<void> => {
    const row = rows().find((one) => one.label === label) ?? assert.fail(label);
    await row.buttons?.[0]?.run();
  };

  after(() => servers.dispose());

  it('have no rows initially', () => {
    assert.deepEqual(approvalRows(approvals, 0), []);
  });

  it('can reset inputs of MCP servers too', () => {
    assert.deepEqual(
      approvalRows({ ...approvals, mcp: { ...mcp, hasAnswers: true } }, 0).map(({ label }) => label),
      ['Reset Approvals of This Workspace'],
    );
  });

  it('list each answer with when it was given and last used, newest first', async () => {
    answers.push(true, false, undefined);
    assert.equal(await ask('one'), 'yes');
    assert.equal(await ask('two'), 'no');
    assert.equal(await ask('three'), 'undecided');
    await servers.allowAlways(['http://10.0.0.1', 'http://10.0.0.2']);
    assert.deepEqual(
      rows().map(({ label, description, detail }) => [label, description, detail]),
      [
        ['Start “two”?', 'Not allowed', 'Answered: now · Last used: now'],
        ['Start “one”?', 'Allowed', 'Answered: now · Last used: now'],
        ['http://10.0.0.2', 'Allowed', 'Answered: now · Last used: now'],
        ['http://10.0.0.1', 'Allowed', 'Answered: now · Last used: now'],
      ],
    );
    assert.ok(
      approvalRows(approvals, Date.now() + 7_200_000).some(({ detail }) => detail === 'Answered: 2 h · Last used: 2 h'),
    );
  });

  it('remove a single answer, which is then asked for again', async () => {
    await press('Start “one”?');
    await press('http://10.0.0.1');
    assert.equal(servers.has('http://10.0.0.1'), false);
    assert.equal(servers.has('http://10.0.0.2'), true);
    assert.equal(await ask('two'), 'no', 'not asked again');
    answers.push(false);
    assert.equal(await ask('one'), 'no', 'asked again');
    assert.deepEqual(
      rows().map(({ label, description }) => [label, description]),
      [
        ['Start “one”?', 'Not allowed'],
        ['Start “two”?', 'Not allowed'],
        ['http://10.0.0.2', 'Allowed'],
      ],
    );
  });

  it('preserve answers of earlier versions, which have no question or time', async () => {
    const [[hash] = []] = Object.entries(workspaceState.get<Record<string, unknown>>('parley.folder.decisions') ?? {});
    await workspaceState.update('parley.folder.decisions', { [hash!]: true });
    assert.deepEqual(rows().map(({ label, description, detail }) => [label, description, detail])[0], [
      'Answer of an earlier version',
      'Allowed',
      undefined,
    ]);
    assert.equal(await ask('two'), 'yes');
    assert.deepEqual(rows().map(({ label, detail }) => [label, detail])[0], ['Start “two”?', 'Last used: now']);
  });
});
