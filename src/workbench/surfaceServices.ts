// What a chat surface asks of VS Code: places, links, comparisons, terminals. What fails is thrown; the surface says so in its transcript.
import type { Log } from '../base/log';
import { FragmentLines } from '../client/fragmentLines';
import { fullOutput } from '../client/fullOutput';
import type { FilePort } from '../client/ports';
import type { Terminals } from '../client/terminals';
import type { SurfaceServices } from './chatSurface';
import type { DiffEditor } from './diffEditor';
import { openAddress, openLink } from './openLink';
import { openLocation } from './openLocation';
import type { OutputEditor } from './outputEditor';
import type { RealTerminals } from './realTerminal';
import { type SaveQuestions, saveResource } from './saveResource';

export interface SurfaceParts {
  readonly log: Log;
  readonly files: FilePort;
  readonly terminals: Terminals;
  readonly realTerminals: RealTerminals;
  readonly diffs: DiffEditor;
  readonly outputs: OutputEditor;
  readonly takeOver: (key: string) => void;
  readonly showSession: (key: string) => void;
  readonly retryGap: SurfaceServices['retryGap'];
  /** Shows what lies behind an address that needs a token; false where it is another one. */
  readonly openPart: (url: string) => Promise<boolean>;
  /** The folder of sessions in a window without one, where nobody looks for a file. */
  readonly scratch: string;
  /** In the place of VS Code's own dialogs. */
  readonly ask?: SaveQuestions;
}

export function surfaceServices({
  log,
  files,
  terminals,
  realTerminals,
  diffs,
  outputs,
  takeOver,
  showSession,
  retryGap,
  openPart,
  scratch,
  ask,
}: SurfaceParts): SurfaceServices {
  return {
    log,
    fragmentLines: new FragmentLines((path, most) => files.readText(path, undefined, undefined, most)),
    isTerminalOpenable: (id) => terminals.isRunning(id) || terminals.outputOf(id) !== '',
    openLocation: (path, line, roots) => openLocation({ path, ...(line !== undefined && { line }) }, roots),
    openLink: async (href, roots) => {
      if (!(await openPart(href))) await openLink(href, roots);
    },
    openAddress,
    openDiff: async (conversation, index, content) => {
      const entry = conversation.model.state.entries[index];
      const part = entry?.kind === 'tool' ? entry.content[content] : undefined;
      if (part?.type === 'diff') await diffs.show(part, conversation.agent.name);
    },
    openOutput: async ({ model: { state } }, index, content) => {
      const entry = state.entries[index];
      const text = fullOutput(entry, content, state.terminals);
      if (entry?.kind === 'tool' && text !== undefined) await outputs.show(entry.title, text);
    },
    saveResource: ({ model, cwd }, index, content) =>
      saveResource({ entry: model.state.entries[index], content }, cwd === scratch ? undefined : cwd, ask),
    openTerminal: (id, title) => {
      realTerminals.show(id, title);
    },
    takeOver: ({ key }) => takeOver(key),
    showSession: async (key) => showSession(key),
    retryGap,
    onProblem: (kind, text) => log.error(kind === 'csp' ? `content policy: ${text}` : `webview: ${text}`),
  };
}
