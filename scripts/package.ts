// Builds what ships and packs it: dist/parley.vsix. `--dev` leaves names and source maps in, for a
// debugger. `--base-url URL` is where the README's pictures are.
import { statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { vsixPath } from '../test/support/vscode/repository';
import { buildExtension, packVsix } from './lib/packVsix';

const { values } = parseArgs({ options: { dev: { type: 'boolean' }, 'base-url': { type: 'string' } } });
if (!buildExtension(values.dev ? ['--dev'] : [])) process.exit(1);
await packVsix(vsixPath, { baseUrl: values['base-url'] });
process.stdout.write(`dist/parley.vsix ${(statSync(vsixPath).size / 1000).toFixed(1)} kB\n`);
