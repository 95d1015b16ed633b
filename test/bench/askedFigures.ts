// The figures that are asked of Parley, each with its target, worked out from the samples.
import { median, percentile, type Row, rounded } from './figures';
import type { Outcome } from './runScenarios';
import type { Sample } from './scenarios';

/** A figure of one scenario. */
interface Figure {
  /** Absent: of every window that was opened, whatever ran in it. */
  readonly scenario?: string;
  readonly name: string;
  readonly of: (samples: readonly Sample[]) => number;
  readonly unit: string;
  /**
   * At most this much; or at most this many times what the floor has, and then the row is that
   * ratio.
   * Without either it is reported for its own sake.
   */
  readonly most?: number;
  readonly timesFloor?: number;
}

const value =
  (key: string) =>
  (samples: readonly Sample[]): number =>
    median(pooled(samples, key));

/** All values, over all repetitions. */
function pooled(samples: readonly Sample[], key: string): number[] {
  return samples.flatMap((sample) => sample[key] ?? []);
}

const flood200 = 'flood 1,000 at 200/s';
const flood500 = 'flood 5,000 at 500/s';

const FIGURES: readonly Figure[] = [
  // Sent means that it is out of the user's hands: what Parley takes before the agent is there goes
  // when it is, and is not lost.
  { name: 'opened to a prompt can be sent', of: value('writable'), unit: 'ms', timesFloor: 1 },
  { name: 'opened to the agent is ready', of: value('ready'), unit: 'ms', timesFloor: 1.4 },
  { scenario: 'open', name: 'activation', of: value('activation'), unit: 'ms', most: 20 },
  { scenario: 'flood-200', name: `${flood200}: lag`, of: value('lag'), unit: 'ms', timesFloor: 1.4 },
  { scenario: 'flood-200', name: `${flood200}: webview CPU`, of: value('cpu'), unit: 'ms', timesFloor: 1.15 },
  { scenario: 'flood-200', name: `${flood200}: frame p99`, of: value('frameP99'), unit: 'ms', most: 20 },
  { scenario: 'flood-200', name: `${flood200}: posts`, of: value('postsPerSecond'), unit: '/s', most: 60 },
  {
    scenario: 'flood-200',
    name: `key to paint during ${flood200}, p95`,
    of: (samples) => percentile(pooled(samples, 'keys'), 95),
    unit: 'ms',
    most: 17,
  },
  { scenario: 'flood-500', name: `${flood500}: lag`, of: value('lag'), unit: 'ms', timesFloor: 1.4 },
  { scenario: 'flood-500', name: `${flood500}: webview RSS peak`, of: value('peak'), unit: 'MB', timesFloor: 1.15 },
  { scenario: 'tools', name: '500 tool calls: Enter to end', of: value('total'), unit: 'ms', timesFloor: 1.7 },
  {
    scenario: 'unpaced',
    name: 'flood 20,000 unpaced: Enter to last chunk',
    of: value('total'),
    unit: 'ms',
    timesFloor: 1.3,
  },
];

/** Up to this many times the figure of another version, a figure counts as no worse. */
const TIMES_OTHER = 1.05;

/**
 * The rows of what was run: for a figure against the floor its ratio, then both values. Beside
 * another version, its value and the median of the ratios to it.
 */
export function askedFigures(outcomes: readonly Outcome[]): Row[] {
  return FIGURES.flatMap((figure) => {
    const { scenario } = figure;
    const outcome = scenario === undefined ? whole(outcomes) : outcomes.find((one) => one.scenario === scenario);
    return outcome ? rowsOf(figure, outcome) : [];
  });
}

/** All runs as one; undefined if there was none. */
function whole(outcomes: readonly Outcome[]): Outcome | undefined {
  const [first] = outcomes;
  return (
    first && {
      scenario: 'all',
      floor: outcomes.flatMap(({ floor }) => floor),
      parley: outcomes.flatMap(({ parley }) => parley),
      ...(first.other && { other: outcomes.flatMap(({ other = [] }) => other) }),
    }
  );
}

function rowsOf(figure: Figure, outcome: Outcome): Row[] {
  const { name, of, unit } = figure;
  const { other } = outcome;
  if (!other) return ownRows(figure, outcome);
  const better = 'lower';
  // By pairs, which ran one right after the other: what else the machine did is in both.
  const ratios = outcome.parley.map((sample, index) => of([sample]) / of([other[index] ?? {}])).filter(Number.isFinite);
  return [
    ...ownRows(figure, outcome),
    { name: `${name} (other version)`, value: rounded(of(other)), unit, better },
    { name, value: rounded(median(ratios)), unit: '× other', target: TIMES_OTHER, better },
  ];
}

function ownRows({ name, of, unit, most, timesFloor }: Figure, { floor, parley }: Outcome): Row[] {
  const better = 'lower';
  const ours = of(parley);
  if (timesFloor === undefined) {
    const target = most === undefined ? {} : { target: most };
    return [{ name, value: rounded(ours), unit, ...target, better }];
  }
  const theirs = of(floor);
  return [
    { name, value: rounded(ours / theirs), unit: '× floor', target: timesFloor, better },
    { name: `${name} (Parley)`, value: rounded(ours), unit, better },
    { name: `${name} (floor)`, value: rounded(theirs), unit, better },
  ];
}
