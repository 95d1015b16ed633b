// The line between the browser and VS Code: cut again and again while messages are typed, and away
// for minutes while the agent writes.
import { setTimeout as sleep } from 'node:timers/promises';
import { peakMb } from '../../bench/procStat';
import { readAgentLog } from '../agents/definition';
import { seeded } from '../store/random';
import { type CutResult, cutTurns } from './cutTurns';
import { openFarChat } from './overLine';
import { descendants } from './processTree';

/** Pieces that the agent writes in a second while the line is away. */
const RATE = 2_000;
const TURN_MS = 120_000;

export interface AwayResult {
  readonly seconds: number;
  readonly pieces: number;
  /** Messages that the agent never got. */
  readonly lost: number;
  readonly twice: number;
  readonly wrong: number;
  readonly kilobytes: number;
  /** Highest memory of the extension host, in MB: before, and at the end. */
  readonly before: number;
  readonly after: number;
}

/** Cuts the line so often. The package must be there. */
export async function soakLine(cuts: number, seed: number): Promise<CutResult> {
  const { chat, line, log, end } = await openFarChat(seed);
  try {
    return await cutTurns(chat, line, cuts, log, seeded(seed));
  } finally {
    await end();
  }
}

/**
 * Takes the line away for so long, while an agent writes all the time. The package must be there.
 */
export async function soakAway(seconds: number, seed: number): Promise<AwayResult> {
  const { chat, line, log, server, end } = await openFarChat(seed);
  try {
    const pieces = seconds * RATE;
    await chat.send(`flood ${pieces} 0 whole`);
    await chat.turnEnd(TURN_MS);
    const whole = await chat.copyTurn();
    await chat.newSession();
    const host = descendants(server.pid).find(({ command }) => command.includes('--type=extensionHost'))?.pid ?? 0;
    const before = peakMb(host);
    await chat.send(`flood ${pieces} ${RATE} away`);
    await chat.state('running');
    const received = line.received;
    line.down();
    await sleep(seconds * 1000);
    await line.up();
    await chat.turnEnd(TURN_MS);
    const kilobytes = Math.round((line.received - received) / 1024);
    const isRight = (await chat.copyTurn()) === whole.replace('whole', 'away');
    const got = readAgentLog(log).filter(
      ({ dir, msg }) => dir === 'in' && msg?.method === 'session/prompt' && JSON.stringify(msg).includes(' away"'),
    ).length;
    const [lost, twice] = [Number(got === 0), Math.max(0, got - 1)];
    return {
      ...{ seconds, pieces, lost, twice, wrong: Number(!isRight), kilobytes },
      ...{ before: Math.round(before), after: Math.round(peakMb(host)) },
    };
  } finally {
    await end();
  }
}
