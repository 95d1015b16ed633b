// The environment of a started agent: the user's, with the PATH of their terminal and what its
// setting says.
import { usersEnvironment } from './hostEnvironment';
import { mergePaths } from './shellPath';

/** What says the encoding of text; the first that is set and not empty counts. */
const LOCALE_NAMES = ['LC_ALL', 'LC_CTYPE', 'LANG'];

/**
 * The environment to look commands up in and to start programs with.
 * @param env of the extension host; @param shellPath what `loginShellPath` found, searched first
 */
export function agentEnvironment(
  env: NodeJS.ProcessEnv,
  shellPath: string | undefined,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const merged = usersEnvironment(env);
  // An app that is started from the Dock has no locale, and programs take all text for ASCII then.
  // Each macOS has this one, and Terminal sets one too.
  if (platform === 'darwin' && !LOCALE_NAMES.some((name) => merged[name])) merged.LANG = 'en_US.UTF-8';
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
