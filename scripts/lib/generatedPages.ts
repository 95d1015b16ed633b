// The pages with generated parts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { collectProofs, supportTable } from '../../test/unit/conformance/matrix';
import { roomPicture } from './roomPicture';
import { propertyTable, type SettingsManifest, settingsTables } from './settingsTables';

export interface GeneratedPage {
  readonly path: string;
  readonly text: string;
}

const OBJECT_SETTINGS = ['parley.agents', 'parley.mcpServers', 'parley.resources'];

/** Returns the pages with current tables. @throws Error if a page lacks the markers of a table */
export function generatedPages(root: string): readonly GeneratedPage[] {
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  const manifest = JSON.parse(read('package.json')) as SettingsManifest;
  const texts = JSON.parse(read('package.nls.json')) as Readonly<Record<string, string>>;
  const proofs = collectProofs();
  return [
    page('docs/settings.md', {
      settings: settingsTables(manifest, texts),
      ...Object.fromEntries(OBJECT_SETTINGS.map((key) => [key, propertyTable(manifest, texts, key)])),
    }),
    page('CONTRIBUTING.md', { rooms: roomPicture() }),
    page('docs/protocol.md', { 'version 1': supportTable(1, proofs), 'version 2': supportTable(2, proofs) }),
  ];

  function page(path: string, tables: Readonly<Record<string, string>>): GeneratedPage {
    const text = Object.entries(tables).reduce((before, [name, table]) => withTable(before, name, table), read(path));
    return { path, text };
  }
}

function withTable(page: string, name: string, table: string): string {
  const begin = `<!-- generated: ${name} -->`;
  const from = page.indexOf(begin);
  const to = page.indexOf('<!-- end -->', from);
  if (from < 0 || to < 0) throw new Error(`There is no "${begin} … <!-- end -->".`);
  return `${page.slice(0, from + begin.length)}\n\n${table}\n\n${page.slice(to)}`;
}
