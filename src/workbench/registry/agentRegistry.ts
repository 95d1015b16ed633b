// The agent registry in this window: its list, and the installed agents.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ExtensionContext, workspace } from 'vscode';
import type { Log } from '../../base/log';
import { checkAgent } from '../../client/connection/bareAgent';
import { Stages } from '../../client/transport/stages';
import { Installer, type ProgramStart } from '../../registry/install/installer';
import { type ProxySettings, type ToolContext, withProxy } from '../../registry/install/installTools';
import { AgentIcons, type Icons } from '../../registry/list/agentIcons';
import { type Listing, RegistryList } from '../../registry/list/registryList';
import { registryUrl, startTimeoutMs } from '../config/settings';
import { AgentEntries } from './agentEntries';

interface AgentRegistryOptions {
  readonly context: Pick<ExtensionContext, 'globalStorageUri' | 'extension'>;
  readonly log: Log;
  readonly environment: (command?: string) => Promise<Record<string, string>>;
}

export class AgentRegistry {
  readonly installer: Installer;
  readonly entries: AgentEntries;
  readonly #list: RegistryList;
  readonly #icons: AgentIcons;

  constructor({ context, log, environment }: AgentRegistryOptions) {
    const storage = context.globalStorageUri.fsPath;
    this.entries = new AgentEntries(context);
    const { version } = context.extension.packageJSON as { readonly version: string };
    const check = { folder: join(storage, 'no-folder'), version, environment, log };
    this.#list = new RegistryList({ file: join(storage, 'registry.json'), log });
    this.#icons = new AgentIcons({ file: join(storage, 'registryIcons.json'), log });
    this.installer = new Installer({
      root: join(storage, 'agents'),
      log,
      context: async (): Promise<ToolContext> => ({
        env: withProxy(await environment('npm'), proxySettings()),
        except: (workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath),
        log,
      }),
      check: (start, signal) => checkStart(start, check, signal),
      trustedOrigin: () => originOf(registryUrl()),
    });
  }

  /** Returns an empty list if turned off. @throws ParleyError without even a cached list */
  async load(signal: AbortSignal): Promise<Listing> {
    const url = registryUrl();
    return url === undefined ? { agents: [], at: Date.now() } : this.#list.load(url, signal);
  }

  async loadIcons({ agents }: Listing, signal: AbortSignal, show: (icons: Icons) => void): Promise<void> {
    const url = registryUrl();
    if (url !== undefined && URL.canParse(url)) await this.#icons.load(agents, url, signal, show);
  }
}

function originOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined;
}

function proxySettings(): ProxySettings {
  const http = workspace.getConfiguration('http');
  return { proxy: http.get('proxy', ''), noProxy: http.get('noProxy', []) };
}

export interface CheckOptions {
  /** Working directory: an empty folder, created if missing. */
  readonly folder: string;
  readonly version: string;
  readonly environment: (command: string) => Promise<Record<string, string>>;
  readonly log: Log;
}

async function checkStart(start: ProgramStart, options: CheckOptions, signal: AbortSignal): Promise<void> {
  const { folder, version, environment, log } = options;
  await mkdir(folder, { recursive: true });
  const agent = { ...start, id: 'new', type: 'process', protocol: 'auto' } as const;
  const client = { name: 'parley', title: 'Parley', version };
  const services = { client, environment, log };
  await checkAgent({ agent, cwd: folder, services, stages: new Stages(Date.now, startTimeoutMs) }, signal);
}
