// The loads that Parley and the floor are put under. Each gives a sample: numbers by name, or lists
// of numbers that are pooled over the repetitions.
import { activationMs } from './activation';
import type { Chat, TurnCost } from './chat';
import { percentile } from './figures';

export type Sample = Readonly<Record<string, number | readonly number[]>>;

export interface Scenario {
  readonly name: string;
  /** Scenarios with the same one run in one window, one after another. */
  readonly window: string;
  readonly run: (chat: Chat, subject: 'floor' | 'Parley') => Promise<Sample>;
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'open',
    window: 'open',
    run: async (chat, subject) => ({ ...(subject === 'Parley' && { activation: await activationMs(chat.page) }) }),
  },
  {
    name: 'flood-200',
    window: 'floods',
    // Its lag is a few frames, and so one frame more or less is much: the middle of three.
    run: async (chat) => {
      const costs: Sample[] = [];
      for (const tag of ['A', 'B', 'C']) costs.push(costsOf(await chat.turn('flood 1000 200', tag, { typing: true })));
      return joined(costs);
    },
  },
  {
    name: 'flood-500',
    window: 'floods',
    run: async (chat) => {
      const costs = costsOf(await chat.turn('flood 5000 500', 'D', { typing: true }));
      return { ...costs, peak: chat.peakMb() };
    },
  },
  {
    name: 'tools',
    window: 'bursts',
    run: async (chat) => costsOf(await chat.turn('tools 500 0', 'A')),
  },
  {
    name: 'unpaced',
    window: 'bursts',
    run: async (chat) => costsOf(await chat.turn('flood 20000 0', 'B')),
  },
];

function costsOf({ total, lag, frames, keys, posts, cpu }: TurnCost): Sample {
  const seconds = frames.reduce((sum, frame) => sum + frame, 0) / 1000;
  return { total, lag, keys, cpu, postsPerSecond: posts / seconds, frameP99: percentile(frames, 99) };
}

/** All values of several samples, as lists. */
function joined(samples: readonly Sample[]): Sample {
  const names = Object.keys(samples[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, samples.flatMap((sample) => sample[name] ?? [])]));
}
