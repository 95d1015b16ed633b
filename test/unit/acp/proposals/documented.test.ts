// docs/proposals.md matches the code: where capabilities are searched, and the waiting times.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ADVERTISED_V1, advertises, PROPOSED_CAPABILITIES } from '../../../../src/acp/proposals/announced';
import { GRACES } from '../../../../src/client/turns/turnState';

const read = (path: string): string => readFileSync(join(process.cwd(), path), 'utf8');
const page = read('docs/proposals.md');

function section(heading: string): string {
  const from = page.indexOf(`# ${heading}\n`);
  assert.ok(from >= 0, heading);
  return page.slice(from, page.indexOf('\n#', from));
}

const keysOf = (place: string): string[] => place.match(/[^.[\]"]+/g) ?? [];

function readBy(advertised: (initializeResult: unknown) => boolean): string[] {
  const paths = new Set<string>();
  // A list is never a capability.
  const spy = (path: readonly string[]): unknown =>
    new Proxy([], {
      getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true, value: undefined }),
      get: (_, key) => {
        const inner = [...path, String(key)];
        paths.delete(JSON.stringify(path));
        paths.add(JSON.stringify(inner));
        return spy(inner);
      },
    });
  assert.equal(advertised(spy([])), false);
  return [...paths].sort();
}

/** Milliseconds of a constant of a file. */
function constant(path: string, name: string): number {
  const [, factors = ''] = new RegExp(`const ${name} = ([\\d_ *]+);`).exec(read(path)) ?? [];
  assert.notEqual(factors, '', name);
  return factors.split('*').reduce((product, factor) => product * Number(factor.replaceAll('_', '').trim()), 1);
}

function timeText(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  return ms % 60_000 === 0 && ms > 60_000 ? `${ms / 60_000} min` : `${ms / 1000} s`;
}

describe('docs/proposals.md', () => {
  it('lists exactly the places where capabilities are searched', () => {
    const listed = [...section('Where Parley looks').matchAll(/^- `(.+)`$/gm)].map(([, place = '']) => keysOf(place));
    for (const name of ['ready', 'status', 'turnComplete'] as const) {
      const own = listed.map((keys) =>
        JSON.stringify(
          keys.map((key) => (key === 'ready' ? name : key === 'session/ready' ? PROPOSED_CAPABILITIES[name] : key)),
        ),
      );
      assert.deepEqual(
        own.sort(),
        readBy((result) => advertises(result, name)),
        name,
      );
    }
  });

  it('shows what Parley advertises', () => {
    const [, json = ''] = /```jsonc\n([\s\S]*?)```/.exec(section('What Parley announces')) ?? [];
    assert.deepEqual(JSON.parse(json), { clientCapabilities: { _meta: ADVERTISED_V1 } });
  });

  it('lists the waiting times of the code in order', () => {
    const connection = 'src/client/connection';
    const times = [...section('Waiting times').matchAll(/\| ([^|]+) \|$/gm)].map(([, time]) => time).slice(2);
    assert.deepEqual(
      times,
      [
        GRACES.barrierMs,
        GRACES.longestBarrierMs,
        GRACES.answerMs,
        GRACES.unclearMs,
        constant(`${connection}/livenessProbe.ts`, 'PROBE_TIMEOUT_MS'),
        constant(`${connection}/livenessProbe.ts`, 'QUIET_MS'),
        constant(`${connection}/livenessProbe.ts`, 'SILENCE_MS'),
        constant(`${connection}/livenessProbe.ts`, 'LONGEST_SILENCE_MS'),
        constant(`${connection}/sessionReplay.ts`, 'SILENCE_MS'),
        constant(`${connection}/sessionReplay.ts`, 'LONGEST_MS'),
        constant('src/client/prompts/turnControl.ts', 'TAKE_BACK_MS'),
        constant('src/client/prompts/turnControl.ts', 'STOP_PATIENCE_MS'),
        constant('src/distributed/client/communicationSession.ts', 'LOOK_MS'),
      ].map(timeText),
    );
  });
});
