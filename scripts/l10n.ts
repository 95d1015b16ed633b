// Updates l10n/bundle.l10n.json from the sources, removes unused translations, lists missing ones.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { l10nJsonFormat } from '@vscode/l10n-dev';
import { repository } from '../test/support/vscode/repository';
import { BUNDLES, bundleOf, ENGLISH, LANGUAGES, readBundle, sorted, textsOfSources } from './lib/texts';

const write = (path: string, bundle: l10nJsonFormat): void =>
  writeFileSync(join(repository, path), `${JSON.stringify(bundle, undefined, 2)}\n`);

const texts = await textsOfSources(repository);
mkdirSync(join(repository, BUNDLES), { recursive: true });
write(ENGLISH, texts);
process.stdout.write(`${ENGLISH}: ${Object.keys(texts).length} texts\n`);
for (const language of LANGUAGES) {
  const path = bundleOf(language);
  const known = existsSync(join(repository, path)) ? readBundle(repository, path) : {};
  write(path, sorted(Object.fromEntries(Object.entries(known).filter(([key]) => key in texts))));
  const missing = Object.keys(texts).filter((key) => !(key in known));
  process.stdout.write(`${path}: ${missing.length} to translate\n${missing.map((key) => `  ${key}\n`).join('')}`);
}
