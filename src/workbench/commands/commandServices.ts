// What commands are made of, and what they work with.
import type { EditorServices } from '../agents/pages';
import type { CommitDrafts } from '../changes/commitDrafts';
import type { RestoreActions } from '../changes/restoreActions';
import type { ReviewIndex } from '../changes/reviewIndex';
import type { SessionWorktrees } from '../changes/sessionWorktrees';
import type { Away } from '../chat/away';
import type { ChatHome } from '../chat/chatHome';
import type { Feedback } from '../chat/feedback';
import type { TerminalCommands } from '../chat/terminalCommands';
import type { AgentCatalog } from '../config/agentCatalog';
import type { McpServers } from '../config/mcpServers';
import type { RemoteHeaders } from '../config/remoteHeaders';
import type { SavedKeys } from '../config/savedKeys';
import type { Follow } from '../editor/follow';
import type { Proposals } from '../editor/proposals';
import type { SessionTexts } from '../editor/sessionTexts';
import type { Overview } from '../overview/overview';
import type { AgentRegistry } from '../registry/agentRegistry';
import type { FoundAgents } from '../registry/foundAgents';
import type { Archive } from '../sessions/archive';
import type { AsideQuestions } from '../sessions/asideQuestions';
import type { Conversations } from '../sessions/conversations';
import type { Descriptors } from '../sharing/descriptors';
import type { ResourceStores } from '../sharing/resourceStores';
import type { Serve } from '../sharing/serve';
import type { Recordings } from '../traffic/recordings';
import type { TrafficInspector } from '../traffic/trafficInspector';
import type { Troubleshooter } from '../troubleshoot/troubleshooter';
import type { Approvals } from './approvals';

export interface CommandServices {
  readonly conversations: Conversations;
  readonly catalog: AgentCatalog;
  readonly archive: Archive;
  readonly inspector: TrafficInspector;
  readonly recordings: Recordings;
  readonly troubleshooter: Troubleshooter;
  readonly chat: ChatHome;
  /** Comments of the user on what agents did. */
  readonly feedback: Feedback;
  /** The last commands of the user's terminals. */
  readonly terminalCommands: Pick<TerminalCommands, 'attachmentOf'>;
  /** What happened in sessions while nobody looked. */
  readonly away: Pick<Away, 'toggle'>;
  readonly mcp: McpServers;
  readonly remote: RemoteHeaders;
  readonly keys: SavedKeys;
  readonly serve: Serve;
  readonly stores: ResourceStores;
  readonly descriptors: Descriptors;
  /** What waits for review. */
  readonly reviews: ReviewIndex;
  readonly restore: RestoreActions;
  /** Changes that the user edits before they are made. */
  readonly proposals: Pick<Proposals, 'use'>;
  /** Code of answers as changes of files, likewise. */
  readonly codeProposals: Pick<Proposals, 'use'>;
  readonly worktrees: SessionWorktrees;
  /** Has commit messages drafted. */
  readonly drafts: CommitDrafts;
  readonly questions: Pick<AsideQuestions, 'ask' | 'requireAgent'>;
  readonly found: FoundAgents;
  readonly registry: AgentRegistry;
  /** What an agent needs to be started without a session. */
  readonly bare: EditorServices['bare'];
  readonly reports: EditorServices['reports'];
  /** All sessions at once. */
  readonly overview: Overview;
  readonly texts: SessionTexts;
  /** The editor that follows the agent. */
  readonly follow: Pick<Follow, 'toggle'>;
  /** What the user has allowed and refused until further notice. */
  readonly approvals: Approvals;
}

/** A command by its whole id, with what it does. */
export type Command = readonly [id: string, run: (...args: readonly never[]) => Promise<unknown>];

/**
 * Makes one command. What it throws reaches a program that called it; for a person it is shown, and
 * the command ends.
 * @param id without `parley.`
 */
export type Register = (id: string, run: (...args: never[]) => unknown) => Command;
