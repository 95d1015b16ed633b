// Writes the generated parts of docs/ and CONTRIBUTING.md. --check only reports stale pages.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generatedPages } from './lib/generatedPages';

const isCheck = process.argv.includes('--check');
for (const { path, text } of generatedPages(process.cwd())) {
  const file = join(process.cwd(), path);
  if (readFileSync(file, 'utf8') === text) continue;
  if (!isCheck) writeFileSync(file, text);
  else {
    process.stderr.write(`${path} is stale. Run: npm run docs\n`);
    process.exitCode = 1;
  }
}
