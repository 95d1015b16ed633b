// The context keys for the commands that forget: they are offered only where there is something to
// forget.
import { type Disposable, DisposableStore } from '../../base/disposable';
import type { Workbench } from '../core/workbench';
import type { McpServers } from './mcpServers';
import { PREFIX as REMOTE } from './remoteHeaders';
import { PREFIX as KEYS } from './savedKeys';

/** VS Code's window answers, and is busy while it starts; in ms. */
const PATIENCE_MS = 5000;

export class AnswerKeys implements Disposable {
  readonly #workbench: Workbench;
  readonly #lifetime = new DisposableStore();
  readonly #timer: ReturnType<typeof setTimeout>;

  constructor(workbench: Workbench, mcp: McpServers) {
    this.#workbench = workbench;
    this.#lifetime.add(workbench.context.secrets.onDidChange(() => void this.#lookAtSecrets()));
    this.#lifetime.add(mcp.onDidChangeAnswers(() => workbench.setContext('hasApprovals', mcp.hasAnswers)));
    workbench.setContext('hasApprovals', mcp.hasAnswers);
    this.#timer = setTimeout(() => void this.#lookAtSecrets(), PATIENCE_MS);
    this.#timer.unref();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#lifetime.dispose();
  }

  async #lookAtSecrets(): Promise<void> {
    // If the names can't be read, the command says why.
    const names = await Promise.resolve(this.#workbench.context.secrets.keys()).catch(() => [KEYS]);
    const isSaved = (name: string): boolean => name.startsWith(KEYS) || name.startsWith(REMOTE);
    this.#workbench.setContext('hasSecrets', names.some(isSaved));
  }
}
