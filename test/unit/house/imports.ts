// Reads the import specifiers of a source text and judges them by the rules of the house: which
// room may know which.
import { posix } from 'node:path';
import { codeOf } from './codeOf';

export interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
}

type Grade = 'all' | 'types';

interface Room {
  readonly rooms: Readonly<Record<string, Grade>>;
  readonly vscode: boolean;
  readonly node: boolean;
  readonly packages: readonly string[];
}

/**
 * What a room may know, in words: `node`, `vscode`, other rooms (`types of …`: only their types).
 */
function knows(words: string, packages = ''): Room {
  const [all = '', types = ''] = words.split(' types of ');
  const listed = (list: string): string[] => list.split(' ').filter((word) => word !== '');
  const of = (list: string, grade: Grade) => listed(list).map((room): [string, Grade] => [room, grade]);
  const rooms = of(all, 'all').filter(([room]) => room !== 'node' && room !== 'vscode');
  return {
    rooms: Object.fromEntries([...rooms, ...of(types, 'types')]),
    vscode: listed(all).includes('vscode'),
    node: listed(all).includes('node'),
    packages: listed(packages),
  };
}

/** The whole plan of the house. A package that is not named here cannot be used in that room. */
export const ROOMS: Readonly<Record<string, Room>> = {
  base: knows('', '@secretlint/secretlint-rule-preset-recommend @vscode/l10n diff eventsource-parser ipaddr.js'),
  panel: knows(' types of session', 'zod'),
  session: knows('base'),
  markdown: knows('base', 'temml'),
  acp: knows('node base types of session', '@vscode/l10n diff vscode-jsonrpc ws zod'),
  agents: knows('node base acp', '@vscode/l10n jsonc-parser zod'),
  terminals: knows('node base agents types of session'),
  registry: knows('node base agents', '@vscode/l10n semver tar-stream unbzip2-stream yauzl zod'),
  changes: knows('node base', '@vscode/l10n zod'),
  mentions: knows('node base changes', 'fuzzysort'),
  // A separate program, which lives longer than the extension that started it: it knows no
  // protocol.
  keeper: knows('node base agents terminals'),
  client: knows(
    'node base changes acp agents terminals keeper session markdown panel distributed types of traffic editorTools',
    '@vscode/l10n zod',
  ),
  traffic: knows('node base panel', '@vscode/l10n'),
  troubleshoot: knows('node base types of agents acp', '@vscode/l10n'),
  conformance: knows('node base acp agents traffic'),
  store: knows('node base types of session', '@vscode/l10n zod'),
  distributed: knows('node base types of session', '@vscode/l10n aws4fetch zod'),
  workbench: knows(
    'vscode node base panel acp changes mentions agents terminals registry session client store distributed traffic troubleshoot conformance editorTools workbench/ui types of workbench/activation',
    'zod',
  ),
  webview: knows('base markdown panel', '@preact/signals @vscode/l10n hast highlight.js lowlight preact'),
  editorTools: knows('node base', '@modelcontextprotocol/sdk ajv zod'),
  demo: knows('node base'),
  // Loaded at activation: the product is a separate bundle, and shares nothing with it but what it
  // is given.
  'extension.ts': knows(
    'vscode base workbench/activation workbench/ui workbench/product types of workbench',
    '@vscode/l10n',
  ),
  'workbench/activation': knows('vscode node base types of panel', '@vscode/l10n'),
  // Where text becomes inert: small, as it is part of what is loaded at activation.
  'workbench/ui': knows('vscode node base'),
  'workbench/product': knows('vscode base workbench', '@vscode/l10n'),
};

