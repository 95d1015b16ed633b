// A window in a separate process that types all along, to be killed at any moment, with an agent
// that outlives it.
// Usage: node soakWindowProcess.mjs FOLDER KEEPER_PROGRAM SEED NAME. Its output is one line of JSON
// when its agent is there. Each message that was typed is in the file `typed` of the folder.
import { appendFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openKept } from '../keeper/keptWindow';
import { seeded } from '../store/random';
import { goOn, PLAYS } from './soak';

const [folder = '', program = '', seed = '', name = ''] = process.argv.slice(2);
const random = seeded(Number(seed));
let offset = 0;
const window = openKept(folder, program, () => Date.now() + offset);
let count = 0;

await window.session.until((c) => c.connection.kind === 'ready');
writeSync(1, '{}\n');
for (;;) {
  // By this clock each agent lives for more than a minute, so that the pauses before a restart do
  // not grow.
  offset += 61_000;
  for (let more = 1 + random(3); more > 0; more--) {
    const tag = `${name}x${count++}`;
    window.type(tag, more === 1 ? undefined : PLAYS[random(PLAYS.length)]);
    appendFileSync(join(folder, 'typed'), `${tag}\n`);
  }
  await new Promise((resolve) => setTimeout(resolve, random(60)));
  if (random(3) > 0) await goOn(window);
}
