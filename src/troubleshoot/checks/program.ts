// Checks the path and the version of an agent's program.
import * as l10n from '@vscode/l10n';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { ParleyError } from '../../base/errors';
import { type Check, check } from './check';

export interface ProgramCheckOptions {
  readonly agent: AgentDefinition;
  /** Returns the absolute path. @throws ParleyError if the program is missing */
  readonly resolve: (command: string) => Promise<string>;
  /** Returns the version if it can be determined without starting a session. */
  readonly versionOf: (path: string, signal: AbortSignal) => Promise<string | undefined>;
}

export function programCheck({ agent, resolve, versionOf }: ProgramCheckOptions): Check {
  return check('program', l10n.t('Program of the agent'), 20_000, async (signal) => {
    if (agent.type !== 'process')
      return {
        outcome: 'ok',
        found: l10n.t('The agent runs on another computer.'),
        facts: [[l10n.t('Address'), addressOf(agent.url)]],
      };
    try {
      const path = await resolve(agent.command);
      const version = await versionOf(path, signal);
      return {
        outcome: 'ok',
        found: l10n.t('The program was found, and it is executable.'),
        facts: [
          [l10n.t('Command'), agent.command],
          [l10n.t('Path'), path],
          [l10n.t('Arguments'), agent.args.join(' ')],
          [l10n.t('Version'), version ?? l10n.t('unknown')],
        ],
      };
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      return {
        outcome: 'problem',
        found: error.message,
        advice: error.hint,
        action: error.code === 'agent-not-found' ? 'addAgent' : 'editAgent',
        facts: [[l10n.t('Command'), agent.command]],
      };
    }
  });
}

function addressOf(url: string): string {
  if (!URL.canParse(url)) return '';
  const { origin, protocol, host, pathname } = new URL(url);
  return `${origin === 'null' ? `${protocol}//${host}` : origin}${pathname}`;
}
