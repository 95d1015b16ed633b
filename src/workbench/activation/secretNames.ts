// Remembers the names of secrets, which VS Code's window returns slowly while it draws a page.
import type { ExtensionContext, SecretStorage } from 'vscode';

/** Names are read on first use, and again after any window added or deleted a secret. */
export function rememberingSecretNames(context: ExtensionContext): ExtensionContext {
  const { secrets } = context;
  let names: Promise<readonly string[]> | undefined;
  const forget = (): void => {
    names = undefined;
  };
  context.subscriptions.push(secrets.onDidChange(forget));
  const changing = async (change: Thenable<void>): Promise<void> => {
    try {
      await change;
    } finally {
      forget();
    }
  };
  const remembering: SecretStorage = {
    onDidChange: secrets.onDidChange,
    async keys() {
      const read = names ?? Promise.resolve(secrets.keys());
      names = read;
      try {
        return [...(await read)];
      } catch (error) {
        if (names === read) forget();
        throw error;
      }
    },
    get: (key) => secrets.get(key),
    store: (key, value) => changing(secrets.store(key, value)),
    delete: (key) => changing(secrets.delete(key)),
  };
  return Object.create(context, { secrets: { value: remembering, enumerable: true } }) as ExtensionContext;
}
