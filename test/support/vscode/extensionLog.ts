// What the extension wrote to its log in VS Code's output panel. The webview tells the extension what broke in it, so this is where to look for that.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** All lines of the extension's logs on a server, the oldest window first. @param dataDir of the server */
export function extensionLog(dataDir: string): readonly string[] {
  return globSync('data/logs/*/exthost*/parley.parley/*.log', { cwd: dataDir })
    .sort()
    .flatMap((path) => readFileSync(join(dataDir, path), 'utf8').split('\n'))
    .filter((line) => line !== '');
}
