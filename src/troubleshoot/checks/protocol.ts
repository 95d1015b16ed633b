// Starts the agent, negotiates the protocol version, and ends it.
import * as l10n from '@vscode/l10n';
import type { AgentDescription } from '../../acp/protocol/dialect';
import { ParleyError } from '../../base/errors';
import { formatTenths } from '../../base/localFormat';
import { type Check, check } from './check';
import { proposalSupport } from './proposalSupport';
import { notTrusted } from './trust';

export type AgentAnswer = Pick<
  AgentDescription,
  'protocol' | 'name' | 'title' | 'version' | 'features' | 'authMethods'
>;

export interface ProtocolCheckOptions {
  readonly isTrusted: boolean;
  readonly limitMs: number;
  /** Starts the agent and ends it. @throws ParleyError if it does not start */
  readonly start: (signal: AbortSignal) => Promise<AgentAnswer>;
}

export function protocolCheck({ isTrusted, limitMs, start }: ProtocolCheckOptions): Check {
  return check('protocol', l10n.t('Protocol'), limitMs, async (signal) => {
    if (!isTrusted) return notTrusted();
    const began = performance.now();
    try {
      const { protocol, name, title, version, features, authMethods } = await start(signal);
      const seconds = formatTenths((performance.now() - began) / 1000);
      return {
        outcome: 'ok',
        found:
          protocol === 'communication'
            ? l10n.t('The server of the agent answered after {0} s.', seconds)
            : l10n.t('The agent answered after {0} s, with protocol version {1}.', seconds, protocol),
        facts: [
          [l10n.t('Agent'), [title ?? name ?? '', version ?? ''].join(' ').trim()],
          [l10n.t('Capabilities'), capabilitiesOf(features)],
          [l10n.t('Proposals of the protocol'), proposalsOf({ protocol, features })],
          [l10n.t('Ways to sign in'), authMethods.map((method) => method.name).join(', ')],
        ],
      };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ParleyError)) throw error;
      const { message, hint, stderr, code } = error;
      return {
        outcome: 'problem',
        found: message,
        advice: hint,
        action: code.startsWith('agent-not-') ? 'editAgent' : 'showLog',
        facts: [[l10n.t('Code'), code], ...(stderr ? [[l10n.t('Error output'), stderr] as const] : [])],
      };
    }
  });
}

function proposalsOf(answer: Pick<AgentAnswer, 'protocol' | 'features'>): string {
  return proposalSupport(answer)
    .flatMap(({ name, isSupported }) => (isSupported ? [name] : []))
    .join(', ');
}

function capabilitiesOf({ prompt, ...features }: AgentAnswer['features']): string {
  const kinds = Object.entries(prompt).flatMap(([kind, isThere]) => (isThere ? [`prompt.${kind}`] : []));
  return [...Object.keys(features), ...kinds].sort().join(', ');
}
