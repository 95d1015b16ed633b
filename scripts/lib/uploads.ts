// Registries and their upload programs. Each token is passed to one program only and never printed.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, repository } from '../../test/support/vscode/repository';

export interface Registry {
  readonly name: string;
  readonly token: string;
  /** Returns the program's file, to run with Node. @throws Error if it can't be installed */
  readonly program: () => string;
  readonly args: (vsix: string, preRelease: boolean) => readonly string[];
}

/** An earlier upload is not an error, so that an interrupted release can be repeated. */
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
    // Detects a pre-release from the package.
    args: (vsix) => ['publish', vsix, '--skip-duplicate'],
  },
];

/** Removes the tokens from an environment, so that no other program gets them. */
export function takeTokens(env: NodeJS.ProcessEnv): ReadonlyMap<string, string> {
  const tokens = new Map<string, string>();
  for (const { token } of REGISTRIES) {
    const value = env[token];
    if (value) tokens.set(token, value);
    delete env[token];
  }
  return tokens;
}

/** Runs an upload program and prints its output without the token. @returns whether it succeeded */
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

/** Installs the Open VSX program, once per lock file. */
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
