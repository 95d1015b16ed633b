// The executable of the demo agent that ships with Parley.
import { DemoAgent } from './demoAgent';

// The protocol ends an agent by closing its stdin.
process.stdin.on('end', () => process.exit(0));
process.stdout.on('error', () => process.exit(0));
new DemoAgent(process.stdin, process.stdout);
