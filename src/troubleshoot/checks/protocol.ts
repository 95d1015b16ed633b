// Checks of an agent: trust, protocol, proposals, sign-in and session.
import * as l10n from '@vscode/l10n';
import type { StatusAnswer } from '../../acp/proposals/sessionStatus';
import type { AgentDescription } from '../../acp/protocol/dialect';
import { ParleyError } from '../../base/errors';
import { formatTenths } from '../../base/localFormat';
import { type Check, check, type Outcome } from './check';

type AgentAnswer = Pick<AgentDescription, 'protocol' | 'name' | 'title' | 'version' | 'features' | 'authMethods'>;

interface ProtocolCheckOptions {
  readonly isTrusted: boolean;
  readonly limitMs: number;
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

/** The agent has its own timeout, ms. */
const LIMIT_MS = 30_000;

/** @param ask absent if no session of the agent is open; must not change anything */
export function sessionCheck(ask: (() => Promise<StatusAnswer>) | undefined): Check {
  return check('session', l10n.t('Session'), LIMIT_MS, async () => {
    if (!ask) return { outcome: 'unchecked', found: l10n.t('The chat has no open session of this agent.') };
    const answer = await ask();
    return { outcome: OUTCOMES[answer], found: statusAnswerLabel(answer) };
  });
}

const OUTCOMES: Readonly<Record<StatusAnswer, Outcome>> = {
  live: 'ok',
  saved: 'ok',
  not_found: 'warning',
  unsupported: 'unchecked',
  failed: 'warning',
  unresponsive: 'problem',
};

export function statusAnswerLabel(answer: StatusAnswer): string {
  return {
    live: l10n.t('The session is live: the agent has it open.'),
    saved: l10n.t("The agent has saved this session. It's reopened with your next message."),
    not_found: l10n.t('The agent no longer has this session.'),
    unsupported: l10n.t("The agent can't tell whether the session is live."),
    failed: l10n.t("Couldn't check whether the session is live."),
    unresponsive: l10n.t("The agent isn't responding."),
  }[answer];
}

export type SignInState =
  | { readonly kind: 'required'; readonly methods: readonly string[]; readonly error?: string | undefined }
  | { readonly kind: 'ready' }
  | { readonly kind: 'unknown' };

export function signInCheck(state: SignInState): Check {
  return check('sign-in', l10n.t('Sign-in'), 1_000, async () => {
    switch (state.kind) {
      case 'required':
        return {
          outcome: 'problem',
          found: state.error
            ? l10n.t('The agent wants you to sign in: {0}', state.error)
            : l10n.t('The agent wants you to sign in.'),
          action: 'signIn',
          facts: state.methods.length > 0 ? [[l10n.t('Ways to sign in'), state.methods.join(', ')]] : undefined,
        };
      case 'ready':
        return { outcome: 'ok', found: l10n.t('The agent has opened a session, so no sign-in is needed.') };
      case 'unknown':
        return {
          outcome: 'unchecked',
          found: l10n.t('Open a session to find out whether the agent requires a sign-in.'),
        };
    }
  });
}

export function trustCheck(isTrusted: boolean): Check {
  return check('trust', l10n.t('Workspace trust'), 1_000, async () =>
    isTrusted
      ? { outcome: 'ok', found: l10n.t('The workspace is trusted.') }
      : {
          outcome: 'problem',
          found: l10n.t("The workspace isn't trusted, so no agent starts."),
          advice: l10n.t('Trust the workspace if you trust the authors of its files.'),
          action: 'manageTrust',
        },
  );
}

export function notTrusted(): { readonly outcome: 'unchecked'; readonly found: string } {
  return { outcome: 'unchecked', found: l10n.t('No program is started in an untrusted workspace.') };
}

interface ProposalSupport {
  readonly name: string;
  readonly isSupported: boolean;
  readonly found: string;
}

export function proposalSupport({
  protocol,
  features,
}: Pick<AgentDescription, 'protocol' | 'features'>): readonly ProposalSupport[] {
  const announced = (name: string, isSupported: boolean): ProposalSupport => ({
    name,
    isSupported,
    found: isSupported ? l10n.t('supported') : l10n.t('not announced'),
  });
  return [
    announced('session/ready', features.ready !== undefined),
    announced('session/status', features.status !== undefined),
    announced('turn_complete', features.turnComplete !== undefined),
    {
      name: l10n.t('Prompt lifecycle'),
      isSupported: features.states !== undefined,
      found:
        features.states !== undefined
          ? l10n.t('supported')
          : protocol === 1
            ? l10n.t('part of version 2; in version 1, used when the agent sends it')
            : l10n.t('not announced'),
    },
    {
      name: l10n.t('Distributed sessions'),
      isSupported: protocol === 'communication',
      found: protocol === 'communication' ? l10n.t('supported') : l10n.t('Parley does this for the agent'),
    },
  ];
}
