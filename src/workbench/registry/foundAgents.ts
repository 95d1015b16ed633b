// The agents that the user has installed on this machine. Searched when a list of them is shown.
import { isDeepStrictEqual } from 'node:util';
import { workspace } from 'vscode';
import { Emitter } from '../../base/event';
import type { Log } from '../../base/log';
import { type FoundProgram, findAgents, versionOf } from '../../registry/discover/findAgents';

export interface FoundAgent extends FoundProgram {
  readonly version?: string;
}

export interface FoundAgentsOptions {
  readonly log: Log;
  readonly environment: (command?: string) => Promise<Record<string, string>>;
}

/** Runs one search at a time. Searches and starts nothing in an untrusted workspace. */
export class FoundAgents {
  readonly #options: FoundAgentsOptions;
  readonly #didChange = new Emitter<void>();
  #agents: readonly FoundAgent[] | undefined;
  #looking: Promise<readonly FoundAgent[]> | undefined;

  constructor(options: FoundAgentsOptions) {
    this.#options = options;
  }

  readonly onDidChange = this.#didChange.event;

  /** Result of the last search; undefined before the first one has ended. */
  get agents(): readonly FoundAgent[] | undefined {
    return this.#agents;
  }

  look(): Promise<readonly FoundAgent[]> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  dispose(): void {
    this.#didChange.dispose();
  }

  async #look(): Promise<readonly FoundAgent[]> {
    if (!workspace.isTrusted) return [];
    const { environment, log } = this.#options;
    const env = await environment('agents');
    const except = (workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
    const programs = await findAgents({ env, except });
    const known = new Map(this.#agents?.map(({ path, version }) => [path, version]));
    const listed = (): readonly FoundAgent[] =>
      programs.map((program) => {
        const version = known.get(program.path);
        return { ...program, version };
      });
    this.#set(listed());
    // One after another: many programs that start at once would slow the chat down.
    for (const program of programs) {
      const version = await versionOf(program, { env, log });
      if (known.get(program.path) === version) continue;
      known.set(program.path, version);
      this.#set(listed());
    }
    return listed();
  }

  #set(agents: readonly FoundAgent[]): void {
    if (isDeepStrictEqual(this.#agents, agents)) return;
    this.#agents = agents;
    this.#didChange.fire();
  }
}
