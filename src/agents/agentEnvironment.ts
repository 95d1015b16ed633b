// The environment of a started agent: the user's, with the PATH of their terminal and what its
// setting says.
import { hostEnvironment } from './hostEnvironment';
import { mergePaths } from './shellPath';

/**
 * The environment to look commands up in and to start programs with.
 * @param env of the extension host; @param shellPath what `loginShellPath` found, searched first
 */
export function agentEnvironment(env: NodeJS.ProcessEnv, shellPath: string | undefined): Record<string, string> {
  const merged = hostEnvironment(env);
  const pathKey = Object.keys(merged).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
  if (shellPath !== undefined) merged[pathKey] = mergePaths(shellPath, merged[pathKey]);
  return merged;
}

/**
 * Returns the variables of `base` with those of `own` over them, by the rules of the platform for
 * their names.
 */
export function withVariables(
  base: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const merged = new Map(Object.entries(base));
  for (const [name, value] of Object.entries(own)) {
    if (platform === 'win32') {
      // Names differ only by case there; two spellings of Path would leave it to chance which one
      // counts.
      for (const known of [...merged.keys()]) if (known.toLowerCase() === name.toLowerCase()) merged.delete(known);
    }
    merged.set(name, value);
  }
  return Object.fromEntries(merged);
}
