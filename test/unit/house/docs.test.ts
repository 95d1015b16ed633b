// What the README and the walkthrough promise: every setting, command and key is in them, and every name, path and example in them is true.
import { strict as assert } from 'node:assert';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAgents } from '../../../src/agents/agentDefinition';

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly contributes: {
    readonly commands: readonly { readonly command: string; readonly title: string }[];
    readonly keybindings: readonly { readonly key: string; readonly mac: string }[];
    readonly views: Readonly<Record<string, readonly { readonly id: string }[]>>;
    readonly configuration: { readonly properties: Readonly<Record<string, { readonly default: unknown }>> };
    readonly walkthroughs: readonly {
      readonly steps: readonly { readonly id: string; readonly media: { readonly markdown: string } }[];
    }[];
  };
}

/** A text for users, with where it stands. */
interface Page {
  readonly path: string;
  readonly text: string;
}

const root = process.cwd();
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
/** The picture comes from the end-to-end tests, so a tree in which they never ran may lack it. */
const SCREENSHOT = 'media/screenshot.png';

const manifest = JSON.parse(read('package.json')) as Manifest;
const texts = JSON.parse(read('package.nls.json')) as Readonly<Record<string, string>>;
const { commands, configuration, keybindings, views, walkthroughs } = manifest.contributes;
const readme: Page = { path: 'README.md', text: read('README.md') };
const steps = walkthroughs.flatMap((walkthrough) => walkthrough.steps);

/** The README and what the walkthrough shows. */
function pages(): readonly Page[] {
  return [readme, ...steps.map(({ media }) => ({ path: media.markdown, text: read(media.markdown) }))];
}

/** The first groups of all matches, each once. */
function found(text: string, pattern: RegExp): readonly string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, group]) => group ?? ''))];
}

/** The cells of the row of a table in which a cell is `` `key` ``. */
function row(key: string): readonly string[] {
  const line = readme.text.split('\n').find((one) => one.startsWith('|') && one.includes(`| \`${key}\` |`));
  return line?.split('|').map((cell) => cell.trim()) ?? [];
}

/** The anchor that a heading gets. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s-]/gu, '')
    .replaceAll(' ', '-');
}

describe('the README', () => {
  it('hides a setting from the user, or names a wrong default', () => {
    for (const [key, { default: value }] of Object.entries(configuration.properties)) {
      assert.ok(row(key).includes(`\`${JSON.stringify(value)}\``), `${key} with its default ${JSON.stringify(value)}`);
    }
  });

  it('hides a command from the user, or calls it by a name that the palette does not find', () => {
    for (const { command, title } of commands) {
      assert.ok(row(command).includes(texts[title.replaceAll('%', '')] ?? title), `${command}, ${title}`);
    }
  });

  it('hides a key binding from the user', () => {
    const written = readme.text.toLowerCase();
    for (const key of keybindings.flatMap((binding) => [binding.key, binding.mac])) {
      assert.ok(written.includes(`\`${key}\``), key);
    }
  });

  it('sends the user to a setting, a command or a view that does not exist', () => {
    const known = new Set([
      ...Object.keys(configuration.properties),
      ...commands.map(({ command }) => command),
      ...Object.values(views).flatMap((list) => list.map(({ id }) => id)),
    ]);
    const inTexts = Object.values(texts).join('\n');
    for (const { path, text } of [...pages(), { path: 'package.nls.json', text: inTexts }]) {
      const named = found(text, /(?<=[`"#:])(parley\.[A-Za-z][\w.]*)(?=[`"#)])/g);
      assert.deepEqual(
        named.filter((name) => !known.has(name) && name !== 'parley.parley'),
        [],
        path,
      );
    }
  });

  it('sends the user to a command of the palette that has another title', () => {
    const titles = new Set([
      ...commands.map(({ title }) => texts[title.replaceAll('%', '')] ?? title),
      // VS Code makes this one for the view.
      `Focus on ${texts['view.chat']} View`,
    ]);
    for (const { path, text } of pages()) {
      const named = found(text, /\*\*Parley: ([^*]+)\*\*/g);
      assert.deepEqual(
        named.filter((title) => !titles.has(title)),
        [],
        path,
      );
    }
  });

  it('gives the user an example that Parley refuses', () => {
    const examples = pages().flatMap(({ path, text }) =>
      found(text, /^```json\n([\s\S]*?)^```$/gm).map((json) => ({ path, json })),
    );
    assert.ok(examples.length > 0);
    for (const { path, json } of examples) {
      const value = JSON.parse(json) as Record<string, unknown>;
      assert.deepEqual(parseAgents(value['parley.agents']).problems, [], `${path}: ${json}`);
      if ('key' in value)
        assert.ok(
          commands.some(({ command }) => command === value.command),
          json,
        );
      else for (const key of Object.keys(value)) assert.ok(key in configuration.properties, `${path}: ${key}`);
    }
  });

  it('breaks off where a link leads nowhere', () => {
    for (const { path, text } of [readme, { path: 'CHANGELOG.md', text: read('CHANGELOG.md') }]) {
      const anchors = new Set(found(text, /^#+ (.+)$/gm).map(anchorOf));
      for (const target of found(text, /\]\(([^)\s]+)\)/g)) {
        if (/^https:\/\//.test(target)) continue;
        if (target.startsWith('#')) assert.ok(anchors.has(target.slice(1)), `${path}: ${target}`);
        else assert.ok(existsSync(join(root, target)), `${path}: ${target}`);
      }
    }
  });

  it('tells a visitor in words alone if the screenshot is not shown', () => {
    assert.ok(readme.text.includes(`](${SCREENSHOT})`));
  });

  it('lets a newcomer run a script that does not exist, or keeps one from them', () => {
    const named = new Set([
      ...found(readme.text, /\bnpm run ([\w:]+)/g),
      ...found(readme.text, /\bnpm (start|test)\b/g),
    ]);
    assert.deepEqual([...named].sort(), Object.keys(manifest.scripts).sort());
  });

  it('sends a newcomer to a file that has moved', () => {
    const paths = found(readme.text, /`((?:src|test|scripts)\/[\w./-]+)`/g);
    assert.ok(paths.length > 0);
    assert.deepEqual(
      paths.filter((path) => !existsSync(join(root, path))),
      [],
    );
  });

  it('leaves out a room of the house', () => {
    const rooms = readdirSync(join(root, 'src'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `src/${name}`);
    assert.deepEqual(
      rooms.filter((room) => row(room).length === 0),
      [],
    );
  });
});

describe('the walkthrough', () => {
  it('has a button that does nothing if its command does not exist', () => {
    const linked = found(Object.values(texts).join('\n'), /\(command:([\w.]+)\)/g);
    assert.ok(linked.length > 0);
    assert.deepEqual(
      linked.filter((id) => !commands.some(({ command }) => command === id)),
      [],
    );
  });

  it('shows an empty page if what a step shows is not in the package', () => {
    const shipped = read('test/golden/vsix-files.txt').trim().split('\n');
    assert.deepEqual(
      steps.map(({ media }) => media.markdown).filter((path) => !shipped.includes(path)),
      [],
    );
  });
});
