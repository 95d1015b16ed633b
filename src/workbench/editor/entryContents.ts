// Opens what the panel shows only in part or not at all: comparisons, outputs, files.
import { Configured } from '../../base/disposable';
import type { Conversation } from '../../client/conversation/conversation';
import { fullOutput } from '../../client/view/fullOutput';
import type { DiffEditor } from './diffEditor';
import type { Proposals } from './proposals';
import type { OutputEditor } from './readOnlyTexts';
import { saveResource } from './saveResource';

interface EntryContents {
  openDiff(conversation: Conversation, index: number, content: number): Promise<void>;
  editProposal(conversation: Conversation, permissionId: string): Promise<void>;
  openWritten(conversation: Conversation, index: number, content: number): Promise<void>;
  openOutput(conversation: Conversation, index: number, content: number): Promise<void>;
  save(conversation: Conversation, index: number, content: number): Promise<void>;
}

interface EntryContentsOptions {
  readonly diffs: DiffEditor;
  readonly proposals: Pick<Proposals, 'edit'>;
  readonly outputs: OutputEditor;
  readonly scratch: string;
}

export class EditorContents extends Configured<EntryContentsOptions> implements EntryContents {
  async openDiff({ model, agent }: Conversation, index: number, content: number): Promise<void> {
    const entry = model.state.entries[index];
    const part = entry?.kind === 'tool' ? entry.content[content] : undefined;
    if (part?.type === 'diff') await this.options.diffs.show(part, agent.name);
  }

  editProposal(conversation: Conversation, permissionId: string): Promise<void> {
    return this.options.proposals.edit(conversation, permissionId);
  }

  async openWritten({ model, changes }: Conversation, index: number, content: number): Promise<void> {
    const entry = model.state.entries[index];
    const part = entry?.kind === 'tool' ? entry.content[content] : undefined;
    if (part?.type !== 'diff' || entry?.turnId === undefined) return;
    const { shown, written } = await changes.written(entry.turnId, part);
    await this.options.diffs.showWritten(part.path, shown, written);
  }

  async openOutput({ model: { state } }: Conversation, index: number, content: number): Promise<void> {
    const entry = state.entries[index];
    const text = fullOutput(entry, content, state.terminals);
    if (entry?.kind === 'tool' && text !== undefined) await this.options.outputs.show(entry.title, text);
  }

  async save({ model, cwd }: Conversation, index: number, content: number): Promise<void> {
    const { scratch } = this.options;
    await saveResource({ entry: model.state.entries[index], content }, cwd === scratch ? undefined : cwd);
  }
}
