// The loads. Each runs in a VS Code of its own and gives a sample: numbers by name, or lists of numbers that are pooled over the repetitions.
import { setTimeout as delay } from 'node:timers/promises';
import { activationMs } from './activation';
import type { Chat, TurnCost } from './chat';
import { percentile } from './figures';
import { untilQuiet } from './procStat';

export type Sample = Readonly<Record<string, number | readonly number[]>>;

export interface Scenario {
  readonly name: string;
  /** Also for the floor. */
  readonly beside: boolean;
  /** In `--quick` too. */
  readonly quick: boolean;
  readonly run: (chat: Chat, subject: 'floor' | 'Parley') => Promise<Sample>;
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'open',
    beside: true,
    quick: true,
    run: async (chat, subject) => ({ ...(subject === 'Parley' && { activation: await activationMs(chat.page) }) }),
  },
  {
    name: 'flood-200',
    beside: true,
    quick: true,
    // Its lag is a few frames, and so one frame more or less is much: the middle of three.
    run: async (chat) => {
      const costs: Sample[] = [];
      for (const tag of ['A', 'B', 'C']) costs.push(costsOf(await chat.turn('flood 1000 200', tag, { typing: true })));
      return joined(costs);
    },
  },
  {
    name: 'flood-500',
    beside: true,
    quick: true,
    run: async (chat) => {
      const costs = costsOf(await chat.turn('flood 5000 500', 'A', { typing: true }));
      return { ...costs, peak: chat.peakMb() };
    },
  },
  {
    name: 'unpaced',
    beside: true,
    quick: true,
    run: async (chat) => costsOf(await chat.turn('flood 20000 0', 'A')),
  },
  {
    name: 'tools',
    beside: true,
    quick: true,
    run: async (chat) => costsOf(await chat.turn('tools 500 0', 'A')),
  },
  { name: 'turns', beside: true, quick: false, run: manyTurns },
  {
    name: 'rate-1000',
    beside: false,
    quick: true,
    run: async (chat) => costsOf(await chat.turn('flood 10000 1000', 'A')),
  },
  { name: 'length', beside: false, quick: true, run: growingMessage },
];

function costsOf({ total, lag, frames, keys, posts, cpu, task }: TurnCost): Sample {
  const seconds = frames.reduce((sum, frame) => sum + frame, 0) / 1000;
  return {
    total,
    lag,
    keys,
    cpu,
    task,
    postsPerSecond: posts / seconds,
    frameP50: percentile(frames, 50),
    frameP95: percentile(frames, 95),
    frameP99: percentile(frames, 99),
  };
}

/** All values of several samples, as lists. */
function joined(samples: readonly Sample[]): Sample {
  const names = Object.keys(samples[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, samples.flatMap((sample) => sample[name] ?? [])]));
}

/** 200 turns of 50 chunks, and then a flood on top of that transcript. */
async function manyTurns(chat: Chat): Promise<Sample> {
  const totals: number[] = [];
  for (let turn = 1; turn <= 200; turn++) totals.push((await chat.turn('flood 50 0', `T${turn}x`)).total);
  const elements = await chat.elements();
  await untilQuiet();
  const { lag } = await chat.turn('flood 2000 200', 'A');
  return { first: totals.slice(0, 10), last: totals.slice(-10), elements, lag };
}

/** Main-thread time per update, in µs: of messages of 10 KB, and at the end of one of 100 KB. Both without the beginning and the end of the turn. */
async function growingMessage(chat: Chat): Promise<Sample> {
  const short: number[] = [];
  for (let turn = 1; turn <= 4; turn++)
    short.push(await costPerUpdate(chat, { count: 500, tag: `S${turn}`, from: 0.2 }));
  await untilQuiet();
  const long = await costPerUpdate(chat, { count: 5000, tag: 'L', from: 0.8 });
  return { short, long };
}

/** @param from the part of the message after which the measurement begins; it ends shortly before the message does */
async function costPerUpdate(chat: Chat, message: { count: number; tag: string; from: number }): Promise<number> {
  const rate = 250;
  const to = 0.96;
  const { count, tag, from } = message;
  const duration = (1000 * count) / rate;
  let cost = Number.NaN;
  await chat.turn(`flood ${count} ${rate}`, tag, {
    meanwhile: async () => {
      await delay(from * duration);
      const before = await chat.task();
      await delay((to - from) * duration);
      cost = (1000 * ((await chat.task()) - before)) / ((to - from) * count);
    },
  });
  return cost;
}
