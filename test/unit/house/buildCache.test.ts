// What builds keep: used again only where it is what would be made.
import { strict as assert } from 'node:assert';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BuildCache } from '../../../scripts/lib/buildCache.mts';

const TWO_WEEKS = 14 * 24 * 60 * 60 * 1000;

describe('what a build has made before', () => {
  let folder: string;
  let made = 0;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-build-'));
    made = 0;
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function build(how: string, content: string): Promise<string> {
    const result = await new BuildCache(folder, how).of(content, async () => {
      made++;
      return Buffer.from(`${how} of ${content}`);
    });
    return result.toString();
  }

  it('is used again for the same content and the same program', async () => {
    for (let time = 0; time < 3; time++) {
      assert.equal(await build('a', 'text'), 'a of text');
      assert.equal(await build('b', 'text'), 'b of text');
      assert.equal(await build('a', ''), 'a of ');
    }
    assert.equal(made, 3);
  });

  it('is made again where the file is broken', async () => {
    await build('a', 'text');
    const [name = ''] = readdirSync(folder);
    const path = join(folder, name);
    const whole = readFileSync(path);
    const changed = Buffer.from(whole);
    changed[whole.length - 1] = 0;
    for (const broken of [Buffer.alloc(0), whole.subarray(0, 20), whole.subarray(0, -1), changed]) {
      writeFileSync(path, broken);
      assert.equal(await build('a', 'text'), 'a of text');
    }
    assert.equal(made, 5);
    assert.deepEqual(readdirSync(folder), [name]);
  });

  it('is removed when no build has used it for two weeks', async () => {
    await build('a', 'text');
    await build('b', 'text');
    for (const name of readdirSync(folder)) {
      const longAgo = new Date(Date.now() - TWO_WEEKS - 1000);
      utimesSync(join(folder, name), longAgo, longAgo);
    }
    await build('a', 'text');
    assert.equal(made, 2);
    await new BuildCache(folder, 'a').prune();
    assert.equal(readdirSync(folder).length, 1);
    await build('a', 'text');
    assert.equal(made, 2);
  });
});
