// More real agents with the scripted model, installed only while they are tried: Kimi Code, which
// asks with little more than a name; Grok, which leaves its commands to the client; Droid;
// OpenClaw, which takes no MCP servers and needs a gateway beside it; Mastra Code, which tells all
// it does in `rawInput` and `rawOutput`.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type AgentId, installAgent } from '../../scripts/lib/agentPackages.mts';
import { endTree } from '../support/vscode/processTree';
import { scriptPrompt } from './modelScripts';
import type { AgentDefinition } from './rawClient';
import { home, installed, type RealAgent } from './realAgents';

const NAMES = {
  kimi: 'Kimi Code',
  grok: 'Grok',
  droid: 'Droid',
  openclaw: 'OpenClaw',
  mastracode: 'Mastra Code',
} as const satisfies Partial<Record<AgentId, string>>;

export type GuestId = keyof typeof NAMES;

export const GUESTS = Object.entries(NAMES) as readonly (readonly [GuestId, string])[];

/** A guest, and what ends the programs that run beside it. */
export interface Guest {
  readonly agent: RealAgent<GuestId>;
  close(): Promise<void>;
}

/**
 * Installs and starts an agent before the tests of a suite. After them it is removed unless it was
 * there before.
 * @param start calls {@link startGuest}
 */
export function useGuest(id: GuestId, start: () => Promise<Guest>): void {
  let remove: (() => Promise<void>) | undefined;
  let guest: Guest | undefined;
  before(`install and start ${id}`, async function () {
    this.timeout(600_000);
    remove = await installAgent(id);
    guest = await start();
  });
  after(async () => {
    await guest?.close();
    await remove?.();
  });
}

/** Writes the home of an agent, and starts what it needs beside it. @param folder where it works */
export async function startGuest(id: GuestId, homes: string, modelUrl: string, folder: string): Promise<Guest> {
  const { definition, close } =
    id === 'openclaw'
      ? await startOpenClaw(homes, modelUrl, folder)
      : { definition: await { kimi, grok, droid, mastracode }[id](homes, modelUrl), close: async () => {} };
  return { agent: { id, name: NAMES[id], definition, prompt: scriptPrompt }, close };
}

async function kimi(homes: string, modelUrl: string): Promise<AgentDefinition> {
  const own = await home(homes, 'kimi', {
    '.kimi-code/config.toml': `default_model = "scripted"
default_permission_mode = "manual"
telemetry = false
[providers.scripted]
type = "openai"
base_url = "${modelUrl}/v1"
api_key = "none"
[models.scripted]
provider = "scripted"
model = "scripted"
max_context_size = 100000
capabilities = ["tool_use"]
`,
  });
  return {
    command: process.execPath,
    args: [installed('kimi', '@moonshot-ai/kimi-code/dist/main.mjs'), 'acp'],
    env: { HOME: own, KIMI_CODE_HOME: join(own, '.kimi-code') },
  };
}

async function grok(homes: string, modelUrl: string): Promise<AgentDefinition> {
  const own = await home(homes, 'grok', {
    '.grok/config.toml': `[models]
default = "scripted"
[model.scripted]
model = "scripted"
name = "Scripted"
base_url = "${modelUrl}/v1"
env_key = "SCRIPTED_KEY"
context_window = 100000
`,
  });
  return {
    command: installed('grok', '.bin/grok'),
    args: ['agent', 'stdio'],
    env: {
      HOME: own,
      GROK_HOME: join(own, '.grok'),
      SCRIPTED_KEY: 'none',
      XAI_API_KEY: 'none',
      GROK_DISABLE_AUTOUPDATER: '1',
    },
  };
}

async function droid(homes: string, modelUrl: string): Promise<AgentDefinition> {
  const own = await home(homes, 'droid', {
    '.factory/settings.json': {
      customModels: [
        {
          model: 'scripted',
          displayName: 'Scripted',
          baseUrl: `${modelUrl}/v1`,
          apiKey: 'none',
          provider: 'generic-chat-completion-api',
          maxOutputTokens: 10_000,
        },
      ],
    },
  });
  return {
    command: installed('droid', '.bin/droid'),
    args: ['exec', '--output-format', 'acp'],
    // Without its own servers it wants no account.
    env: { HOME: own, FACTORY_AIRGAP_ENABLED: 'true', FACTORY_DISABLE_KEYRING: '1' },
  };
}

