// Brings the terminals that an agent runs in this client into its session's model.
import { type Disposable, DisposableStore } from '../../base/disposable';
import type { SessionEvent } from '../../session/events/event';
import type { Terminals } from '../terminals/terminals';

/**
 * Applies what happens to the terminals of one session.
 * @param key the session that owns them, as it was given to `create`.
 */
export function followTerminals(terminals: Terminals, key: string, apply: (event: SessionEvent) => void): Disposable {
  const own = new Set<string>();
  const following = new DisposableStore();
  following.add(
    terminals.onDidCreate(({ sessionId, terminalId, command, cwd }) => {
      if (sessionId !== key) return;
      own.add(terminalId);
      apply({ type: 'terminal', terminalId, command, cwd });
    }),
  );
  following.add(
    terminals.onDidChange(({ terminalId, append, exit, released }) => {
      if (!own.has(terminalId)) return;
      if (released) own.delete(terminalId); // nothing comes after it
      apply({
        type: 'terminal',
        terminalId,
        ...(append && { append }),
        ...(exit && { exit }),
        ...(released && { released }),
      });
    }),
  );
  return following;
}
