// What a newcomer types first.
import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';

describe('npm start', () => {
  it('opens the chat', async function () {
    this.timeout(180_000);
    const child = spawn(process.execPath, ['scripts/run.mjs', 'start', '--check'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    assert.equal(code, 0, output);
  });
});
