// The registries of extensions, and the programs that upload to them. A token is taken from the
// environment, given to one program alone, and never printed.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, repository } from '../../test/support/vscode/repository';

export interface Registry {
  readonly name: string;
  /** The environment variable that its program reads the token from. */
  readonly token: string;
  /** The program's file, to run with Node. @throws Error if it cannot be installed */
  readonly program: () => string;
  readonly args: (vsix: string, preRelease: boolean) => readonly string[];
}

/** An upload that was done already is no failure, so a release that broke off can be made again. */
export const REGISTRIES: readonly Registry[] = [
  {
    name: 'Visual Studio Marketplace',
    token: 'VSCE_PAT',
    program: () => join(repository, 'node_modules/@vscode/vsce/vsce'),
    args: (vsix, preRelease) => [
      'publish',
      '--packagePath',
      vsix,
      '--skip-duplicate',
      ...(preRelease ? ['--pre-release'] : []),
    ],
  },
  {
    name: 'Open VSX',
    token: 'OVSX_PAT',
    program: () => join(installedPublisher(), 'node_modules/ovsx/bin/ovsx'),
    // It reads from the package whether it is a pre-release.
    args: (vsix) => ['publish', vsix, '--skip-duplicate'],
  },
];

/** Takes the tokens out of an environment, so that nothing else that is run gets them. */
export function takeTokens(env: NodeJS.ProcessEnv): ReadonlyMap<string, string> {
  const tokens = new Map<string, string>();
  for (const { token } of REGISTRIES) {
    const value = env[token];
    if (value) tokens.set(token, value);
    delete env[token];
  }
  return tokens;
}

/**
 * Runs a program of a registry and prints what it prints, without the token.
 * @returns whether it went well
 */
export async function runPublisher(
  { token: variable }: Registry,
  program: string,
  args: readonly string[],
  token: string | undefined,
  print: (text: string) => void,
): Promise<boolean> {
  const env = { ...process.env, ...(token !== undefined && { [variable]: token }) };
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      output += text;
    });
  }
  const code = await new Promise((resolve) => {
    child.on('error', () => resolve(1));
    child.on('close', resolve);
  });
  print(token === undefined ? output : output.replaceAll(token, '***'));
  return code === 0;
}

/** Installs the program for Open VSX from its lock file, once for each lock file. */
function installedPublisher(): string {
  const source = join(repository, 'scripts/publisher');
  const names = ['package.json', 'package-lock.json'];
  const hash = createHash('sha256');
  for (const name of names) hash.update(readFileSync(join(source, name)));
  const folder = join(cacheFolder, `publisher-${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(folder)) return folder;
  const fresh = `${folder}.${process.pid}`;
  try {
    mkdirSync(fresh, { recursive: true });
    for (const name of names) copyFileSync(join(source, name), join(fresh, name));
    const run = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: fresh,
      encoding: 'utf8',
      shell: process.platform === 'win32',
    });
    if (run.status !== 0) throw new Error(`The program for Open VSX can't be installed:\n${run.stdout}${run.stderr}`);
    renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return folder;
}
