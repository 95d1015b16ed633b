// Node.js with npm, and uv: found on the login shell's PATH, never in the workspace.
import { homedir } from 'node:os';
import { resolve, sep } from 'node:path';
import * as l10n from '@vscode/l10n';
import { resolveCommand } from '../../agents/resolveCommand';
import { type ProgramResult, runProgram } from '../../agents/runProgram';
import { ParleyError, type ParleyErrorOptions } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import { withoutFolders } from '../discover/findAgents';

const VERSION_TIMEOUT_MS = 20_000;

export const NODE_SITE = 'https://nodejs.org';
export const UV_SITE = 'https://docs.astral.sh/uv/';

export interface ToolContext {
  readonly env: Readonly<Record<string, string>>;
  readonly except: readonly string[];
  readonly log: Log;
}

export interface ProxySettings {
  /** `http.proxy`; empty: none. */
  readonly proxy: string;
  /** `http.noProxy` */
  readonly noProxy: readonly string[];
}

export interface NodeTools {
  readonly npm: string;
  readonly version: string;
}

/** npm and uv don't know VS Code's proxy settings. The user's variables and their settings win. */
export function withProxy(env: Record<string, string>, { proxy, noProxy }: ProxySettings): Record<string, string> {
  const isSet = Object.keys(env).some((name) => /^(?:https?|all|no)_proxy$/i.test(name));
  if (proxy === '' || isSet) return env;
  return { ...env, HTTP_PROXY: proxy, HTTPS_PROXY: proxy, ...(noProxy.length > 0 && { NO_PROXY: noProxy.join(',') }) };
}

export async function findNode(context: ToolContext, signal: AbortSignal): Promise<NodeTools> {
  const [node, npm] = await Promise.all([findTool('node', context), findTool('npm', context)]);
  if (node !== undefined && npm !== undefined) {
    const { stdout } = await runTool(
      node,
      ['--version'],
      homedir(),
      { ...context, timeoutMs: VERSION_TIMEOUT_MS },
      signal,
    );
    const version = /^v(\d+\.\d+\.\d+\S*)/.exec(stdout)?.[1];
    if (version !== undefined) return { npm, version };
  }
  throw new ParleyError('node-missing', localizable("Node.js with npm wasn't found on the PATH of your login shell."), {
    hint: localizable('Install Node.js from {0}, then try again.', NODE_SITE),
  });
}

export async function findUv(context: ToolContext): Promise<string> {
  const uv = await findTool('uv', context);
  if (uv !== undefined) return uv;
  throw new ParleyError('uv-missing', localizable("uv wasn't found on the PATH of your login shell."), {
    hint: localizable('Install uv from {0}, then try again.', UV_SITE),
  });
}

export function runTool(
  command: string,
  args: readonly string[],
  cwd: string,
  { env, log, timeoutMs }: ToolContext & { readonly timeoutMs?: number },
  signal: AbortSignal,
): Promise<ProgramResult> {
  return runProgram({ command, args, env, cwd, log, timeoutMs }, signal);
}

function findTool(name: string, { env, except }: ToolContext): Promise<string | undefined> {
  const options = { cwd: resolve(sep), env: withoutFolders(env, except) };
  return resolveCommand(name, options).catch(() => undefined);
}

export function diskFull(options: Omit<ParleyErrorOptions, 'hint'>): ParleyError {
  const hint = l10n.t('Free some space, then try again.');
  return new ParleyError('disk-full', localizable('The disk is full.'), { ...options, hint });
}

export function diskError(error: unknown): unknown {
  if (error instanceof ParleyError || !(error instanceof Error) || !('code' in error)) return error;
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT') return diskFull({ cause: error });
  if (error.code === 'EACCES' || error.code === 'EPERM' || error.code === 'EROFS')
    return new ParleyError('not-writable', localizable("Parley's folder can't be written: {0}", error.message), {
      cause: error,
    });
  return error;
}
