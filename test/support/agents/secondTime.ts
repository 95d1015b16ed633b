// An agent that behaves by one script when it is started for the first time and by another one from then on: what a person gets who tries again.
// Usage: node secondTime.js MARKER FIRST THEN. MARKER is a file that the first start makes; the scripts are those of the scripted agent.
import { existsSync, writeFileSync } from 'node:fs';

const [, , marker = '', first = '', then = ''] = process.argv;
const isFirst = !existsSync(marker);
if (isFirst) writeFileSync(marker, '');
process.argv.splice(2, Number.POSITIVE_INFINITY, isFirst ? first : then);
await import('./scriptedAgent');
