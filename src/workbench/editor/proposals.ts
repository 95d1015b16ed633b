// Proposed changes (of permission requests, and code applied to files) as editable documents.
// Edited text is written here instead of by the agent, which gets the difference.
import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { DisposableStore } from '../../base/disposable';
import { errorText, ParleyError } from '../../base/errors';
import type { Event } from '../../base/event';
import { localize } from '../../base/localizable';
import type { Conversation } from '../../client/conversation/conversation';
import type { FilePort } from '../../client/ports/ports';
import { editMessage, proposalIn } from '../../client/requests/editedProposal';
import { givenText } from '../../client/requests/givenTexts';
import { plainEnds } from '../../client/requests/lineEnds';
import { candidatePathsOf, isInsideRoots, realTarget } from '../../client/requests/roots';
import type { FileStore } from '../../client/sharing/fileStore';
import { labelOf } from '../../client/view/projectItem';
import { confirm } from '../ui/messages';
import { closeTabs, showComparison } from '../ui/places';
import { DocumentFiles, documentStat } from './documentFiles';
import { columnBesideChat } from './openLocation';
import type { ReadOnlyTexts } from './readOnlyTexts';

const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1000;
const MAX_CODE_AGE_MS = MAX_AGE_MS / 10;
const MAX_BYTES = 5_000_000;

const recordSchema = z.object({
  id: z.string(),
  path: z.string(),
  /** Content when the proposal was opened; absent for a new file. */
  before: z.optional(z.string()),
  /** Whole content, as proposed by the agent. */
  proposed: z.string(),
  text: z.string(),
  toolCallId: z.optional(z.string()),
  /** For code: folders of the session, which must contain the file. */
  roots: z.optional(z.array(z.string())),
  at: z.number(),
});
type Proposal = z.infer<typeof recordSchema>;

export interface ProposalsOptions {
  /** Of the document URIs; also used in `when` clauses of package.json. */
  readonly scheme: string;
  readonly store: FileStore;
  readonly files: FilePort;
  readonly conversations: { find(key: string): Conversation | undefined; readonly onDidChange: Event<string> };
  readonly texts: Pick<ReadOnlyTexts, 'uriOf'>;
}

export class Proposals extends DocumentFiles {
  readonly #options: ProposalsOptions;
  readonly #lifetime = new DisposableStore();
  readonly #requests = new Map<string, Proposal>();
  readonly #applied = new Set<string>();

  constructor(options: ProposalsOptions) {
    super(options.scheme);
    this.#options = options;
    this.#lifetime.add(this.register(false));
    this.#lifetime.add(options.conversations.onDidChange((key) => this.#closeAnswered(key)));
    // May belong to an earlier window whose comparison is not shown yet.
    void this.#load();
  }

  /**
   * Opens the change of a permission request for editing, including earlier edits.
   * @throws ParleyError `question-gone`, `change-not-placed`, `file-outside`, or of reading the
   * file
   */
  async edit(conversation: Conversation, permissionId: string): Promise<void> {
    const { key, roots } = conversation;
    const change = proposalIn(conversation.model, permissionId);
    if (!change) throw questionGone();
    const path = await placeInside(change.path, roots);
    const id = `${key} ${permissionId}`;
    const existing = await this.#find(id);
    if (existing) this.#remember(existing);
    else {
      const before = await this.#textOf(path);
      const { toolCallId } = conversation.model.state.permissions.get(permissionId) ?? {};
      await this.#add({ id, path, before, proposed: change.in(before), toolCallId: toolCallId || undefined });
    }
    await this.#show(id, path, conversation.agent.name);
  }

