// What the configuration says about files of a work tree. It is read as data: git gets only the
// file, and nothing in it is run or followed.
import { lstat, readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { succeeds } from '../../base/within';
import type { ObjectFormat } from './bareStore';
import { type Git, runGit } from './gitProcess';
import { splitRecords } from './records';
import type { Repository } from './repository';

const TIMEOUT_MS = 5000;
const MAX_CONFIG = 1024 * 1024;
const SWITCHES = ['core.filemode', 'core.symlinks', 'core.ignorecase', 'core.precomposeunicode'];
const CONVERSION = 'core.autocrlf';

/** By lower-case name. */
type Variables = ReadonlyMap<string, string>;

export interface FileConfig {
  /** `-c` options for scans. */
  readonly options: readonly string[];
  readonly excludeFiles: readonly string[];
  readonly format: ObjectFormat;
  /** Git converts line ends by default. */
  readonly convertsLines: boolean;
  readonly attributesFile?: string;
}

/** Reads the user's configuration once, and a repository's whenever it has changed. */
export class FileConfigs {
  readonly #git: Git;
  readonly #env: NodeJS.ProcessEnv;
  readonly #home: string;
  #user: Promise<Variables> | undefined;
  readonly #local = new Map<string, { readonly stamp: string; readonly variables: Variables }>();

  constructor(git: Git, env: NodeJS.ProcessEnv) {
    this.#git = git;
    this.#env = env;
    this.#home = env.HOME ?? homedir();
  }

  async of(repository: Repository | undefined, folder: string): Promise<FileConfig> {
    const [own, local] = await Promise.all([
      this.#ofUser(),
      repository ? this.#ofRepository(repository) : ofFileSystem(folder),
    ]);
    const value = (name: string): string | undefined => local.get(name) ?? own.get(name);
    const path = (name: string, fallback: string): string => {
      const text = value(name);
      if (text === undefined || text === '') return fallback;
      return resolve(repository?.top ?? this.#home, text.replace(/^~(?=[/\\])/, this.#home));
    };
    const configFolder = join(this.#env.XDG_CONFIG_HOME ?? join(this.#home, '.config'), 'git');
    const excludeFiles = [path('core.excludesfile', join(configFolder, 'ignore'))];
    if (repository) excludeFiles.push(join(repository.commonDir, 'info/exclude'));
    const attributesFile = path('core.attributesfile', join(configFolder, 'attributes'));
    return {
      options: SWITCHES.flatMap((name) => {
        const text = value(name);
        return text === undefined ? [] : ['-c', `${name}=${isTrue(text)}`];
      }),
      excludeFiles: await files(excludeFiles),
      format: local.get('extensions.objectformat')?.toLowerCase() === 'sha256' ? 'sha256' : 'sha1',
      convertsLines: isTrue(value(CONVERSION) ?? 'false') || value(CONVERSION)?.toLowerCase() === 'input',
      attributesFile: (await files([attributesFile])).length > 0 ? attributesFile : undefined,
    };
  }

  #ofUser(): Promise<Variables> {
    const { XDG_CONFIG_HOME } = this.#env;
    this.#user ??= readConfig(this.#git, ['--list', '--includes'], {
      HOME: this.#home,
      XDG_CONFIG_HOME,
      GIT_CONFIG_NOSYSTEM: '0',
      GIT_CONFIG_GLOBAL: undefined,
    });
    return this.#user;
  }

  async #ofRepository({ commonDir }: Repository): Promise<Variables> {
    const file = join(commonDir, 'config');
    const stats = await stat(file).catch(() => undefined);
    if (!stats?.isFile()) return new Map();
    const stamp = `${stats.mtimeMs} ${stats.ctimeMs} ${stats.size} ${stats.ino}`;
    const cached = this.#local.get(file);
    if (cached?.stamp === stamp) return cached.variables;
    const variables = await readConfig(this.#git, ['--list', '--file', file], {});
    this.#local.set(file, { stamp, variables });
    return variables;
  }
}

/** Without writing. */
async function ofFileSystem(folder: string): Promise<Variables> {
  const names: readonly string[] = await readdir(folder).catch(() => []);
  const name = names.find((one) => otherCase(one) !== one && !names.includes(otherCase(one)));
  if (name === undefined) return new Map();
  const ignoresCase = await succeeds(lstat(join(folder, otherCase(name))));
  return new Map<string, string>(ignoresCase ? [['core.ignorecase', 'true']] : []);
}

function otherCase(name: string): string {
  const upper = name.toUpperCase();
  return upper === name ? name.toLowerCase() : upper;
}

function isTrue(text: string): boolean {
  return /^(true|yes|on|[1-9]\d*|)$/i.test(text);
}

/** Regular files only: reading anything else may never end. */
async function files(paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        (stats) => stats.isFile(),
        () => false,
      ),
    ),
  );
  return paths.filter((_, position) => found[position]);
}

async function readConfig(
  git: Git,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<Variables> {
  const variables = new Map<string, string>();
  const result = await runGit(git, {
    args: ['config', '-z', ...args],
    cwd: homedir(),
    // Keeps git from finding a repository by the working directory.
    env: { GIT_DIR: join(homedir(), '.no-such-git-repository'), ...env },
    timeoutMs: TIMEOUT_MS,
    maxOutput: MAX_CONFIG,
  }).catch(() => undefined);
  if (result?.code !== 0) return variables;
  for (const record of await splitRecords(result.stdout)) {
    const text = record.toString('utf8');
    const line = text.indexOf('\n');
    variables.set((line < 0 ? text : text.slice(0, line)).toLowerCase(), line < 0 ? 'true' : text.slice(line + 1));
  }
  return variables;
}
