// `npm run bench`: how fast Parley is, beside what it is measured against in the same run.
import { measureWire } from '../test/bench/wireBench';

for (const row of await measureWire(7)) process.stdout.write(`${row.name} ${row.value} ${row.unit}\n`);
