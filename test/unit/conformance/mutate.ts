// Mutations of protocol messages, deterministic per seed: mistakes of agents and malicious input.
import { seeded } from '../../support/store/random';
export function randomFrom(seed: number): () => number {
  const below = seeded(seed);
  return () => below(2 ** 32) / 2 ** 32;
}

export type Random = () => number;

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T;
}

function wild(random: Random): unknown {
  const rare = random();
  if (rare < 0.001) return 'é€𝄞\ud800'.repeat(40_000);
  if (rare < 0.002) return DEEP;
  if (rare < 0.004) return Array.from({ length: 5_000 }, (_, index) => index);
  return pick<unknown>(random, [
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e308,
    -1e-308,
    Number.MAX_SAFE_INTEGER,
    '',
    'NaN',
    'Infinity',
    '__proto__',
    '\ud800',
    '\udc00lone',
    '\u0000\u001b[31m\u2028',
    'x'.repeat(300),
    'constructor',
    [],
    {},
    [null],
    [[]],
    [{}],
    { type: 'text' },
    { type: 'text', text: 'a text that nobody expected here' },
    { toString: 1 },
    { toString: null, valueOf: 'x' },
    [{ toString: 1 }],
    { length: 4_294_967_295 },
    JSON.parse('{"__proto__": {"polluted": true}}'),
    { constructor: { prototype: { polluted: true } } },
  ]);
}

/** Placeholder for a value too deep for JSON.stringify. */
const DEEP = '⟦deep⟧';
const deepText = `${'[{"in":'.repeat(30_000)}0${'}]'.repeat(30_000)}`;

export function textOf(message: unknown): string {
  return (JSON.stringify(message) ?? 'null').replaceAll(`"${DEEP}"`, deepText);
}

function placesOf(value: unknown): { readonly owner: Record<string, unknown>; readonly key: string }[] {
  const places: { owner: Record<string, unknown>; key: string }[] = [];
  const walk = (at: unknown, depth: number): void => {
    if (typeof at !== 'object' || at === null || depth > 20 || places.length > 500) return;
    for (const key of Object.keys(at)) {
      places.push({ owner: at as Record<string, unknown>, key });
      walk((at as Record<string, unknown>)[key], depth + 1);
    }
  };
  walk(value, 0);
  return places;
}

const MESSAGES = [
  'agent_message_chunk',
  'agent_thought_chunk',
  'user_message_chunk',
  'agent_message',
  'agent_thought',
  'user_message',
];

export function mutate(random: Random, message: unknown): unknown {
  const copy = structuredClone(message);
  const times = 1 + Math.floor(random() * 3);
  for (let index = 0; index < times; index++) {
    const places = placesOf(copy);
    if (places.length === 0) return wild(random);
    const names = places.filter(({ key }) => /^(type|kind|role|status|sessionUpdate)$|Id$/.test(key));
    const { owner, key } = pick(random, random() < 0.3 && names.length > 0 ? names : places);
    const how = random();
    if (/^(agent|user)_(message|thought)/.test(typeof owner[key] === 'string' ? owner[key] : '') && how < 0.5)
      owner[key] = pick(random, MESSAGES);
    else if (how < 0.25) delete owner[key];
    else if (how < 0.75) set(owner, key, wild(random));
    else if (how < 0.85)
      set(owner, pick(random, ['__proto__', 'type', 'sessionUpdate', 'id', 'extra', 'length']), wild(random));
    else {
      const other = pick(random, places);
      set(owner, key, structuredClone(other.owner[other.key]));
    }
  }
  return copy;
}

function set(owner: Record<string, unknown>, key: string, value: unknown): void {
  if (Array.isArray(owner) && key === 'length') return;
  Object.defineProperty(owner, key, { value, enumerable: true, configurable: true, writable: true });
}

export function shuffle<T>(random: Random, messages: readonly T[]): T[] {
  const list = [...messages];
  for (let times = Math.floor(random() * 4); times > 0 && list.length > 1; times--) {
    const from = Math.floor(random() * list.length);
    const to = Math.floor(random() * list.length);
    const [taken] = list.splice(from, 1);
    const how = random();
    if (how < 0.33) continue; // lost
    list.splice(to, 0, taken as T);
    if (how < 0.66) list.splice(Math.floor(random() * list.length), 0, taken as T);
  }
  return list;
}
