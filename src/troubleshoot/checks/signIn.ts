// Checks whether the agent requires a sign-in, as far as a session has shown it.
import * as l10n from '@vscode/l10n';
import { type Check, check } from './check';

export type SignInState =
  | { readonly kind: 'required'; readonly methods: readonly string[]; readonly error?: string | undefined }
  | { readonly kind: 'ready' }
  | { readonly kind: 'unknown' };

export function signInCheck(state: SignInState): Check {
  return check('sign-in', l10n.t('Sign-in'), 1_000, async () => {
    switch (state.kind) {
      case 'required':
        return {
          outcome: 'problem',
          found: state.error
            ? l10n.t('The agent wants you to sign in: {0}', state.error)
            : l10n.t('The agent wants you to sign in.'),
          action: 'signIn',
          facts: state.methods.length > 0 ? [[l10n.t('Ways to sign in'), state.methods.join(', ')]] : undefined,
        };
      case 'ready':
        return { outcome: 'ok', found: l10n.t('The agent has opened a session, so no sign-in is needed.') };
      case 'unknown':
        return {
          outcome: 'unchecked',
          found: l10n.t('Open a session to find out whether the agent requires a sign-in.'),
        };
    }
  });
}
