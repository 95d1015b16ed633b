// The real agents that most tests use: how each is started, with a new home and the scripted
// model in place of the real one.
// scripts/testAgents.mjs installs them and says in PARLEY_AGENTS which folder they are in.
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentId, KEPT_AGENTS } from '../../scripts/lib/agentPackages.mts';
import { type ScriptName, scriptPrompt } from './modelScripts';
import type { AgentDefinition } from './rawClient';

/** A real agent, ready to be started. */
export interface RealAgent<Id extends AgentId = AgentId> {
  readonly id: Id;
  readonly name: string;
  /** The entry for `parley.agents`. */
  readonly definition: AgentDefinition;
  /** The method for `authenticate`, for an agent that wants it before the first session. */
  readonly signIn?: string;
  /** It names its sessions, in updates that may come after an answer. */
  readonly givesTitles?: true;
  /** To be called between two processes, where the second is to open a session of the first. */
  readonly settle?: () => Promise<void>;
  /** The text that makes the model play a script in a folder. */
  prompt(script: ScriptName, cwd: string): string;
}

/**
 * Writes the homes and settings of the agents and says how to start each.
 * @param homes an empty folder for the agents' homes @param modelUrl of the scripted model
 * (modelServer.ts)
 * @throws Error if the environment does not say where they are
 */
export async function realAgents(
  homes: string,
  modelUrl: string,
): Promise<readonly RealAgent<(typeof KEPT_AGENTS)[number]>[]> {
  const claudeHome = await home(homes, 'claude', {
    // Else it begins in a mode that never asks.
    '.claude/settings.json': { permissions: { defaultMode: 'default' } },
  });
  const geminiHome = await home(homes, 'gemini', {
    '.gemini/settings.json': {
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      model: { name: 'gemini-2.5-flash' },
      // With its retention, it would delete a session at the second start after the session was
      // opened again: it takes the file without messages that it has begun then (ageSessions) for a
      // broken one, and deletes all files of the session.
      general: { disableAutoUpdate: true, disableUpdateNag: true, sessionRetention: { enabled: false } },
      privacy: { usageStatisticsEnabled: false },
    },
  });
  const opencodeHome = await home(homes, 'opencode', {
    '.config/opencode/opencode.json': {
      provider: {
        scripted: {
          npm: '@ai-sdk/openai-compatible',
          name: 'Scripted',
          options: { baseURL: `${modelUrl}/v1`, apiKey: 'none' },
          models: {
            scripted: {
              name: 'Scripted',
              reasoning: true,
              tool_call: true,
              limit: { context: 100_000, output: 10_000 },
            },
          },
        },
      },
      model: 'scripted/scripted',
      small_model: 'scripted/scripted',
      permission: { edit: 'ask', bash: 'ask' },
      autoupdate: false,
      share: 'disabled',
    },
  });

  const codexHome = await home(homes, 'codex', {
    '.codex/config.toml': `model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "Scripted"
base_url = "${modelUrl}/v1"
wire_api = "responses"
`,
  });

  return [
    {
      id: 'claude',
      name: 'Claude',
      definition: {
        command: process.execPath,
        args: [installed('claude', '@agentclientprotocol/claude-agent-acp/dist/index.js')],
        env: {
          HOME: claudeHome,
          CLAUDE_CONFIG_DIR: join(claudeHome, '.claude'),
          ANTHROPIC_BASE_URL: modelUrl,
          ANTHROPIC_API_KEY: 'none',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          DISABLE_TELEMETRY: '1',
          DISABLE_AUTOUPDATER: '1',
          // The model gets all tools immediately, not a search for them, and none is missing in the
          // first request.
          ENABLE_TOOL_SEARCH: 'false',
          MCP_CONNECTION_NONBLOCKING: 'false',
          IS_SANDBOX: '1', // lets it work as root, as containers do
        },
      },
      givesTitles: true,
      prompt: scriptPrompt,
    },
    {
      id: 'gemini',
      name: 'Gemini',
      definition: {
        command: process.execPath,
        args: [installed('gemini', '@google/gemini-cli/bundle/gemini.js'), '--acp'],
        env: { HOME: geminiHome, GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: modelUrl },
      },
      signIn: 'gemini-api-key',
      settle: () => ageSessions(join(geminiHome, '.gemini/tmp')),
      prompt: scriptPrompt,
    },
    {
      id: 'opencode',
      name: 'OpenCode',
      definition: {
        command: installed('opencode', '.bin/opencode'),
        args: ['acp'],
        env: {
          HOME: opencodeHome,
          XDG_CONFIG_HOME: join(opencodeHome, '.config'),
          XDG_DATA_HOME: join(opencodeHome, '.local/share'),
          XDG_STATE_HOME: join(opencodeHome, '.local/state'),
          XDG_CACHE_HOME: join(opencodeHome, '.cache'),
          OPENCODE_DISABLE_MODELS_FETCH: '1',
          OPENCODE_DISABLE_AUTOUPDATE: '1',
        },
      },
      prompt: scriptPrompt,
    },
    {
      id: 'codex',
      name: 'Codex',
      definition: {
        command: process.execPath,
        args: [installed('codex', '@agentclientprotocol/codex-acp/dist/index.js')],
        // In its other modes it never asks.
        env: {
          HOME: codexHome,
          CODEX_HOME: join(codexHome, '.codex'),
          NO_BROWSER: '1',
          INITIAL_AGENT_MODE: 'read-only',
        },
      },
      prompt: scriptPrompt,
    },
  ];
}

/**
 * Gives each file of a session a name without a time. gemini-cli 0.61.0 names the file after the
 * minute of its start, and begins another one when it opens a session again: within the same minute
 * that is the file that it is about to read. Each name is a new one, as the file of a session that
 * was opened again must not replace the one with its messages.
 */
async function ageSessions(folder: string): Promise<void> {
  for (const path of await readdir(folder, { recursive: true })) {
    const aged = path.replace(/session-[\d-]+T\d{2}-\d{2}(-\w+\.jsonl?)$/, `session-${randomUUID()}$1`);
    if (aged !== path) await rename(join(folder, path), join(folder, aged));
  }
}

/**
 * Returns a path below the packages of an agent.
 * @throws Error if the environment does not say where they are
 */
export function installed(id: string, ...path: string[]): string {
  return join(needed('PARLEY_AGENTS'), id, 'node_modules', ...path);
}

/**
 * Makes the home of an agent.
 * @param files by path, a text or an object to be written as JSON
 * @returns its path
 */
export async function home(homes: string, id: string, files: Record<string, unknown>): Promise<string> {
  const path = join(homes, id);
  await mkdir(path, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(path, name, '..'), { recursive: true });
    await writeFile(join(path, name), typeof content === 'string' ? content : JSON.stringify(content, undefined, 2));
  }
  return path;
}

function needed(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run \`npm run test:agents\`.`);
  return value;
}