  /**
   * Opens code as a change of a file.
   * @param change returns the new content; undefined if it does not fit
   * @throws ParleyError `change-not-placed`, `file-outside`, or of reading the file
   */
  async propose(
    { agent, roots }: Pick<Conversation, 'agent' | 'roots'>,
    named: string,
    change: (before: string | undefined) => string | undefined,
  ): Promise<void> {
    const path = await placeInside(named, roots);
    const before = await this.#textOf(path);
    const proposed = change(before);
    const id = createHash('sha256')
      .update(JSON.stringify([path, before, proposed]))
      .digest('hex');
    if (!(await this.#find(id))) await this.#add({ id, path, before, proposed, roots: [...roots] });
    await this.#show(id, path, agent.name);
  }

  /**
   * Applies the change: an unedited request is allowed; otherwise the file is written here and the
   * agent gets the difference.
   * @param uri default: of the active editor
   * @throws ParleyError `no-proposal`, `question-gone`, `file-changed`, `file-outside`, or of
   * writing the file
   */
  async use(uri = vscode.window.activeTextEditor?.document.uri): Promise<void> {
    const proposal = uri?.scheme === this.#options.scheme ? await this.#find(uri.query) : undefined;
    if (!uri || !proposal) throw new ParleyError('no-proposal', vscode.l10n.t('This is not a change of an agent.'));
    const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
    if (document?.isDirty) await document.save();
    const text = document ? plainEnds(document.getText()) : proposal.text;
    this.#applied.add(proposal.id);
    try {
      if (proposal.roots) await this.#write(proposal, text, proposal.roots);
      else await this.#answer(proposal, text);
      await this.#finish(proposal);
    } finally {
      this.#applied.delete(proposal.id);
    }
  }

  /** Applies the user's version of a change that was just allowed, if there is one. */
  useEdited(key: string, permissionId: string, optionId: string | null): boolean {
    const id = `${key} ${permissionId}`;
    const proposal = this.#requests.get(id);
    const options = this.#options.conversations.find(key)?.model.state.permissions.get(permissionId)?.options;
    if (!options?.some((option) => option.optionId === optionId && option.kind.startsWith('allow'))) return false;
    if (!proposal || this.#textIn(proposal) === proposal.proposed) return false;
    if (this.#applied.has(id)) return true;
    this.#applied.add(id);
    void this.#applyForAgent(proposal).finally(() => this.#applied.delete(id));
    return true;
  }

  async #applyForAgent(proposal: Proposal): Promise<void> {
    try {
      await this.use(this.#uriOf(proposal));
    } catch (error) {
      const question = vscode.l10n.t("Your version of {0} can't be written.", proposal.path);
      if (!(await confirm(question, localize(errorText(error)), vscode.l10n.t("Allow the Agent's Version")))) return;
      const [key = '', permissionId = ''] = proposal.id.split(' ');
      await this.#finish(proposal);
      const conversation = this.#options.conversations.find(key);
      const options = conversation?.model.state.permissions.get(permissionId)?.options ?? [];
      const once =
        options.find(({ kind }) => kind === 'allow_once') ?? options.find(({ kind }) => kind.startsWith('allow'));
      if (once) conversation?.answerPermission(permissionId, once.optionId);
    }
  }

  #closeAnswered(key: string): void {
    const model = this.#options.conversations.find(key)?.model;
    if (!model) return;
    for (const proposal of [...this.#requests.values()]) {
      const [session, permissionId = ''] = proposal.id.split(' ');
      if (session !== key || model.state.permissions.has(permissionId) || this.#applied.has(proposal.id)) continue;
      const entry = model.state.entries[model.toolIndex(proposal.toolCallId ?? '') ?? -1];
      // A session that is still loading does not have its questions yet.
      if (entry?.kind !== 'tool') continue;
      this.#requests.delete(proposal.id);
      // Keeps the user's edits if somebody else answered.
      const isAnswered = entry.decision?.outcome === 'selected';
      if (isAnswered || this.#textIn(proposal) === proposal.proposed) void this.#finish(proposal);
    }
  }

  async #write(proposal: Proposal, text: string, roots: readonly string[]): Promise<void> {
    const { path, before } = proposal;
    await placeInside(path, roots);
    if ((await this.#textOf(path)) !== before) throw changedSince(path);
    await this.#save(proposal, text);
  }

  /** The user may have reverted the whole change. */
  async #save({ path, before }: Proposal, text: string): Promise<void> {
    if (text !== before) await this.#options.files.writeText(path, text, givenText(before ?? ''));
  }

  #textIn(proposal: Proposal): string {
    const uri = this.#uriOf(proposal).toString();
    const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri);
    return document ? plainEnds(document.getText()) : proposal.text;
  }

  #uriOf({ id, path }: Proposal): vscode.Uri {
    return vscode.Uri.file(path).with({ scheme: this.#options.scheme, query: id });
  }

  async #finish(proposal: Proposal): Promise<void> {
    const uri = this.#uriOf(proposal);
    const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
    if (document?.isDirty) await document.save();
    await closeTabs(uri);
    this.#requests.delete(proposal.id);
    await this.#options.store.remove(proposal.id);
  }

  async #load(): Promise<void> {
    for await (const text of this.#options.store.texts()) {
      const proposal = parse(text);
      if (proposal && !this.#requests.has(proposal.id)) this.#remember(proposal);
    }
  }

  #remember(proposal: Proposal): void {
    if (!proposal.roots) this.#requests.set(proposal.id, proposal);
  }

  async #answer(proposal: Proposal, text: string): Promise<void> {
    const [key = '', permissionId = ''] = proposal.id.split(' ');
    const conversation = this.#options.conversations.find(key);
    const options = conversation?.model.state.permissions.get(permissionId)?.options;
    if (!conversation || !options) throw questionGone();
    if ((await this.#textOf(proposal.path)) !== proposal.before)
      throw changedSince(proposal.path, vscode.l10n.t('Copy what you need, and answer the question in the chat.'));
    const optionOf = (kind: string): string | undefined => options.find((option) => option.kind === kind)?.optionId;
    const isEdited = text !== proposal.proposed;
    const answer = isEdited ? (optionOf('reject_once') ?? optionOf('reject_always')) : optionOf('allow_once');
    if (answer === undefined) throw questionGone();
    if (isEdited) await this.#save(proposal, text);
    conversation.answerPermission(permissionId, answer, isEdited || undefined);
    if (!isEdited) return;
    const path = labelOf(proposal.path, [conversation.cwd]);
    conversation.queueActions.sendNext(editMessage(path, proposal.proposed, text));
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { text, at } = await this.#read(uri);
    return documentStat(Buffer.byteLength(text), at);
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return Buffer.from((await this.#read(uri)).text);
  }

  override async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    const text = plainEnds(Buffer.from(content).toString('utf8'));
    await this.#persist({ ...(await this.#read(uri)), text, at: Date.now() });
    this.didChange.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  override dispose(): void {
    super.dispose();
    this.#lifetime.dispose();
  }

  async #read(uri: vscode.Uri): Promise<Proposal> {
    const found = await this.#find(uri.query);
    if (!found) throw vscode.FileSystemError.FileNotFound(uri);
    return found;
  }

  async #find(id: string): Promise<Proposal | undefined> {
    return parse(await this.#options.store.read(id));
  }

  #persist(proposal: Proposal): Promise<void> {
    this.#remember(proposal);
    return this.#options.store.write(proposal.id, JSON.stringify(proposal));
  }

  async #add({
    before,
    proposed,
    ...rest
  }: Pick<Proposal, 'id' | 'path' | 'roots' | 'toolCallId'> &
    Record<'before' | 'proposed', string | undefined>): Promise<void> {
    if (proposed === undefined) {
      const { path } = rest;
      throw new ParleyError('change-not-placed', vscode.l10n.t("The change doesn't fit into {0} as it is now.", path));
    }
    await this.#forgetOld();
    await this.#persist({ ...rest, before, proposed, text: proposed, at: Date.now() });
  }

  async #show(id: string, path: string, agentName: string): Promise<void> {
    const { scheme, texts } = this.#options;
    const file = vscode.Uri.file(path);
    const left = (await this.#textOf(path)) === undefined ? texts.uriOf(path, '') : file;
    const right = file.with({ scheme, query: id });
    const name = vscode.workspace.asRelativePath(file);
    const title = this.#requests.has(id)
      ? vscode.l10n.t('{0} (edit the change of {1})', name, agentName)
      : vscode.l10n.t('{0} (apply code of {1})', name, agentName);
    await showComparison(left, right, title, { preview: false, viewColumn: columnBesideChat() });
  }

  async #forgetOld(): Promise<void> {
    for await (const text of this.#options.store.texts()) {
      const proposal = parse(text);
      if (proposal && proposal.at < Date.now() - (proposal.roots ? MAX_CODE_AGE_MS : MAX_AGE_MS))
        await this.#options.store.remove(proposal.id);
    }
  }

  /** With normalized line endings; undefined if the file does not exist. */
  async #textOf(path: string): Promise<string | undefined> {
    try {
      return plainEnds(await this.#options.files.readText(path, MAX_BYTES));
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'file-not-found') return undefined;
      throw error;
    }
  }
}

export class CodeProposals extends Proposals {}

function parse(text: string | undefined): Proposal | undefined {
  if (text === undefined) return undefined;
  return recordSchema.safeParse(JSON.parse(text)).data;
}

export function fileOutside(path: string): ParleyError {
  return new ParleyError('file-outside', vscode.l10n.t('{0} is outside of the folders of the session.', path));
}

async function placeInside(path: string, roots: readonly string[]): Promise<string> {
  const [place] = candidatePathsOf(path, roots);
  if (place === undefined || !(await isInsideRoots(await realTarget(place), roots))) throw fileOutside(path);
  return place;
}

function changedSince(path: string, hint?: string): ParleyError {
  return new ParleyError(
    'file-changed',
    vscode.l10n.t('{0} has changed since.', path),
    hint === undefined ? {} : { hint },
  );
}

function questionGone(): ParleyError {
  return new ParleyError('question-gone', vscode.l10n.t('The question was already answered.'));
}
