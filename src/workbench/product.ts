// The composition root: builds the features of the workbench, and ends them in order.
import * as texts from '@vscode/l10n';
import { type ExtensionContext, env, type LogOutputChannel, l10n } from 'vscode';
import { formatFor } from '../base/localFormat';
import { agents } from './agents/agents.contribution';
import { createApi, type ParleyApi } from './api';
import { review } from './changes/review.contribution';
import { worktrees } from './changes/worktrees.contribution';
import { chat } from './chat/chat.contribution';
import { ChatHome, type ChatPlaces } from './chat/chatHome';
import { comments } from './chat/comments.contribution';
import { runCommand } from './commands/runCommand';
import { rememberingSecrets } from './config/knownSecretStorage';
import { permissions } from './config/permissions.contribution';
import { type Contribution, Workbench } from './core/workbench';
import { editor } from './editor/editor.contribution';
import { editorTools } from './editorTools/editorTools.contribution';
import { vscodeLog } from './log/vscodeLog';
import { overview, type SessionTree } from './overview/overview.contribution';
import { registry } from './registry/registry.contribution';
import { history } from './sessions/history.contribution';
import { sessions } from './sessions/sessions.contribution';
import { sharing } from './sharing/sharing.contribution';
import { traffic } from './traffic/traffic.contribution';
import { troubleshoot } from './troubleshoot/troubleshoot.contribution';

export interface Places extends ChatPlaces {
  readonly sessions: SessionTree;
}

export interface Product {
  readonly api: ParleyApi;
  readonly chat: ChatHome;
  run(command: string, args: readonly unknown[]): Promise<unknown>;
  /** Ends agents and servers, then all parts; session leases are released last. */
  end(): Promise<void>;
}

export function contributions(places: Places): readonly Contribution[] {
  return [
    history,
    permissions,
    agents,
    editorTools,
    sessions,
    sharing,
    review,
    worktrees,
    editor,
    registry,
    chat(places),
    comments,
    overview(places.sessions),
    traffic,
    troubleshoot,
  ];
}

/**
 * Builds the product. Its parts end with {@link Product.end}, not with the extension's context,
 * which VS Code disposes while agents are still ending.
 * @param channel outlives the product
 * @throws if a part cannot be built, after disposing the parts built before it
 */
export function compose(given: ExtensionContext, places: Places, channel: LogOutputChannel): Product {
  // Modules without VS Code need the translations too.
  texts.config({ contents: l10n.bundle ?? {} });
  formatFor(env.language);
  const workbench = new Workbench(rememberingSecrets(given), vscodeLog(channel));
  try {
    const all = contributions(places);
    for (const contribution of all) contribution.parts?.(workbench);
    for (const contribution of all) contribution.commands?.(workbench);
    return {
      api: createApi(workbench),
      chat: workbench.get(ChatHome),
      run: (command, args) => runCommand(workbench, command.replace(/^parley\./, ''), args),
      end: () => workbench.end(),
    };
  } catch (error) {
    workbench.dispose();
    throw error;
  }
}
