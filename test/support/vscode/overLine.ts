// A VS Code of one's own whose browser reaches the server over a bad line.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptedAgent } from '../agents/definition';
import { seeded } from '../store/random';
import { BadLine } from './badLine';
import { Chat } from './chat';
import { openWindow, type Window } from './openWindow';
import { vsixPath } from './repository';
import { type Server, type ServerOptions, startServer } from './startServer';

export interface FarChat {
  readonly server: Server;
  readonly line: BadLine;
  readonly window: Window;
  readonly chat: Chat;
  readonly log: string;
  readonly url: string;
  end(): Promise<void>;
}

export async function openFarChat(seed: number, options: ServerOptions = {}): Promise<FarChat> {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-line-'));
  const log = join(scratch, 'agent.ndjson');
  const agent = { ...scriptedAgent('plain', log), name: 'Plain' };
  const server = await startServer({
    extensions: [vsixPath],
    ...options,
    settings: { 'parley.agents': { plain: agent }, 'parley.defaultAgent': 'plain' },
  });
  const line = await BadLine.open(server.port, seeded(seed));
  const url = new URL(server.url);
  url.port = String(line.port);
  const window = await openWindow({ ...server, url: url.href });
  return {
    server,
    line,
    window,
    chat: await Chat.open(window.page),
    log,
    url: url.href,
    end: async () => {
      await window.close();
      line.close();
      await server.stop();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}