/** The sub-rooms of a room, lowest first: a file imports from its own and from lower ones. */
const ORDERS: Readonly<Record<string, string>> = {
  troubleshoot: 'checks',
  conformance: 'wire rules run',
  acp: 'jsonrpc protocol quirks transport proposals v1 v2',
  client:
    'ports requests rules terminals turns prompts changes transport http mcp sharing connection conversation view export serving replay',
  changes: 'model lines git review restore worktree',
  distributed: 'model stores fetch client server',
  registry: 'discover fetch list unpack install',
  session: 'events queue model reconcile',
  store: 'file events sessions search',
  webview:
    'styles text dom host input components output diagram markdown changes entries nested transcript find timeline away composer header queue questions traffic',
  workbench:
    'core config editor editorTools log registry agents sessions changes sharing chat traffic troubleshoot overview commands',
};

export const SUBROOMS = Object.fromEntries(Object.entries(ORDERS).map(([room, order]) => [room, order.split(' ')]));

/**
 * All imports of a text that the formatter has been over: static, side-effect, re-export, dynamic
 * and `require`.
 * @throws Error on an import statement that it cannot read, so that none gets past
 */
export function importsOf(text: string): readonly Import[] {
  const code = codeOf(text);
  const found: Import[] = [];
  const statement = /^[ \t]*(import|export)\b([^'";]*?)\bfrom\s*['"]([^'"]+)['"]/gm;
  let understood = 0;
  for (const [, keyword, clause = '', specifier = ''] of code.matchAll(statement)) {
    found.push({ specifier, typeOnly: isTypeOnly(clause) });
    if (keyword === 'import') understood += 1;
  }
  for (const [, specifier = ''] of code.matchAll(/^[ \t]*import\s*['"]([^'"]+)['"]/gm)) {
    found.push({ specifier, typeOnly: false });
    understood += 1;
  }
  const statements = code.match(/^[ \t]*import\b(?!\s*[(.])/gm)?.length ?? 0;
  if (statements !== understood) throw new Error(`${statements} import statements, ${understood} understood`);
  // A file of the webview's own bundle, named in full, is no other room's.
  const dynamic = /\b(?:import|require)\s*\((?!fileUrl\('[\w-]+\.m?js'\)\))\s*(?:['"]([^'"]+)['"])?/g;
  for (const [, specifier = 'something computed'] of code.matchAll(dynamic)) found.push({ specifier, typeOnly: false });
  return found;
}

function isTypeOnly(clause: string): boolean {
  if (/^\s*type\b/.test(clause)) return true;
  const names = /^\s*\{([^}]*)\}\s*$/.exec(clause)?.[1]?.split(',') ?? [''];
  const given = names.map((name) => name.trim()).filter((name) => name !== '');
  return given.length > 0 && given.every((name) => /^type\b/.test(name));
}

/**
 * What a file imports against the rules.
 * @param path relative to `src`, with forward slashes
 */
export function violations(path: string, text: string): readonly string[] {
  const here = roomOf(path);
  const room = ROOMS[here];
  if (room === undefined) return [`${path}: there is no room "${here}"`];
  return importsOf(text).flatMap((item) => {
    const wrong = judge(room, here, path, item);
    return wrong === undefined ? [] : [`${path} imports "${item.specifier}": ${wrong}`];
  });
}

/**
 * What the rules permit and no file of a room imports, a line each.
 * @param files with paths relative to `src`
 */
export function unusedPermissions(
  files: readonly { readonly path: string; readonly text: string }[],
): readonly string[] {
  const used = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    const here = roomOf(path);
    const ofRoom = used.get(here) ?? new Set();
    used.set(here, ofRoom);
    for (const { specifier, typeOnly } of importsOf(text)) {
      if (specifier === 'vscode') ofRoom.add('vscode');
      else if (specifier.startsWith('node:')) ofRoom.add('node');
      else if (!specifier.startsWith('.')) ofRoom.add(packageOf(specifier));
      else {
        const there = roomOf(posix.join(posix.dirname(path), specifier));
        ofRoom.add(`${there}: types`);
        if (!typeOnly) ofRoom.add(`${there}: all`);
      }
    }
  }
  return Object.entries(ROOMS).flatMap(([name, { rooms, vscode, node, packages }]) =>
    [
      ...Object.entries(rooms).map(([room, grade]) => `${room}: ${grade}`),
      ...(vscode ? ['vscode'] : []),
      ...(node ? ['node'] : []),
      ...packages,
    ]
      .filter((permission) => !used.get(name)?.has(permission))
      .map((permission) => `${name} needs no ${permission}`),
  );
}

