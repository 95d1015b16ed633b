// The environment of a started agent: the user's, with the PATH of their terminal and what its setting says.
import { hostEnvironment } from './hostEnvironment';
import { mergePaths } from './shellPath';

/**
 * The environment to look commands up in and to start agents with.
 * @param env of the extension host; @param shellPath what `loginShellPath` found, searched first; @param agentEnv the agent's own, which wins
 */
export function agentEnvironment(
  env: NodeJS.ProcessEnv,
  shellPath: string | undefined,
  agentEnv: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const merged = hostEnvironment(env);
  const pathKey = Object.keys(merged).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
  if (shellPath !== undefined) merged[pathKey] = mergePaths(shellPath, merged[pathKey]);
  for (const [name, value] of Object.entries(agentEnv)) {
    // Windows does not tell `Path` from `PATH`; two of them would leave it to chance which one counts.
    const same =
      process.platform === 'win32'
        ? Object.keys(merged).find((key) => key.toUpperCase() === name.toUpperCase())
        : undefined;
    if (same !== undefined) delete merged[same];
    merged[name] = value;
  }
  return merged;
}
