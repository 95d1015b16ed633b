// Turns of an agent over a line that is cut again and again: each message is typed while the line
// is cut, and the line is cut further while the agent answers.
import { setTimeout as sleep } from 'node:timers/promises';
import { readAgentLog } from '../agents/definition';
import type { BadLine } from './badLine';
import type { Chat } from './chat';

/** Pieces of an answer, and how many come in a second. */
const PIECES = 150;
const RATE = 100;
const CUTS_IN_TURN = 4;
/** Time between two cuts, in milliseconds: at most. */
const BETWEEN_MS = 500;
const TURN_MS = 90_000;

export interface CutResult {
  readonly cuts: number;
  readonly typed: number;
  readonly received: number;
  /** Messages that the agent never got, or that the panel does not show. */
  readonly lost: number;
  readonly twice: number;
  readonly wrong: number;
}

/** Cuts the line so often. */
export async function cutTurns(
  chat: Chat,
  line: BadLine,
  cuts: number,
  log: string,
  random: (below: number) => number,
): Promise<CutResult> {
  const play = (tag: string): string => `flood ${PIECES} ${RATE} ${tag}`;
  await chat.newSession();
  await chat.send(play('undisturbed'));
  await chat.turnEnd(TURN_MS);
  const whole = await chat.copyTurn();
  const tags: string[] = [];
  let [done, lost, twice, wrong] = [0, 0, 0, 0];
  while (done < cuts) {
    await chat.newSession();
    const tag = `turn-${tags.length + 1}`;
    tags.push(tag);
    let restored = line.cut();
    done++;
    await chat.send(play(tag));
    for (let at = 1; at < CUTS_IN_TURN && done < cuts; at++) {
      await restored;
      await sleep(random(BETWEEN_MS));
      restored = line.cut();
      done++;
    }
    await restored;
    await chat.turnEnd(TURN_MS);
    const shown = await chat.entries('user').getByText(play(tag), { exact: true }).count();
    lost += Number(shown === 0);
    twice += Math.max(0, shown - 1);
    wrong += Number((await chat.copyTurn()) !== whole.replace('undisturbed', tag));
  }
  const prompts = readAgentLog(log)
    .filter(({ dir, msg }) => dir === 'in' && msg?.method === 'session/prompt')
    .map(({ msg }) => JSON.stringify(msg));
  const counts = tags.map((tag) => prompts.filter((prompt) => prompt.includes(`${tag}"`)).length);
  for (const count of counts) {
    lost += Number(count === 0);
    twice += Math.max(0, count - 1);
  }
  return { cuts: done, typed: tags.length, received: counts.filter((count) => count > 0).length, lost, twice, wrong };
}
