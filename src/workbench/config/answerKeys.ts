// The context keys for the commands that forget: they are offered only where there is something to
// forget.
import { commands, type ExtensionContext } from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable';
import type { McpServers } from './mcpServers';
import type { NO_ANSWERS } from './rememberedAnswers';
import { PREFIX as REMOTE } from './remoteHeaders';
import { PREFIX as KEYS } from './savedKeys';

/** VS Code's window is asked for the names of secrets, which has more to do while it starts, in ms. */
const PATIENCE_MS = 5000;

export interface AnswerKeysOptions {
  readonly context: Pick<ExtensionContext, 'secrets'>;
  readonly mcp: Pick<McpServers, 'hasAnswers' | 'onDidChangeAnswers'>;
}

export class AnswerKeys implements Disposable {
  readonly #options: AnswerKeysOptions;
  readonly #lifetime = new DisposableStore();
  readonly #timer: ReturnType<typeof setTimeout>;

  constructor(options: AnswerKeysOptions) {
    this.#options = options;
    const { context, mcp } = options;
    this.#lifetime.add(context.secrets.onDidChange(() => void this.#lookAtSecrets()));
    this.#lifetime.add(mcp.onDidChangeAnswers(() => this.#publish('hasApprovals', mcp.hasAnswers)));
    this.#publish('hasApprovals', mcp.hasAnswers);
    this.#timer = setTimeout(() => void this.#lookAtSecrets(), PATIENCE_MS);
    this.#timer.unref();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#lifetime.dispose();
  }

  async #lookAtSecrets(): Promise<void> {
    // Where the names cannot be read, the command says why.
    const names = await Promise.resolve(this.#options.context.secrets.keys()).catch(() => [KEYS]);
    const isSaved = (name: string): boolean => name.startsWith(KEYS) || name.startsWith(REMOTE);
    this.#publish('hasSecrets', names.some(isSaved));
  }

  #publish(name: keyof typeof NO_ANSWERS, value: boolean): void {
    void commands.executeCommand('setContext', `parley.${name}`, value);
  }
}