async function mastracode(homes: string, modelUrl: string): Promise<AgentDefinition> {
  const own = await home(homes, 'mastracode', {
    '.local/share/mastracode/settings.json': {
      onboarding: { completedAt: '2026-01-01T00:00:00Z', version: 99 },
      models: { modeDefaults: { build: 'scripted/scripted', plan: 'scripted/scripted', fast: 'scripted/scripted' } },
      // Else it never asks.
      preferences: { yolo: false },
      customProviders: [{ name: 'scripted', url: `${modelUrl}/v1`, apiKey: 'none', models: ['scripted'] }],
    },
  });
  return {
    command: process.execPath,
    args: [installed('mastracode', 'mastracode/dist/cli.js'), '--acp'],
    env: { HOME: own, XDG_DATA_HOME: join(own, '.local/share'), MASTRA_TELEMETRY_DISABLED: '1' },
  };
}

/** Starts OpenClaw's gateway, which takes about 15 seconds. @throws Error if it ends instead */
async function startOpenClaw(
  homes: string,
  modelUrl: string,
  folder: string,
): Promise<{ readonly definition: AgentDefinition; close(): Promise<void> }> {
  const port = await freePort();
  const own = await home(homes, 'openclaw', {
    // On the command line, its bridge would warn of it.
    'gateway.token': 'scripted',
    '.openclaw/openclaw.json': {
      gateway: {
        mode: 'local',
        bind: 'loopback',
        port,
        auth: { mode: 'token', token: 'scripted' },
        controlUi: { enabled: false },
      },
      discovery: { mdns: { mode: 'off' } },
      update: { checkOnStart: false },
      logging: { file: join(homes, 'openclaw', 'gateway.log') },
      // Else it never asks. It has no such setting for files.
      tools: { exec: { host: 'gateway', mode: 'ask' } },
      agents: { defaults: { workspace: folder, skipBootstrap: true, model: { primary: 'scripted/scripted' } } },
      models: {
        mode: 'merge',
        providers: {
          scripted: {
            baseUrl: `${modelUrl}/v1`,
            apiKey: 'none',
            api: 'openai-completions',
            models: [
              {
                id: 'scripted',
                name: 'Scripted',
                reasoning: false,
                input: ['text'],
                cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
                contextWindow: 100_000,
                maxTokens: 10_000,
              },
            ],
          },
        },
      },
    },
  });
  const program = installed('openclaw', 'openclaw/openclaw.mjs');
  const env = {
    HOME: own,
    OPENCLAW_SKIP_CHANNELS: '1',
    OPENCLAW_DISABLE_BONJOUR: '1',
    OPENCLAW_NO_AUTO_UPDATE: '1',
    OPENCLAW_NO_RESPAWN: '1',
  };
  const gateway = spawn(process.execPath, [program, 'gateway', 'run', '--port', String(port)], {
    cwd: folder,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(gateway, 'exit');
  const close = async (): Promise<void> => {
    if (gateway.pid !== undefined) await endTree(gateway.pid, exited, 10_000);
  };
  await isReady(gateway).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return {
    definition: {
      command: process.execPath,
      args: [program, 'acp', '--url', `ws://127.0.0.1:${port}`, '--token-file', join(own, 'gateway.token')],
      env,
    },
    close,
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No port is free');
  return address.port;
}

function isReady(gateway: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (text: string): void => {
      output += text;
      if (/\] ready$/m.test(stripVTControlCharacters(output))) resolve();
    };
    gateway.stdout?.setEncoding('utf8').on('data', read);
    gateway.stderr?.setEncoding('utf8').on('data', read);
    gateway.once('error', reject);
    gateway.once('exit', () => reject(new Error(`OpenClaw's gateway ended:\n${output}`)));
  });
}
