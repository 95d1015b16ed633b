// Packs dist/parley.vsix. `--dev`: names, source maps; `--base-url URL`: of the README's pictures.
import { statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { vsixPath } from '../test/support/vscode/repository';
import { buildExtension, packVsix } from './lib/packVsix';

const { values } = parseArgs({ options: { dev: { type: 'boolean' }, 'base-url': { type: 'string' } } });
if (!buildExtension(values.dev ? ['--dev'] : [])) process.exit(1);
await packVsix(vsixPath, { baseUrl: values['base-url'] });
process.stdout.write(`dist/parley.vsix ${(statSync(vsixPath).size / 1000).toFixed(1)} kB\n`);