export function circles(
  files: readonly { readonly path: string; readonly text: string }[],
): readonly (readonly string[])[] {
  const known = new Map(files.map(({ path }) => [path.replace(/\.tsx?$/, ''), path]));
  const targets = new Map(
    files.map(({ path, text }) => {
      const places = importsOf(text).map(({ specifier }) => known.get(posix.join(posix.dirname(path), specifier)));
      return [path, places.filter((place) => place !== undefined)];
    }),
  );
  // Tarjan's strongly connected components.
  const numbers = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (path: string): number => {
    const number = numbers.size;
    let lowest = number;
    numbers.set(path, number);
    stack.push(path);
    for (const target of targets.get(path) ?? []) {
      if (!numbers.has(target)) lowest = Math.min(lowest, visit(target));
      else if (stack.includes(target)) lowest = Math.min(lowest, numbers.get(target)!);
    }
    if (lowest === number) found.push(stack.splice(stack.indexOf(path)));
    return lowest;
  };
  for (const { path } of files) if (!numbers.has(path)) visit(path);
  return found.filter((group) => group.length > 1).map((group) => group.sort());
}

const INNER = ['workbench/activation', 'workbench/ui', 'workbench/product'];

/** @param path of a file, or what an import names, relative to `src` */
function roomOf(path: string): string {
  const inner = INNER.find((room) => path === room || path.startsWith(`${room}/`) || path.startsWith(`${room}.`));
  return inner ?? path.split('/', 1)[0] ?? '';
}

function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

function judge(room: Room, here: string, path: string, { specifier, typeOnly }: Import): string | undefined {
  if (specifier === 'vscode') return room.vscode ? undefined : `${here} must not know VS Code`;
  if (specifier.startsWith('node:')) return room.node ? undefined : `${here} must not know Node`;
  if (!specifier.startsWith('.')) {
    const name = packageOf(specifier);
    return room.packages.includes(name) ? undefined : `${here} must not use the package ${name}`;
  }
  const target = posix.join(posix.dirname(path), specifier);
  if (target.startsWith('..')) return 'it lies outside of src';
  const there = roomOf(target);
  if (there === here) return judgeWithin(here, path, target);
  // Distributed sessions are behind three ports.
  if (here === 'client' && there === 'distributed' && !path.startsWith('client/ports/'))
    return 'client knows distributed by its ports';
  const grade = room.rooms[there];
  if (grade === undefined) return `${here} must not know ${there}`;
  return grade === 'types' && !typeOnly ? `${here} may only take types from ${there}` : undefined;
}

/**
 * Registers a feature of the workbench: uses any part, and is used by the composition root alone.
 */
const CONTRIBUTION = '.contribution';

function judgeWithin(room: string, path: string, target: string): string | undefined {
  const order = SUBROOMS[room];
  if (order === undefined) return undefined;
  if (target.endsWith(CONTRIBUTION)) return 'only the composition root knows contributions';
  const [from, to] = [subroomOf(path), subroomOf(target)];
  const unplaced = [from, to].find((one) => one !== undefined && !order.includes(one));
  if (unplaced !== undefined) return `${room}/${unplaced} has no place in the order of ${room}`;
  const rank = (one: string | undefined): number => (one === undefined ? order.length : order.indexOf(one));
  if (path.endsWith(`${CONTRIBUTION}.ts`)) return undefined;
  return rank(to) > rank(from) ? `${room}/${from} is below ${room}${to === undefined ? '' : `/${to}`}` : undefined;
}

function subroomOf(path: string): string | undefined {
  const parts = path.split('/');
  return parts.length > 2 ? parts[1] : undefined;
}
