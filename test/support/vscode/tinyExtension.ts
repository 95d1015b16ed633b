// An extension of one file as a VSIX, for tests that need another one beside ours.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { zipOf } from '../archives';

/** Writes a VSIX. */
export async function tinyExtension(folder: string, contributes: object, source: string): Promise<string> {
  const manifest = {
    name: 'tiny',
    publisher: 'parley-test',
    version: '1.0.0',
    engines: { vscode: '^1.106.0' },
    main: './extension.js',
    activationEvents: ['onStartupFinished'],
    extensionKind: ['workspace'],
    contributes,
  };
  const path = join(folder, 'tiny.vsix');
  const files = [
    { name: 'extension/package.json', text: JSON.stringify(manifest) },
    { name: 'extension/extension.js', text: source },
  ];
  await writeFile(path, await zipOf(files));
  return path;
}
