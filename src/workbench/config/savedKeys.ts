// API keys entered by the user, stored per agent in VS Code's secret storage, and sign-in times.

import { createHash } from 'node:crypto';
import { type ExtensionContext, l10n } from 'vscode';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { Configured } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import { knownSecrets } from '../../base/redact';
import { at } from '../../base/untrusted';
import type { AgentKeys, KeyName, KeyQuestion } from '../../client/ports/agentKeys';
import { askLine } from '../ui/input';
import type { AgentOrigin } from './agentCatalog';

const PREFIX = 'parley.key:';
const SIGN_IN = 'parley.signIn:';

interface SavedKeysOptions {
  readonly context: Pick<ExtensionContext, 'secrets' | 'globalState'>;
  readonly originOf: (id: string) => AgentOrigin | undefined;
  readonly log: Log;
}

/** Never contains a key. */
export interface SignInFacts {
  readonly keys: readonly KeyName[];
  readonly signedIn?: { readonly method: string; readonly at: number };
}

/** Keys of agents that this window doesn't have. */
export interface UnusedKeys {
  readonly id: string;
  readonly names: readonly string[];
  readonly storageKeys: readonly string[];
}

export class SavedKeys extends Configured<SavedKeysOptions> implements AgentKeys {
  async variables(agent: AgentDefinition): Promise<Readonly<Record<string, string>>> {
    const found: Record<string, string> = {};
    for (const key of await this.#keysOf(agent)) {
      const value = key.kind === 'variable' ? await this.saved(agent, key) : undefined;
      if (value !== undefined) found[key.name] = value;
    }
    return found;
  }

  async saved(agent: AgentDefinition, key: KeyName): Promise<string | undefined> {
    try {
      return await this.options.context.secrets.get(this.#storageKey(agent, key));
    } catch (error) {
      // A locked or missing keyring: the agent reports what is missing.
      this.options.log.warn(`The secret storage could not be read: ${messageOf(error)}`);
      return undefined;
    }
  }

  async ask(agent: AgentDefinition, question: KeyQuestion, signal: AbortSignal): Promise<string | undefined> {
    const { kind, name, method } = question;
    const isSaved = (await this.saved(agent, question)) !== undefined;
    const subject = kind === 'variable' ? name : method;
    const hint = isSaved
      ? l10n.t('Leave empty to use the saved key.')
      : kind === 'method'
        ? l10n.t('Leave empty if {0} already has a key.', agent.name)
        : '';
    const prompt = `${l10n.t("Saved in VS Code's secret storage and passed to {0} only.", agent.name)} ${hint}`;
    const entered = await askLine({ title: `${agent.name}: ${subject}`, prompt: prompt.trim(), secret: true }, signal);
    // An agent that rejects the key may repeat it in its error.
    if (entered) knownSecrets.add(entered);
    return entered;
  }

  async save(agent: AgentDefinition, key: KeyName, value: string): Promise<void> {
    await this.options.context.secrets.store(this.#storageKey(agent, key), value);
  }

  async remove(agent: AgentDefinition, key: KeyName): Promise<void> {
    await this.options.context.secrets.delete(this.#storageKey(agent, key));
  }

  async forget(agent: AgentDefinition): Promise<number> {
    const keys = await this.#keysOf(agent);
    for (const key of keys) await this.remove(agent, key);
    await this.#record(agent, undefined);
    return keys.length;
  }

  async forgetAll(): Promise<number> {
    const { secrets, globalState } = this.options.context;
    const keys = (await secrets.keys()).filter((key) => key.startsWith(PREFIX));
    for (const key of keys) await secrets.delete(key);
    for (const key of globalState.keys()) if (key.startsWith(SIGN_IN)) await globalState.update(key, undefined);
    return keys.length;
  }

  /** Returns keys of removed entries. @param ids of entries that are currently unusable */
  async unused(agents: readonly AgentDefinition[], ids: readonly string[]): Promise<readonly UnusedKeys[]> {
    const usedScopes = new Set([...agents.map((agent) => this.#scope(agent)), ...ids]);
    const saved = await this.#savedKeys();
    const unused = saved.filter(({ scope }) => !usedScopes.has(scope));
    return [...Map.groupBy(unused, ({ scope }) => scope)].map(([scope, keys]) => ({
      id: scope.split(' ', 1)[0] ?? scope,
      names: keys.map(({ name }) => name),
      storageKeys: keys.map(({ storageKey }) => storageKey),
    }));
  }

  async removeUnused({ storageKeys }: UnusedKeys): Promise<void> {
    for (const key of storageKeys) await this.options.context.secrets.delete(key);
  }

  async note(agent: AgentDefinition, method: string | undefined): Promise<void> {
    try {
      await this.#record(agent, method === undefined ? undefined : { method, at: Date.now() });
    } catch (error) {
      this.options.log.warn(`The sign-in was not noted: ${messageOf(error)}`);
    }
  }

  async facts(agent: AgentDefinition): Promise<SignInFacts> {
    const noted = this.options.context.globalState.get<unknown>(`${SIGN_IN}${this.#scope(agent)}`);
    const [method, since] = [at(noted, 'method'), at(noted, 'at')];
    const keys = await this.#keysOf(agent);
    return typeof method === 'string' && typeof since === 'number'
      ? { keys, signedIn: { method, at: since } }
      : { keys };
  }

  async #keysOf(agent: AgentDefinition): Promise<readonly KeyName[]> {
    // The demo must not wait for a keyring.
    if (this.options.originOf(agent.id)?.kind === 'shipped') return [];
    const scope = this.#scope(agent);
    return (await this.#savedKeys()).filter((key) => key.scope === scope);
  }

  async #savedKeys(): Promise<readonly SavedKey[]> {
    try {
      return (await this.options.context.secrets.keys()).flatMap(readStorageKey);
    } catch (error) {
      this.options.log.warn(`The secret storage could not be read: ${messageOf(error)}`);
      return [];
    }
  }

  async #record(agent: AgentDefinition, value: unknown): Promise<void> {
    const key = `${SIGN_IN}${this.#scope(agent)}`;
    const { globalState } = this.options.context;
    if (value !== undefined || globalState.get(key) !== undefined) await globalState.update(key, value);
  }

  #storageKey(agent: AgentDefinition, { kind, name }: KeyName): string {
    return `${PREFIX}${JSON.stringify([this.#scope(agent), kind, name])}`;
  }

  /**
   * Workspaces choose ids and change definitions: keys belong to a file and approved definition.
   */
  #scope(agent: AgentDefinition): string {
    const origin = this.options.originOf(agent.id);
    if (origin?.kind !== 'folder') return agent.id;
    const content = JSON.stringify([origin.file, agent]);
    return `${agent.id} ${createHash('sha256').update(content).digest('hex')}`;
  }
}

interface SavedKey extends KeyName {
  readonly scope: string;
  readonly storageKey: string;
}

function readStorageKey(storageKey: string): readonly SavedKey[] {
  if (!storageKey.startsWith(PREFIX)) return [];
  try {
    const [scope, kind, name] = JSON.parse(storageKey.slice(PREFIX.length)) as unknown[];
    return typeof scope === 'string' && (kind === 'variable' || kind === 'method') && typeof name === 'string'
      ? [{ scope, kind, name, storageKey }]
      : [];
  } catch {
    return [];
  }
}
