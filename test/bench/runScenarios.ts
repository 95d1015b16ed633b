// Runs the loads, Parley and what it is compared with by turns, so that other work of the machine
// affects all alike.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../src/base/errors';
import { repository } from '../support/vscode/repository';
import { Chat } from './chat';
import { untilQuiet } from './procStat';
import type { Sample, Scenario } from './scenarios';
import type { Subject } from './subjects';

/** What was measured in one scenario, a sample for each repetition. */
export interface Outcome {
  readonly scenario: string;
  readonly floor: readonly Sample[];
  readonly parley: readonly Sample[];
  /** Of another version. */
  readonly other?: readonly Sample[];
}

/** The product or the floor. */
export interface Subjects {
  readonly floor: Subject;
  readonly parley: Subject;
  /** Another version of Parley. */
  readonly other?: Subject;
}

/** Where screenshots of the runs go: a figure is worth nothing when nothing was on the screen. */
const pictures = join(repository, 'out/bench');

/**
 * Runs scenarios, each `repetitions` times, every window in a new VS Code.
 * @throws Error with the window in its message if a run breaks twice
 */
export async function runScenarios(
  scenarios: readonly Scenario[],
  subjects: Subjects,
  repetitions: number,
  say: (line: string) => void,
): Promise<Outcome[]> {
  mkdirSync(pictures, { recursive: true });
  const outcomes = scenarios.map(({ name }) => ({
    scenario: name,
    floor: [] as Sample[],
    parley: [] as Sample[],
    ...(subjects.other && { other: [] as Sample[] }),
  }));
  for (const [window, inIt] of Map.groupBy(scenarios, (scenario) => scenario.window)) {
    for (let repetition = 0; repetition < repetitions; repetition++) {
      const all = ['floor', 'parley', 'other'] as const;
      // None is always the one that finds the machine warm.
      for (const name of repetition % 2 === 0 ? all : all.toReversed()) {
        const subject = subjects[name];
        if (!subject) continue;
        const samples = await runTwice(window, inIt, subject, say);
        const told = name === 'other' ? 'the other version' : subject.name;
        for (const [scenario, sample] of samples) {
          outcomes.find((one) => one.scenario === scenario)?.[name]?.push(sample);
          say(`${scenario} ${repetition + 1}/${repetitions} ${told}: ${inWords(sample)}`);
        }
      }
    }
  }
  return outcomes;
}

type Samples = ReadonlyMap<string, Sample>;
type Say = (line: string) => void;

/** A browser or a server that stumbles once must not cost the other twenty minutes. */
async function runTwice(window: string, inIt: readonly Scenario[], subject: Subject, say: Say): Promise<Samples> {
  try {
    return await run(window, inIt, subject, say);
  } catch (error) {
    say(`${messageOf(error)}; runs again`);
    return run(window, inIt, subject, say);
  }
}

async function run(window: string, inIt: readonly Scenario[], subject: Subject, say: Say): Promise<Samples> {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  try {
    const chat = await Chat.open(subject, scratch, say);
    try {
      const samples = new Map<string, Sample>();
      for (const { name, run } of inIt) {
        if (samples.size > 0) await untilQuiet();
        const sample = await run(chat, subject.name);
        // How the window opened is reported once.
        samples.set(name, samples.size === 0 ? { ...chat.opened, ...sample } : sample);
      }
      return samples;
    } finally {
      const path = join(pictures, `${window}-${subject.name.toLowerCase()}.png`);
      await chat.page.screenshot({ path }).catch(() => undefined);
      await chat.close();
    }
  } catch (error) {
    throw new Error(`${window}, ${subject.name}: ${messageOf(error)}`, { cause: error });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Values of one list that the progress line shows. */
const MOST_SHOWN = 40;

function inWords(sample: Sample): string {
  return Object.entries(sample)
    .flatMap(([name, value]) => {
      if (typeof value === 'number') return [`${name} ${Math.round(value * 10) / 10}`];
      const [shown, total] = [value.slice(0, MOST_SHOWN), value.length];
      return total === 0
        ? []
        : [`${name} ${shown.map(Math.round).join('/')}${total > MOST_SHOWN ? ` of ${total}` : ''}`];
    })
    .join(', ');
}
