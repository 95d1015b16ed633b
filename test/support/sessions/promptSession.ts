// The session of a turn control in a test: always open, unless the test says otherwise.
import type { PromptSession } from '../../../src/client/prompts/promptSession';

export function promptSession(current: () => unknown, more: Partial<PromptSession> = {}): PromptSession {
  return {
    key: 'test',
    get current() {
      return current() as PromptSession['current'];
    },
    precedes: () => undefined,
    reopen: () => async () => 'session-lost',
    leaving() {},
    appendix: () => [],
    answered() {},
    duplicateAccepted() {},
    needSignIn() {},
    ...more,
  };
}
