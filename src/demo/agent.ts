// The demo agent that ships with Parley, as a program.
import { DemoAgent } from './demoAgent';

// The protocol's way to end an agent is to close its stdin; a client that is gone cannot read
// either.
process.stdin.on('end', () => process.exit(0));
process.stdout.on('error', () => process.exit(0));
new DemoAgent(process.stdin, process.stdout);
