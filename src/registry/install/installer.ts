// Installs agents of the registry: plans the installation for the user to confirm, unpacks into a
// staging folder, and makes it the installed version after the agent has started from it once.

import { access, chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import type { RegistryAgent } from '../list/registryAgent';
import { archiveKind, pathParts, unpack } from '../unpack/unpack';
import { download, statedSize } from './download';
import { type InstalledAgent, InstalledAgents, remove } from './installedAgents';
import { withLock } from './installLock';
import { type InstallSource, installSources } from './installSource';
import { diskError, findUv, type NodeTools, type ToolContext } from './installTools';
import { npmFacts, npmInstall } from './npmInstall';
import { uvInstall } from './uvInstall';

export interface InstallPlan {
  readonly agent: RegistryAgent;
  readonly source: InstallSource;
  /** Bytes, as stated by the server. */
  readonly size?: number;
  readonly license?: string;
  readonly tool:
    | { readonly kind: 'npm'; readonly node: NodeTools }
    | { readonly kind: 'uv'; readonly uv: string }
    | undefined;
}

export interface ProgramStart {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** `received` and `total` in bytes. */
export type InstallStep =
  | { readonly kind: 'downloading'; readonly received: number; readonly total?: number | undefined }
  | { readonly kind: 'unpacking' | 'installing' | 'checking' };

export interface InstallerOptions {
  readonly root: string;
  readonly log: Log;
  readonly context: () => Promise<ToolContext>;
  /** Starts the agent and ends it. Rejects if it doesn't answer as an agent. */
  readonly check: (start: ProgramStart, signal: AbortSignal) => Promise<void>;
  /** See `request`. */
  readonly trustedOrigin: () => string | undefined;
}

export class Installer {
  readonly installed: InstalledAgents;
  readonly #options: InstallerOptions;

  constructor(options: InstallerOptions) {
    this.#options = options;
    this.installed = new InstalledAgents(options.root);
  }

  /**
   * The first way whose tools are available.
   * @throws ParleyError; the reason of `signal`
   */
  async plan(agent: RegistryAgent, signal: AbortSignal): Promise<InstallPlan> {
    let first: unknown;
    for (const source of installSources(agent)) {
      try {
        return await this.#planFor(agent, source, signal);
      } catch (error) {
        signal.throwIfAborted();
        first ??= error;
      }
    }
    throw first;
  }

  /**
   * A failure leaves only a partial download, which the next attempt resumes.
   * @throws ParleyError; the reason of `signal`
   */
  async install(plan: InstallPlan, report: (step: InstallStep) => void, signal: AbortSignal): Promise<InstalledAgent> {
    const { id, name, version } = plan.agent;
    return withLock(this.installed.lockFile(id), async () => {
      const staged = await this.installed.stage(id);
      try {
        const { args, env } = plan.source;
        const { program, sha256 } = await this.#fill(staged, plan, report, signal);
        report({ kind: 'checking' });
        await this.#options.check({ name, command: join(staged, program), args, env }, signal);
        signal.throwIfAborted();
        const facts = { id, name, version, program, args: [...args], env, installedAt: Date.now() };
        return await this.installed.commit(staged, { ...facts, sha256 });
      } catch (error) {
        const stderr = error instanceof ParleyError && error.stderr ? `\n${error.stderr}` : '';
        this.#options.log.warn(`install ${id} ${version}: ${messageOf(error)}${stderr}`);
        await remove(staged).catch((left: unknown) => this.#options.log.warn(`install: ${messageOf(left)}`));
        throw signal.aborted ? signal.reason : diskError(error);
      }
    }).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : diskError(error);
    });
  }

  async #planFor(agent: RegistryAgent, source: InstallSource, signal: AbortSignal): Promise<InstallPlan> {
    const plan = { agent, source, license: agent.license };
    if (source.kind === 'binary') {
      archiveKind(source.archive);
      const size = await statedSize(source.archive, this.#options.trustedOrigin(), signal);
      return { ...plan, tool: undefined, size };
    }
    const context = await this.#options.context();
    await mkdir(this.#options.root, { recursive: true });
    if (source.kind === 'uvx') return { ...plan, tool: { kind: 'uv', uv: await findUv(context) } };
    const { node, ...facts } = await npmFacts(source, this.#options.root, context, signal);
    return { ...facts, ...plan, tool: { kind: 'npm', node } };
  }

  async #fill(
    folder: string,
    { source, tool }: InstallPlan,
    report: (step: InstallStep) => void,
    signal: AbortSignal,
  ): Promise<{ readonly program: string; readonly sha256?: string }> {
    if (source.kind === 'binary') return this.#unpacked(folder, source, report, signal);
    const context = await this.#options.context();
    report({ kind: 'installing' });
    if (tool?.kind === 'npm') return { program: await npmInstall(source, folder, tool.node, context, signal) };
    if (tool?.kind === 'uv') return { program: await uvInstall(source, folder, tool.uv, context, signal) };
    throw new Error('the plan has no tool');
  }

  async #unpacked(
    folder: string,
    source: Extract<InstallSource, { kind: 'binary' }>,
    report: (step: InstallStep) => void,
    signal: AbortSignal,
  ): Promise<{ readonly program: string; readonly sha256: string }> {
    const { archive, cmd, sha256 } = source;
    const kind = archiveKind(archive);
    const file = await download(
      {
        url: archive,
        folder: this.installed.downloads,
        sha256,
        trustedOrigin: this.#options.trustedOrigin(),
        onProgress: (received, total) => report({ kind: 'downloading', received, total }),
      },
      signal,
    );
    try {
      report({ kind: 'unpacking' });
      await unpack({ path: file.path, kind, program: cmd }, join(folder, 'files'), signal);
    } finally {
      // A damaged download would not improve; an intact one is no longer needed.
      await remove(file.path);
    }
    const parts = pathParts(cmd) ?? [];
    const program = join('files', ...(kind === 'program' ? parts.slice(-1) : parts));
    const isThere = await access(join(folder, program)).then(
      () => parts.length > 0,
      () => false,
    );
    if (!isThere) throw new ParleyError('no-program', localizable("The archive doesn't contain the program {0}.", cmd));
    if (process.platform !== 'win32') await chmod(join(folder, program), 0o755);
    return { program, sha256: file.sha256 };
  }
}
