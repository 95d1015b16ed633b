// What of the protocol is supported, as a table: every method, update and capability of the
// official schemas, with the test that drives it through a real agent process.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LATER_ITEMS, NOW_STABLE } from '../../support/protocol/laterSchema';
import { type OfficialSchema, officialSchema } from '../../support/protocol/officialSchema';
import { itemsIn } from '../../support/protocol/proof';
import { gaps } from './gaps';

export interface Proof {
  readonly title: string;
  /** Relative to the root. */
  readonly file: string;
}

export function collectProofs(): ReadonlyMap<string, Proof> {
  const proofs = new Map<string, Proof>();
  const folder = join(process.cwd(), 'test/unit');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts'));
  for (const file of files.map((one) => one.replaceAll('\\', '/')).sort()) {
    const text = readFileSync(join(folder, file), 'utf8');
    for (const [, title = '', items = ''] of text.matchAll(/\bproof\(\s*'((?:[^'\\]|\\.)*)',\s*\[([^\]]*)\]/g)) {
      for (const item of [...items.matchAll(/'([^']+)'/g)].flatMap(([, text = '']) => itemsIn(text)))
        if (!proofs.has(item)) proofs.set(item, { title: title.replaceAll("\\'", "'"), file: `test/unit/${file}` });
    }
  }
  return proofs;
}

export function itemsOf(version: 1 | 2): readonly { readonly item: string; readonly stable: boolean }[] {
  const all = namesOf(officialSchema(version === 1 ? 'v1 unstable' : 'v2 unstable'));
  const stable = new Set(namesOf(officialSchema(version === 1 ? 'v1' : 'v2')));
  const items = all.map((name) => ({ name, item: `v${version}:${name}` }));
  const known = items.map(({ name, item }) => ({ item, stable: stable.has(name) || NOW_STABLE.has(item) }));
  return [...known, ...LATER_ITEMS.filter(({ item }) => item.startsWith(`v${version}:`))];
}

function namesOf(schema: OfficialSchema): readonly string[] {
  return [
    ...schema.methods.map(({ method }) => method).sort(),
    ...schema.updates.map((word) => `update/${word}`),
    // A group of capabilities is proved by what is in it, unless it says something by itself.
    ...(['agent', 'client'] as const).flatMap((side) => {
      const paths = schema.capabilities(side);
      return paths
        .filter((path) => /\.systemPrompt$/.test(path) || !paths.some((other) => other.startsWith(`${path}.`)))
        .map((path) => `${side}/${path}`);
    }),
  ];
}

export function supportTable(version: 1 | 2, proofs: ReadonlyMap<string, Proof>): string {
  const rows = itemsOf(version).map(({ item, stable }) => {
    const proof = proofs.get(item);
    const answer = proof ? `yes: \`${proof.file}\`` : `not supported: ${gaps[item] ?? 'no test proves it'}`;
    return `| ${nameOf(item.slice(3))} | ${stable ? 'stable' : 'unstable'} | ${answer} |`;
  });
  return ['| Item | Schema | Supported |', '| --- | --- | --- |', ...rows].join('\n');
}

function nameOf(item: string): string {
  if (/^(agent|client)\//.test(item)) return `${item.replace('/', ' can `')}\``;
  return item.startsWith('update/') ? `update \`${item.slice(7)}\`` : `\`${item}\``;
}
