// Copies what a caller of the local server needs to the clipboard: its address and its token.
import { env, l10n } from 'vscode';
import { serverSettings } from '../config/settings';
import { notServing, type Serve } from '../sharing/serve';
import { showStatus } from '../ui/messages';
import type { Command, Register } from './commandServices';

export function serveCommands(serve: Serve, register: Register): Command[] {
  return [
    register('server.copyAddress', async () => {
      await serve.settled();
      // Shared sessions may have it running without agents; its address is of no use to a caller
      // then.
      if (!serverSettings().enabled) throw notServing();
      const address = serve.address();
      await env.clipboard.writeText(address);
      showStatus(l10n.t('Parley: Copied {0}.', address));
      return address;
    }),
    register('server.copyToken', async () => {
      // It goes to the clipboard alone: what a command returns, every extension can have.
      await env.clipboard.writeText(await serve.token());
      // As long as the status bar shows it whole.
      showStatus(l10n.t('Parley: Token copied. Anyone with it can use the agents you serve.'));
    }),
  ];
}
