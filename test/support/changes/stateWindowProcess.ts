// The program of a `StateWindow`: reads steps from stdin, and prints an answer to each.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { silentLog } from '../../../src/base/log';
import { openFolderStates } from '../../../src/changes/folderStates';
import { openStateRetention } from '../../../src/changes/stateRetention';
import type { WindowAnswer, WindowStep } from './stateWindow';

const [folder = '', storage = ''] = process.argv.slice(2);
const log = { ...silentLog, warn: (message: string) => void process.stderr.write(`${message}\n`) };
const common = { storage, env: process.env, log };
const states = openFolderStates({ ...common, roots: [folder], session: 'session' });
const retention = openStateRetention(common);

async function run(step: WindowStep): Promise<WindowAnswer> {
  if (step.do === 'collect') await retention.collect(['session'], Number.MAX_SAFE_INTEGER);
  if (step.do === 'release') await states.release(step.name);
  if (step.do === 'write') return { version: await states.write(folder, Buffer.from(step.content), '100644') };
  if (step.do !== 'turn') return {};
  for (const [path, content] of Object.entries(step.files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const snapshot = await states.take();
  if (step.hold !== undefined) await states.hold(snapshot, step.hold);
  return { snapshot };
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await run(JSON.parse(line)))}\n`);
}
states.dispose();
