// Asks agents in sessions that are not shown. Each works in an empty folder, which is gone afterwards:
// some agents write without asking.
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { l10n, workspace } from 'vscode';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { ParleyError } from '../../base/errors';
import { askAside } from '../../client/conversation/askAside';
import type { ConversationServices } from '../../client/conversation/conversationOptions';

export interface AsideQuestionsOptions {
  readonly services: ConversationServices;
  /** Absolute path of the folder for the folders that the agents work in. */
  readonly folder: string;
}

export class AsideQuestions {
  readonly #options: AsideQuestionsOptions;
  /** Ended with the window. */
  readonly #running = new Set<{ readonly abort: AbortController; readonly done: Promise<unknown> }>();

  constructor(options: AsideQuestionsOptions) {
    this.#options = options;
  }

  /**
   * @returns what the agent answered, not empty
   * @throws ParleyError `untrusted-workspace`, and those of `askAside`; the reason of `signal`
   */
  async ask(agent: AgentDefinition, prompt: string, signal: AbortSignal): Promise<string> {
    requireTrust();
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

  /** Ends agents that are being asked. */
  async end(): Promise<void> {
    for (const { abort } of this.#running) abort.abort();
    await Promise.allSettled([...this.#running].map(({ done }) => done));
  }

  async #ask(agent: AgentDefinition, prompt: string, signal: AbortSignal): Promise<string> {
    const { services, folder } = this.#options;
    await mkdir(folder, { recursive: true });
    const cwd = await realpath(await mkdtemp(join(folder, 'draft-')));
    try {
      return await askAside({ agent, cwd, services }, prompt, signal);
    } finally {
      await rm(cwd, { recursive: true, force: true });
    }
  }
}

/** @throws ParleyError `untrusted-workspace` */
export function requireTrust(): void {
  if (workspace.isTrusted) return;
  throw new ParleyError('untrusted-workspace', l10n.t("Agents can't be used in an untrusted workspace."));
}
