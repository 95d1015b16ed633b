// `npm run soak`: kills agents 200 times at random moments while messages are typed. Prints lost
// messages (none) and recovery times, also for the demo agent; takes a few minutes. `-- --kills N
// --seed N`. Exit code 1 if a message was lost or sent twice. Instead, `-- --cuts N` cuts the
// connection between browser and packaged extension (`npm run package`), and `-- --away SECONDS`
// interrupts it.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { AgentProcess } from '../src/agents/agentProcess';
import { assertWhole, type FaultWindow } from '../test/support/faults/faultWindow';
import { removeScratch } from '../test/support/scratch';
import { assertCommands, demoRecoveries, percentile, type SoakAgent, soak } from '../test/support/soak/soak';
import { soakKept, VICTIMS } from '../test/support/soak/soakKept';
import { soakAway, soakLine } from '../test/support/vscode/soakLine';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    cuts: { type: 'string' },
    away: { type: 'string' },
  },
});
const kills = Number(values.kills);
const kinds: readonly SoakAgent[] = ['can load', 'can resume', 'can do neither'];

function row(...cells: readonly (string | number)[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}

function check({ conversation }: FaultWindow): void {
  assertWhole(conversation.model.state);
  assertCommands(conversation.model.state);
}

function times(recoveries: readonly number[]): readonly string[] {
  return [0.5, 0.95].map((share) => `${Math.round(percentile(recoveries, share))} ms`);
}

spawnSync(process.execPath, [join(process.cwd(), 'scripts/buildSupport.mjs')], { stdio: 'inherit' });
let isWhole = true;
function endWith(result: Readonly<Record<string, number>>, isGood: boolean): never {
  row(...Object.keys(result));
  row(...Object.keys(result).map(() => '---'));
  row(...Object.values(result));
  process.exit(isGood ? 0 : 1);
}

if (values.cuts !== undefined) {
  const result = await soakLine(Number(values.cuts), Number(values.seed));
  const { lost, twice, wrong, received, typed } = result;
  endWith({ ...result }, lost + twice + wrong === 0 && received === typed);
}
if (values.away !== undefined) {
  const result = await soakAway(Number(values.away), Number(values.seed));
  endWith({ ...result }, result.lost + result.twice + result.wrong === 0);
}
row('Agent', 'Kills', 'In commands', 'Typed', 'Received', 'Lost', 'Sent twice', 'Usable again p50', 'p95');
row(...Array.from({ length: 9 }, () => '---'));
try {
  for (const [index, kind] of kinds.entries()) {
    const share = Math.floor(kills / kinds.length) + (index < kills % kinds.length ? 1 : 0);
    const result = await soak(kind, share, Number(values.seed) + index, check, AgentProcess.start);
    const { inCommands, typed, received, lost, twice, recoveries } = result;
    isWhole &&= lost === 0 && twice === 0 && received === typed;
    row(kind, share, inCommands, typed, received, lost, twice, ...times(recoveries));
  }
  const kept = await soakKept(kills, Number(values.seed), check);
  isWhole &&= kept.lost === 0 && kept.twice === 0 && kept.received === kept.typed;
  const victims = VICTIMS.map((victim) => `${victim} ${kept.kills[victim]}`).join(', ');
  row(
    `outlives its window (${victims})`,
    kills,
    kept.inCommands,
    kept.typed,
    kept.received,
    kept.lost,
    kept.twice,
    '',
    '',
  );
  const demo = await demoRecoveries(20);
  row('demo agent', demo.length, '', '', '', '', '', ...times(demo));
} finally {
  await removeScratch();
}
process.exit(isWhole ? 0 : 1);
