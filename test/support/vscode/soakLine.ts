// The line between the browser and VS Code, cut again and again while messages are typed.
import { seeded } from '../store/random';
import { type CutResult, cutTurns } from './cutTurns';
import { openFarChat } from './overLine';

/** Cuts the line so often. The package must be there. */
export async function soakLine(cuts: number, seed: number): Promise<CutResult> {
  const { chat, line, log, end } = await openFarChat(seed);
  try {
    return await cutTurns(chat, line, cuts, log, seeded(seed));
  } finally {
    await end();
  }
}
