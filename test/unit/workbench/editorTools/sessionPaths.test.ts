// Only paths that lead into the session's folders are returned.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as tick } from 'node:timers/promises';
import { SessionPaths } from '../../../../src/workbench/editorTools/sessionPaths';

describe('sessionPaths', () => {
  it('resolves a few paths at a time, even for 100,000', async () => {
    let running = 0;
    let most = 0;
    class Counted extends SessionPaths {
      override async isInside(path: string): Promise<boolean> {
        most = Math.max(most, ++running);
        await tick();
        running--;
        return path.endsWith('7');
      }
    }
    const paths = Array.from({ length: 100_000 }, (_, index) => `/w/${index}`);
    const inside = await new Counted(['/w']).inside(paths);
    assert.equal(inside.size, 10_000);
    assert.ok(most <= 32, String(most));
  });

  it('stops when the call is cancelled', async () => {
    const abort = new AbortController();
    let lookups = 0;
    class Counted extends SessionPaths {
      override async isInside(): Promise<boolean> {
        if (++lookups === 100) abort.abort(new Error('withdrawn'));
        return true;
      }
    }
    const paths = Array.from({ length: 10_000 }, (_, index) => `/w/${index}`);
    await assert.rejects(new Counted(['/w']).inside(paths, abort.signal), /withdrawn/);
    assert.equal(lookups, 100);
  });

  describe('with links', () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-paths-'));
    const root = join(folder, 'root');

    before(function () {
      if (process.platform === 'win32') this.skip();
      mkdirSync(join(root, 'src'), { recursive: true });
      writeFileSync(join(root, 'src/a.ts'), '');
      writeFileSync(join(folder, 'secret.ts'), '');
      symlinkSync(join(folder, 'secret.ts'), join(root, 'out.ts'));
      symlinkSync(folder, join(root, 'up'));
      symlinkSync(join(root, 'src'), join(root, 'again'));
    });

    after(() => rmSync(folder, { recursive: true, force: true }));

    it('resolves each link before deciding where a path leads', async () => {
      const paths = ['src/a.ts', 'out.ts', 'up/secret.ts', 'again/a.ts', 'up/root/src/a.ts', '../secret.ts'];
      const inside = await new SessionPaths([root]).inside(paths.map((path) => join(root, path)));
      assert.deepEqual(
        [...inside].map((path) => path.slice(root.length + 1)),
        ['src/a.ts', 'again/a.ts', 'up/root/src/a.ts'],
      );
    });

    it('rejects paths that lead outside, and invalid ones', async () => {
      const paths = new SessionPaths([root]);
      for (const path of ['../secret.ts', 'out.ts', 'up/secret.ts', '/etc/hosts', 'src/../../secret.ts'])
        await assert.rejects(paths.resolve(path), /outside of the session's folders/, path);
      await assert.rejects(paths.resolve('a\0b'), /not a path/);
      await assert.rejects(paths.resolve('src/none.ts'), /does not exist/);
      assert.equal(await paths.resolve('src/a.ts'), join(root, 'src/a.ts'));
    });
  });
});
