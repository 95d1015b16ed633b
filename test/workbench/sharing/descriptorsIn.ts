// The sharing services of a window that stores everything in a folder of the test.
import { join } from 'node:path';
import type { ExtensionContext } from 'vscode';
import { Emitter } from '../../../src/base/event';
import { silentLog } from '../../../src/base/log';
import { FileStore } from '../../../src/client/sharing/fileStore';
import { ResourceCache } from '../../../src/distributed/fetch/resourceCache';
import type { LocalStore } from '../../../src/distributed/stores/localStore';
import { Descriptors, type DescriptorsOptions } from '../../../src/workbench/sharing/descriptors';

export function descriptorsIn(folder: string, context: ExtensionContext, store: LocalStore, more: object = {}) {
  const none = new Emitter<never>().event;
  return new Descriptors({
    context,
    catalog: { own: () => [] },
    conversations: { onDidAdd: none, onDidRemove: none },
    serve: { origin: undefined, localStore: async () => store },
    stores: { origin: undefined, onDidChange: none },
    cache: new ResourceCache({ folder: join(folder, 'resource-cache') }),
    httpSessions: new FileStore(join(folder, 'http-sessions')),
    log: silentLog,
    ...more,
  } as unknown as DescriptorsOptions);
}
