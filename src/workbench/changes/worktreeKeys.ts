// The context key for the commands on worktrees of sessions: also other windows make and remove them.
import { commands, window } from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable';
import type { NO_WORKTREES } from './reviewKeys';
import type { SessionWorktrees } from './sessionWorktrees';

export class WorktreeKeys implements Disposable {
  readonly #worktrees: Pick<SessionWorktrees, 'list'>;
  readonly #lifetime = new DisposableStore();

  constructor(worktrees: Pick<SessionWorktrees, 'list' | 'onDidChange'>) {
    this.#worktrees = worktrees;
    this.#lifetime.add(worktrees.onDidChange(() => void this.#publish()));
    this.#lifetime.add(
      window.onDidChangeWindowState(({ focused }) => {
        if (focused) void this.#publish();
      }),
    );
    void this.#publish();
  }

  dispose(): void {
    this.#lifetime.dispose();
  }

  async #publish(): Promise<void> {
    // A folder that cannot be read has none to offer.
    const all = await this.#worktrees.list().catch(() => []);
    const keys: typeof NO_WORKTREES = { hasWorktrees: all.length > 0 };
    for (const [name, value] of Object.entries(keys))
      await commands.executeCommand('setContext', `parley.${name}`, value);
  }
}
