// Agents that people install themselves: the program of each, and how it speaks ACP.

/** An agent that may be on this machine. */
export interface KnownAgent {
  /** The id of its entry in `parley.agents`. */
  readonly id: string;
  readonly name: string;
  /** The name of its program on the PATH. */
  readonly program: string;
  /** The arguments that make it speak ACP. */
  readonly args: readonly string[];
  /**
   * True if the program prints its version and exits when run with `--version`. Others would start
   * to serve, so their version is known only if npm has installed them.
   */
  readonly answersVersion: boolean;
  /** The program does not speak ACP: ids in the registry of what does, with it. */
  readonly adapters?: readonly string[];
}

/** The known agents, in the order in which they are offered. */
export const KNOWN_AGENTS: readonly KnownAgent[] = [
  agent('claude', 'Claude', 'claude-agent-acp', [], false),
  agent('claude', 'Claude', 'claude-code-acp', [], false),
  { ...agent('claude', 'Claude', 'claude', []), adapters: ['claude-acp', 'claude-code-acp'] },
  agent('gemini', 'Gemini', 'gemini', ['--acp']),
  agent('codex', 'Codex', 'codex-acp', [], false),
  { ...agent('codex', 'Codex', 'codex', []), adapters: ['codex-acp'] },
  agent('opencode', 'OpenCode', 'opencode', ['acp']),
  agent('copilot', 'GitHub Copilot', 'copilot', ['--acp']),
  agent('kilo', 'Kilo', 'kilo', ['acp']),
  agent('qwen', 'Qwen Code', 'qwen', ['--acp']),
  agent('goose', 'goose', 'goose', ['acp']),
  agent('cline', 'Cline', 'cline', ['--acp']),
  agent('auggie', 'Auggie', 'auggie', ['--acp']),
  agent('kimi', 'Kimi', 'kimi', ['acp']),
  agent('vibe', 'Mistral Vibe', 'vibe-acp', [], false),
  agent('qoder', 'Qoder', 'qodercli', ['--acp']),
  agent('droid', 'Factory Droid', 'droid', ['exec', '--output-format', 'acp']),
  agent('pi', 'pi', 'pi-acp', [], false),
];

function agent(id: string, name: string, program: string, args: readonly string[], answersVersion = true): KnownAgent {
  return { id, name, program, args, answersVersion };
}
