// Runs the loads, Parley and what it is compared with by turns, so that whatever the machine does meanwhile happens to all.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../src/base/errors';
import { repository } from '../support/vscode/repository';
import { Chat } from './chat';
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

/** What is measured. */
export interface Subjects {
  readonly floor: Subject;
  readonly parley: Subject;
  /** Another version of Parley. */
  readonly other?: Subject;
}

/** Where screenshots of the runs go: a figure is worth nothing when nothing was on the screen. */
const pictures = join(repository, 'out/bench');

/**
 * Runs scenarios, each `repetitions` times in a VS Code of its own.
 * @throws Error with the scenario in its message where a run breaks twice
 */
export async function runScenarios(
  scenarios: readonly Scenario[],
  subjects: Subjects,
  repetitions: number,
  say: (line: string) => void,
): Promise<Outcome[]> {
  mkdirSync(pictures, { recursive: true });
  const outcomes: Outcome[] = [];
  for (const scenario of scenarios) {
    const samples = { floor: [] as Sample[], parley: [] as Sample[], other: [] as Sample[] };
    for (let repetition = 0; repetition < repetitions; repetition++) {
      const all = (['floor', 'parley', 'other'] as const).filter((name) => name !== 'floor' || scenario.beside);
      // None is always the one that finds the machine warm.
      for (const name of repetition % 2 === 0 ? all : all.reverse()) {
        const subject = subjects[name];
        if (!subject) continue;
        const sample = await runTwice(scenario, subject, say);
        samples[name].push(sample);
        const told = name === 'other' ? 'the other version' : subject.name;
        say(`${scenario.name} ${repetition + 1}/${repetitions} ${told}: ${inWords(sample)}`);
      }
    }
    const { other, ...both } = samples;
    outcomes.push({ scenario: scenario.name, ...both, ...(subjects.other && { other }) });
  }
  return outcomes;
}

/** A browser or a server that stumbles once must not cost the other twenty minutes. */
async function runTwice(scenario: Scenario, subject: Subject, say: (line: string) => void): Promise<Sample> {
  try {
    return await run(scenario, subject, say);
  } catch (error) {
    say(`${scenario.name} ${subject.name} failed and is run again: ${messageOf(error)}`);
    return run(scenario, subject, say);
  }
}

async function run(scenario: Scenario, subject: Subject, say: (line: string) => void): Promise<Sample> {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  try {
    const chat = await Chat.open(subject, scratch, say);
    try {
      const sample = await scenario.run(chat, subject.name);
      return { ...chat.opened, ...sample };
    } finally {
      const path = join(pictures, `${scenario.name}-${subject.name.toLowerCase()}.png`);
      await chat.page.screenshot({ path }).catch(() => undefined);
      await chat.close();
    }
  } catch (error) {
    throw new Error(`${scenario.name}, ${subject.name}: ${messageOf(error)}`, { cause: error });
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
