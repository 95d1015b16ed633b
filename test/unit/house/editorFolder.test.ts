// The launch configurations and tasks of .vscode name tasks and programs that exist.
import { strict as assert } from 'node:assert';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'jsonc-parser';

interface Launch {
  readonly configurations: readonly {
    readonly name: string;
    readonly program?: string;
    readonly preLaunchTask?: string;
  }[];
}

interface Tasks {
  readonly tasks: readonly { readonly label: string; readonly command: string; readonly args: readonly string[] }[];
}

const read = (name: string): unknown => parse(readFileSync(join(process.cwd(), '.vscode', name), 'utf8'));
const { configurations } = read('launch.json') as Launch;
const { tasks } = read('tasks.json') as Tasks;
const exists = (path: string): boolean => existsSync(join(process.cwd(), path));

describe('.vscode', () => {
  it('launches programs and tasks that exist', () => {
    for (const { name, program, preLaunchTask } of configurations) {
      assert.ok(program === undefined || exists(program.replace(/^\$\{workspaceFolder\}\//, '')), name);
      assert.ok(preLaunchTask === undefined || tasks.some(({ label }) => label === preLaunchTask), name);
    }
  });

  it('runs scripts that exist', () => {
    for (const { label, command, args } of tasks) {
      const [bootstrap = '', task = ''] = args;
      assert.equal(command, 'node', label);
      assert.ok(exists(bootstrap), label);
      assert.ok(
        ['mjs', 'ts'].some((kind) => exists(`scripts/${task}.${kind}`)),
        label,
      );
    }
  });

  it('is described in CONTRIBUTING', () => {
    const contributing = readFileSync(join(process.cwd(), 'CONTRIBUTING.md'), 'utf8');
    for (const { name } of configurations) assert.ok(contributing.includes(`| ${name} |`), name);
  });
});
