// Finds out what an agent would lose in version 2 of the protocol. Once an agent has changed files
// and run commands by itself, a second process is started for its answer to `initialize`; once per
// version of the agent.
import type { AgentDefinition } from '../../agents/agentDefinition';
import { type Disposable, toDisposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { SessionEvent } from '../../session/events/event';
import type { SessionState } from '../../session/model/state';
import { describeInVersion2 } from '../connection/bareAgent';
import type { AgentLink } from '../ports/agentLink';
import type { ClientService } from '../transport/protocolOffers';
import { Stages } from '../transport/stages';
import type { ConversationServices } from './conversationOptions';
import type { Recorder } from './recorder';

const START_MS = 60_000;

const SERVICES: Readonly<Record<string, ClientService>> = {
  edit: 'files',
  delete: 'files',
  move: 'files',
  execute: 'terminals',
};

interface ComparedConversation {
  readonly agent: AgentDefinition;
  readonly cwd: string;
  readonly link: AgentLink | undefined;
  readonly model: { readonly state: Readonly<SessionState> };
  readonly recorder: Pick<Recorder, 'onDidApply'>;
  readonly services: ConversationServices;
}

export function compareVersions(conversation: ComparedConversation): Disposable {
  const end = new AbortController();
  const subscription = conversation.recorder.onDidApply((event) => {
    if (event.type === 'turn_ended') void compare(conversation, event, end.signal);
  });
  return toDisposable(() => {
    end.abort();
    subscription.dispose();
  });
}

async function compare(
  { agent, cwd, link, model, services }: ComparedConversation,
  { turnId }: Extract<SessionEvent, { type: 'turn_ended' }>,
  signal: AbortSignal,
): Promise<void> {
  const { offers, clock, log, startTimeoutMs } = services;
  const { description } = link ?? {};
  if (!offers || agent.type !== 'process' || description?.protocol !== 1) return;
  if (!offers.didAlone(agent, servicesIn(model.state, turnId))) return;
  const stages = new Stages(clock.now, startTimeoutMs);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(START_MS)]);
  log.info(`${agent.name} is started once more, to see what it would lose in version 2 of the protocol`);
  try {
    const inV2 = await describeInVersion2({ agent, cwd, services, stages }, limit);
    offers.compared(agent, description, inV2, onlyInV1(model.state));
  } catch (error) {
    if (signal.aborted) return;
    log.info(`${agent.name} can't be compared in version 2: ${messageOf(error)}`);
    offers.compared(agent, description, undefined, []);
  } finally {
    offers.release(agent);
  }
}

function servicesIn({ entries }: Readonly<SessionState>, turnId: string): readonly ClientService[] {
  const found: ClientService[] = [];
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index];
    if (entry?.turnId !== turnId) break;
    const service = entry.kind === 'tool' && entry.status === 'completed' ? SERVICES[entry.toolKind] : undefined;
    if (service) found.push(service);
  }
  return found;
}

function onlyInV1({ modes, config }: Readonly<SessionState>): string[] {
  return modes.length > 0 && !config.some(({ category }) => category === 'mode') ? ['modes'] : [];
}
