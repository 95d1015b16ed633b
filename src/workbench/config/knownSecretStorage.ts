// VS Code's secret storage, registering all values for redaction.
import type { ExtensionContext, SecretStorage } from 'vscode';
import { knownSecrets } from '../../base/redact';

export function rememberingSecrets(context: ExtensionContext): ExtensionContext {
  const { secrets } = context;
  const remembering: SecretStorage = {
    onDidChange: secrets.onDidChange,
    keys: () => secrets.keys(),
    delete: (key) => secrets.delete(key),
    async get(key) {
      const value = await secrets.get(key);
      if (value !== undefined) knownSecrets.add(value);
      return value;
    },
    store(key, value) {
      knownSecrets.add(value);
      return secrets.store(key, value);
    },
  };
  return Object.create(context, { secrets: { value: remembering, enumerable: true } }) as ExtensionContext;
}
