// What of the protocol is supported, as a table: every method, update and capability of the official schemas, with the test that drives it through a real agent process.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type OfficialSchema, officialSchema } from '../../support/officialSchema';
import { gaps } from './gaps';

export interface Proof {
  readonly title: string;
  /** Relative to the root. */
  readonly file: string;
}

/** The proofs of each item (`v1:session/load`), read from the source of the tests: `proof('title', ['item', …], …)`. */
export function collectProofs(): ReadonlyMap<string, Proof> {
  const proofs = new Map<string, Proof>();
  const folder = join(process.cwd(), 'test/unit');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts'));
  for (const file of files.map((one) => one.replaceAll('\\', '/')).sort()) {
    const text = readFileSync(join(folder, file), 'utf8');
    for (const [, title = '', items = ''] of text.matchAll(/\bproof\(\s*'((?:[^'\\]|\\.)*)',\s*\[([^\]]*)\]/g)) {
      for (const [, item = ''] of items.matchAll(/'([^']+)'/g))
        if (!proofs.has(item)) proofs.set(item, { title: title.replaceAll("\\'", "'"), file: `test/unit/${file}` });
    }
  }
  return proofs;
}

/** All items of one version: those of its unstable schema hold the stable ones. */
export function itemsOf(version: 1 | 2): readonly { readonly item: string; readonly stable: boolean }[] {
  const all = namesOf(officialSchema(version === 1 ? 'v1 unstable' : 'v2 unstable'));
  const stable = new Set(namesOf(officialSchema(version === 1 ? 'v1' : 'v2')));
  return all.map((name) => ({ item: `v${version}:${name}`, stable: stable.has(name) }));
}

function namesOf(schema: OfficialSchema): readonly string[] {
  return [
    ...schema.methods.map(({ method }) => method).sort(),
    ...schema.updates.map((word) => `update/${word}`),
    // A group of capabilities is proved by what is in it.
    ...(['agent', 'client'] as const).flatMap((side) => {
      const paths = schema.capabilities(side);
      return paths
        .filter((path) => !paths.some((other) => other.startsWith(`${path}.`)))
        .map((path) => `${side}/${path}`);
    }),
  ];
}

const BEGIN = '<!-- protocol table: node scripts/run.mjs matrix -->';
const END = '<!-- end of the protocol table -->';

/** The table as Markdown. */
export function renderMatrix(proofs: ReadonlyMap<string, Proof>): string {
  const rows = (version: 1 | 2): string[] =>
    itemsOf(version).map(({ item, stable }) => {
      const proof = proofs.get(item);
      const gap = gaps[item];
      const name = item.slice(3);
      const what = /^(agent|client)\//.test(name)
        ? `${name.replace('/', ' can `')}\``
        : name.startsWith('update/')
          ? `update \`${name.slice(7)}\``
          : `\`${name}\``;
      const answer = proof ? `yes: \`${proof.file}\`` : `not supported: ${gap ?? 'no test proves it'}`;
      return `| ${what} | ${stable ? 'stable' : 'unstable'} | ${answer} |`;
    });
  const table = (version: 1 | 2): string =>
    ['| Item | Schema | Supported |', '| --- | --- | --- |', ...rows(version)].join('\n');
  const fold = (title: string, text: string): string =>
    `<details>\n<summary>${title}</summary>\n\n${text}\n\n</details>`;
  return [
    BEGIN,
    '',
    fold('Version 1: every method, update and capability', table(1)),
    '',
    fold('Version 2 (draft): every method, update and capability', table(2)),
    '',
    END,
  ].join('\n');
}

/** The README with its table replaced, or with the section at its end where it has none. */
export function withSection(readme: string, table: string): string {
  const from = readme.indexOf(BEGIN);
  const to = readme.indexOf(END);
  if (from >= 0 && to > from) return readme.slice(0, from) + table + readme.slice(to + END.length);
  const words =
    'Every method, update and capability that the official schemas name, stable and unstable, and the test that drives it through a real agent process.';
  return `${readme.trimEnd()}\n\n## What of the protocol is supported\n\n${words}\n\n${table}\n`;
}
