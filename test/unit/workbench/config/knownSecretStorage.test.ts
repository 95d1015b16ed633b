// Secrets in the secret storage are redacted in logs and traffic.
import { strict as assert } from 'node:assert';
import type { ExtensionContext, LogOutputChannel } from 'vscode';
import { redact } from '../../../../src/base/redact';
import { rememberingSecrets } from '../../../../src/workbench/config/knownSecretStorage';
import { vscodeLog } from '../../../../src/workbench/log/vscodeLog';

describe('the secret storage', () => {
  it('returns stored values, and redacts all values read or written in the log', async () => {
    const values = new Map([['old', 'kept-before-1']]);
    const frozen = Object.freeze({
      secrets: {
        get: async (key: string) => values.get(key),
        store: async (key: string, value: string) => void values.set(key, value),
        delete: async (key: string) => void values.delete(key),
        keys: async () => [...values.keys()],
        onDidChange: () => ({ dispose() {} }),
      },
      get extensionUri() {
        return 'uri';
      },
    }) as unknown as ExtensionContext;
    const context = rememberingSecrets(frozen);
    assert.equal(context.extensionUri, 'uri');
    assert.equal(await context.secrets.get('old'), 'kept-before-1');
    await context.secrets.store('new', JSON.stringify({ secretAccessKey: 'typed-now-22' }));
    assert.deepEqual(await context.secrets.keys(), ['old', 'new']);
    const lines: string[] = [];
    const log = vscodeLog({ info: (line: string) => void lines.push(line) } as unknown as LogOutputChannel);
    log.info('server says: kept-before-1 and typed-now-22 are wrong');
    assert.deepEqual(lines, ['server says: [redacted] and [redacted] are wrong']);
    assert.equal(redact('{"text":"typed-now-22"}'), '{"text":"[redacted]"}');
  });
});
