// Makes the picture of the README, media/screenshot.png: an agent at work beside the code.
import { strict as assert } from 'node:assert';
import { copyFileSync, cpSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptedAgent } from '../support/agents/definition';
import { presets } from '../support/agents/script';
import { removeFolder } from '../support/scratch';
import { Chat } from '../support/vscode/chat';
import { screenshot } from '../support/vscode/openWindow';
import { repository } from '../support/vscode/repository';
import { useVsCode } from '../support/vscode/useVsCode';
import { command } from '../support/vscode/workbench';

const scratch = join(tmpdir(), `parley-picture-${process.pid}`);
const folder = join(scratch, 'upload-service');
const uploadTest = join(folder, 'test/upload.test.ts');
const downloadTest = join(folder, 'test/download.test.ts');

const raceUpload = `import { once } from 'node:events';
import { test } from 'node:test';
import { start, upload } from '../src/server';

test('an upload arrives whole', async () => {
  const server = start();
  await sleep(100);
  const reply = await upload(server, 'report.pdf');
  assert.equal(reply.status, 201);
});
`;
const fixedUpload = raceUpload.replace(
  '  await sleep(100);\n',
  "  await once(server, 'listening');\n  const { port } = server.address();\n",
);
const raceDownload = raceUpload.replaceAll('upload', 'download').replace('an download', 'a download');
const fixedDownload = raceDownload.replace('  await sleep(100);\n', "  await once(server, 'listening');\n");

const update = (fields: object): string => `update ${JSON.stringify(fields)}`;
/** A tool call that takes this many milliseconds. */
const tool = (id: string, title: string, kind: string, ms: number, extra: object = {}): string =>
  [
    update({ sessionUpdate: 'tool_call', toolCallId: id, title, kind, status: 'in_progress' }),
    `sleep ${ms}`,
    update({ sessionUpdate: 'tool_call_update', toolCallId: id, status: 'completed', ...extra }),
  ].join('\n');

/** What the agent plays in the turns of the scene. */
const question = 'The upload test fails one run in ten. Find out why and fix it.';
const next = 'Now do the same for the download test.';
const first = [
  'think It fails one time in ten, so it is a race.',
  'sleep 800',
  'think  What does the test wait for?',
  tool('read', 'Read test/upload.test.ts', 'read', 120, { locations: [{ path: uploadTest, line: 6 }] }),
  tool('run', 'npm test -- upload --repeat 20', 'execute', 700, {
    content: [{ type: 'content', content: { type: 'text', text: '18 passing, 2 failing: socket hang up' } }],
  }),
  'say The test waits `100 ms` for the server instead of for its `listening` event, so a slow start makes it fail. I will wait for the **event**.',
  tool('edit', 'Edit test/upload.test.ts', 'edit', 150, { locations: [{ path: uploadTest, line: 7 }] }),
];
const second = [
  tool('read-2', 'Read test/download.test.ts', 'read', 110, { locations: [{ path: downloadTest, line: 6 }] }),
  `permission ${JSON.stringify({
    toolCall: {
      toolCallId: 'edit-2',
      title: 'Edit test/download.test.ts',
      kind: 'edit',
      status: 'pending',
      content: [{ type: 'diff', path: downloadTest, oldText: raceDownload, newText: fixedDownload }],
      locations: [{ path: downloadTest, line: 7 }],
    },
  })}`,
];
const script = {
  ...presets.proposals,
  scenes: { [question]: first.join('\n'), [next]: second.join('\n') },
};

describe('the picture of the README', () => {
  mkdirSync(join(folder, 'test'), { recursive: true });
  cpSync(join(repository, 'test/support/sample-workspace/package.json'), join(folder, 'package.json'));
  writeFileSync(uploadTest, fixedUpload);
  writeFileSync(downloadTest, raceDownload);
  const vscode = useVsCode({
    theme: 'dark',
    folder,
    viewport: { width: 1200, height: 880 },
    settings: {
      'parley.agents': { agent: { ...scriptedAgent(script), name: 'Agent' } },
      'parley.defaultAgent': 'agent',
      'window.commandCenter': false,
      'workbench.layoutControl.enabled': false,
      'editor.minimap.enabled': false,
      'breadcrumbs.enabled': false,
      'editor.fontSize': 12,
    },
  });

  after(() => removeFolder(scratch));

  it('shows an agent at work beside the code', async () => {
    const { page } = vscode.window;
    await page.getByRole('treeitem', { name: 'test' }).first().click();
    await page.getByRole('treeitem', { name: 'download.test.ts' }).dblclick();
    await page.locator('.view-line', { hasText: 'a download arrives whole' }).waitFor();
    await command(page, 'View: Split Editor Right');
    await page.locator('.editor-group-container').nth(1).waitFor();
    const chat = await Chat.open(page);
    await command(page, 'View: Close Other Editors in Group');
    await command(page, 'View: Toggle Primary Side Bar Visibility');
    assert.equal(await chat.run(question), 'end_turn');
    await chat.send(next);
    await chat.permission.waitFor();
    await chat.send('Then run both, twenty times.');
    await chat.send('And write a line for the changelog.');
    await chat.answerable();
    await chat.permission.locator('.hljs-string').first().waitFor();
    const path = await screenshot(page, 'readme');
    assert.ok(statSync(path).size < 200_000);
    copyFileSync(path, join(repository, 'media/screenshot.png'));
  });
});
