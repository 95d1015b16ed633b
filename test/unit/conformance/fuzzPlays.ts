// What the fuzz tests play: pieces of recordings with their mutations. PARLEY_FUZZ_SEEDS=20000
// plays more seeds than the few of every day; PARLEY_FUZZ_FIRST chooses the first, to see a failure
// again.
import { at } from '../../../src/base/untrusted';
import { everyUpdate, malformedUpdates, unknownUpdates } from '../../support/agents/scripted/updates';
import { readRecording, recordingNames, versionOf } from '../../support/protocol/recordings';
import { seeds } from '../../support/tier';
import { mutate, pick, type Random, shuffle } from './mutate';

export const SEEDS = Number(process.env.PARLEY_FUZZ_SEEDS ?? seeds(100, 1500));
export const FIRST = Number(process.env.PARLEY_FUZZ_FIRST ?? 1);

export interface Said {
  readonly kind: 'update' | 'permission';
  readonly value: unknown;
}

export interface Play {
  readonly version: 1 | 2;
  readonly said: readonly Said[];
  readonly canaries: readonly string[];
}

export function corpus(): { readonly 1: readonly Said[][]; readonly 2: readonly Said[][] } {
  const lists: { 1: Said[][]; 2: Said[][] } = { 1: [], 2: [] };
  for (const name of recordingNames()) {
    const lines = readRecording(name);
    const said = lines.flatMap(({ dir, msg }): Said[] => {
      if (dir !== 'a2c') return [];
      if (msg?.method === 'session/update') return [{ kind: 'update', value: at(msg.params, 'update') }];
      return msg?.method === 'session/request_permission' ? [{ kind: 'permission', value: msg.params }] : [];
    });
    if (said.length > 0) lists[versionOf(lines)].push(said);
  }
  const made = [...everyUpdate, ...unknownUpdates, ...malformedUpdates].map(
    (value): Said => ({ kind: 'update', value }),
  );
  lists[1].push(made);
  lists[2].push(made);
  return lists;
}

export function makePlay(seed: number, random: Random, lists: ReturnType<typeof corpus>): Play {
  const version = random() < 0.5 ? 1 : 2;
  const list = pick(random, lists[version]);
  const from = Math.floor(random() * list.length);
  const piece = shuffle(random, list.slice(from, from + 5 + Math.floor(random() * 30)));
  const canaries: string[] = [];
  const said = piece.flatMap((one): Said[] => {
    const changed = random() < 0.6 ? { ...one, value: mutate(random, one.value) } : one;
    if (random() > 0.2) return [changed];
    const text = `⟨${seed}.${canaries.length}⟩`;
    canaries.push(text);
    const content = { type: 'text', text };
    return [changed, { kind: 'update', value: { sessionUpdate: 'agent_message_chunk', messageId: text, content } }];
  });
  return { version, said, canaries };
}
