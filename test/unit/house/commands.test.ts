// The commands of package.json: few, each offered only while it can do something.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';

interface MenuItem {
  readonly command: string;
  readonly when?: string;
}

const { commands, keybindings, menus } = JSON.parse(readFileSync('package.json', 'utf8')).contributes as {
  readonly commands: readonly { readonly command: string }[];
  readonly keybindings: readonly {
    readonly command: string;
    readonly key: string;
    readonly when?: string;
    readonly args?: { readonly commands?: readonly (string | { readonly command: string })[] };
  }[];
  readonly menus: Readonly<Record<'commandPalette' | 'explorer/context', readonly MenuItem[]>>;
};

const MOST_COMMANDS = 60;
const MOST_IN_PALETTE = 35;

const NO_SESSION = new Set(['isWorkspaceTrusted', 'workspaceFolderCount', 'gitOpenRepositoryCount']);
/**
 * A session of the demo agent with options that can be forked, in a repository, with changes to
 * review.
 */
const SESSION = new Set([
  ...NO_SESSION,
  ...['hasSession', 'hasModes', 'hasModels', 'hasOptions', 'canFork', 'hasWaitingChanges'].map(
    (key) => `parley.${key}`,
  ),
]);

/** @param keys that are true, or not 0 */
function holds(when: string, keys: ReadonlySet<string>): boolean {
  return when.split(' || ').some((all) =>
    all.split(' && ').every((term) => {
      const [, not, key = '', operator] = /^(!?)([\w.]+)(?: (!=|==|=~|in) .+)?$/.exec(term) ?? assert.fail(term);
      if (operator === '!=') return keys.has(key);
      return operator === undefined && keys.has(key) === (not === '');
    }),
  );
}

function palette(keys: ReadonlySet<string>): readonly string[] {
  const clauses = new Map(menus.commandPalette.map(({ command, when = '' }) => [command, when]));
  return commands
    .map(({ command }) => command)
    .filter((command) => clauses.get(command) === undefined || holds(clauses.get(command) ?? '', keys));
}

describe('the commands', () => {
  it(`are at most ${MOST_COMMANDS}`, () => {
    assert.ok(commands.length <= MOST_COMMANDS, `${commands.length}`);
  });

  it(`are at most ${MOST_IN_PALETTE} in the palette with a session`, () => {
    const shown = palette(SESSION);
    assert.ok(shown.length <= MOST_IN_PALETTE, `${shown.length}: ${shown.join(' ')}`);
    assert.ok(shown.includes('parley.reviewChanges'));
  });

  it('have a title in the list of keyboard shortcuts if they have one', () => {
    const listed = commands.map(({ command }) => command);
    assert.deepEqual(
      keybindings
        .map(({ command }) => command)
        .filter((command) => command !== 'runCommands' && !listed.includes(command)),
      [],
    );
  });

  it('leave the editor before VS Code asks the extension, so that what is typed next goes into no file', () => {
    const leaving = keybindings.filter(({ command }) => command === 'runCommands');
    const firsts = new Set(leaving.map(({ args }) => args?.commands?.[0]));
    const led = leaving.map(({ key, args }) => [
      key,
      args?.commands?.slice(1).map((one) => Object(one).command ?? one),
    ]);
    assert.deepEqual([...firsts], ['workbench.action.blur']);
    // Without its own rule, the palette would not show the key.
    for (const [key, commands] of led)
      assert.ok(
        keybindings.some((one) => one.key === key && one.command === String(commands)),
        String(key),
      );
    const toChat = ['open', 'nextAttention', 'addSelection', 'toggleFocus', 'toggleFocus'];
    assert.deepEqual(led.map(([, commands]) => String(commands)).sort(), toChat.map((id) => `parley.${id}`).sort());
  });

  it('are on folders in the Explorer as on files', () => {
    const add = menus['explorer/context'].find(({ command }) => command === 'parley.addFile');
    assert.equal(add?.when, 'resourceScheme == file');
  });

  it('are about no session in the palette without one', () => {
    const shown = palette(NO_SESSION);
    for (const command of ['export', 'find', 'closeSession', 'reviewChanges', 'togglePin', 'nextAttention'])
      assert.ok(!shown.includes(`parley.${command}`), command);
    assert.ok(shown.includes('parley.newSession'));
  });
});
