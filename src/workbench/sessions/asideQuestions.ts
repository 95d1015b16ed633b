// Asks agents in hidden sessions, each in an empty folder, as some agents write without asking.

import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { l10n, workspace } from 'vscode';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { Configured } from '../../base/disposable';
import { ParleyError } from '../../base/errors';
import { askAside } from '../../client/conversation/askAside';
import type { ConversationServices } from '../../client/conversation/conversationOptions';
import type { AgentCatalog } from '../config/agentCatalog';

interface AsideQuestionsOptions {
  readonly services: ConversationServices;
  readonly folder: string;
  readonly catalog: Pick<AgentCatalog, 'originOf'>;
}

export class AsideQuestions extends Configured<AsideQuestionsOptions> {
  readonly #running = new Set<{ readonly abort: AbortController; readonly done: Promise<unknown> }>();

  requireAgent(agent: AgentDefinition): void {
    if (!workspace.isTrusted)
      throw new ParleyError('untrusted-workspace', l10n.t("Agents can't be used in an untrusted workspace."));
    if (this.options.catalog.originOf(agent.id)?.kind === 'shipped')
      throw new ParleyError('no-such-agent', l10n.t("The demo agent can't write summaries or commit messages."), {
        hint: l10n.t('Choose a real agent with “Parley: New Session with…”.'),
      });
  }

  /**
   * @returns the answer, not empty
   * @throws ParleyError as {@link requireAgent} and `askAside` do; the reason of `signal`
   */
  async ask(agent: AgentDefinition, prompt: string, signal: AbortSignal): Promise<string> {
    this.requireAgent(agent);
    const abort = new AbortController();
    const done = this.#ask(agent, prompt, AbortSignal.any([signal, abort.signal]));
    const running = { abort, done };
    this.#running.add(running);
    try {
      return await done;
    } finally {
      this.#running.delete(running);
    }
  }

  async end(): Promise<void> {
    for (const { abort } of this.#running) abort.abort();
    await Promise.allSettled([...this.#running].map(({ done }) => done));
  }

  async #ask(agent: AgentDefinition, prompt: string, signal: AbortSignal): Promise<string> {
    const { services, folder } = this.options;
    await mkdir(folder, { recursive: true });
    const cwd = await realpath(await mkdtemp(join(folder, 'draft-')));
    try {
      return await askAside({ agent, cwd, services }, prompt, signal);
    } finally {
      await rm(cwd, { recursive: true, force: true });
    }
  }
}
