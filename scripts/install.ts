// Installs test dependencies: `browser`, and `vscode` (VS Code's server from npm).
import { findChromium } from '../test/support/vscode/findChromium';
import { serverTree } from '../test/support/vscode/serverTree';

const say = (line: string): boolean => process.stdout.write(`${line}\n`);
const wanted = process.argv.slice(2);
if (wanted.includes('browser')) findChromium(say);
if (wanted.includes('vscode')) await serverTree('newest', say);
