// Changes that an agent asks to make, as documents that the user can edit before they are made. The
// edited text is written to the file in the agent's place, and the agent is told what differs.
import { basename } from 'node:path';
import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { type Disposable, DisposableStore } from '../../base/disposable';
import { ParleyError } from '../../base/errors';
import type { Conversation } from '../../client/conversation/conversation';
import type { FilePort } from '../../client/ports/ports';
import { proposalIn, wordsOnEdited } from '../../client/requests/editedProposal';
import { isInsideRoots, realTarget } from '../../client/requests/roots';
import type { FileStore } from '../../client/sharing/fileStore';
import { closeTabs, showComparison } from '../ui/places';
import { columnBesideChat } from './openLocation';
import type { ReadOnlyTexts } from './readOnlyTexts';

/** What nobody used for so long is removed, in ms. */
const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1000;
/** Larger files are not offered, in bytes. */
const MAX_BYTES = 5_000_000;

const recordSchema = z.object({
  id: z.string(),
  path: z.string(),
  /** Of the file when the proposal was opened; absent: there was none. */
  before: z.optional(z.string()),
  /** The whole file as the agent wants it. */
  proposed: z.string(),
  /** As the user wants it. */
  text: z.string(),
  at: z.number(),
});
type Proposal = z.infer<typeof recordSchema>;

export interface ProposalsOptions {
  /** Of the documents' addresses; package.json has it in the `when` clauses of the command. */
  readonly scheme: string;
  readonly store: FileStore;
  readonly files: FilePort;
  readonly conversations: { find(key: string): Conversation | undefined };
  /** For the left side of a file that is not there yet. */
  readonly texts: Pick<ReadOnlyTexts, 'uriOf'>;
}

/** Serves the documents, and makes the changes; one for the window. */
export class Proposals implements vscode.FileSystemProvider, Disposable {
  readonly #options: ProposalsOptions;
  readonly #lifetime = new DisposableStore();
  readonly #didChange = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.#didChange.event;

  constructor(options: ProposalsOptions) {
    this.#options = options;
    this.#lifetime.add(this.#didChange);
    this.#lifetime.add(vscode.workspace.registerFileSystemProvider(options.scheme, this, { isCaseSensitive: true }));
  }

  /**
   * Opens the change that a permission request is about, to be edited, beside the file as it is.
   * Opened again, it has what the user made of it.
   * @throws ParleyError `question-gone`, `change-not-placed`, `file-outside`, or of reading the file
   */
  async edit(conversation: Conversation, permissionId: string): Promise<void> {
    const { texts } = this.#options;
    const { key, roots } = conversation;
    const change = proposalIn(conversation.model, permissionId);
    if (!change) throw questionGone();
    if (!(await isInsideRoots(await realTarget(change.path), roots)))
      throw new ParleyError(
        'file-outside',
        vscode.l10n.t('{0} is outside of the folders of the session.', change.path),
      );
    const id = `${key} ${permissionId}`;
    const uri = vscode.Uri.file(change.path).with({ scheme: this.#options.scheme, query: id });
    if (!(await this.#find(id))) {
      await this.#forgetOld();
      const before = await this.#textOf(change.path);
      const proposed = change.in(before);
      if (proposed === undefined)
        throw new ParleyError(
          'change-not-placed',
          vscode.l10n.t("The change doesn't fit into {0} as it is now.", change.path),
        );
      await this.#keep({
        id,
        path: change.path,
        ...(before !== undefined && { before }),
        proposed,
        text: proposed,
        at: Date.now(),
      });
    }
    const isThere = (await this.#textOf(change.path)) !== undefined;
    const left = isThere ? vscode.Uri.file(change.path) : texts.uriOf(change.path, '');
    const title = vscode.l10n.t('{0} (edit the change of {1})', basename(change.path), conversation.agent.name);
    await showComparison(left, uri, title, { preview: false, viewColumn: columnBesideChat() });
  }

  /**
   * Makes the change as the user edited it, and answers the request: allowed where nothing was
   * edited, else the file is written here and the agent is told what differs.
   * @param uri of the document; absent: of the active editor
   * @throws ParleyError `no-proposal`, `question-gone`, `file-changed`, or of writing the file
   */
  async use(uri = vscode.window.activeTextEditor?.document.uri): Promise<void> {
    const proposal = uri?.scheme === this.#options.scheme ? await this.#find(uri.query) : undefined;
    if (!uri || !proposal) throw new ParleyError('no-proposal', vscode.l10n.t('This is not a change of an agent.'));
    const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
    if (document?.isDirty) await document.save();
    const text = document ? plainEnds(document.getText()) : proposal.text;
    const [key = '', permissionId = ''] = proposal.id.split(' ');
    const conversation = this.#options.conversations.find(key);
    const options = conversation?.model.state.permissions.get(permissionId)?.options;
    if (!conversation || !options) throw questionGone();
    if ((await this.#textOf(proposal.path)) !== proposal.before) {
      const hint = vscode.l10n.t('Copy what you need, and answer the question in the chat.');
      throw new ParleyError('file-changed', vscode.l10n.t('{0} has changed since.', proposal.path), { hint });
    }
    const optionOf = (kind: string): string | undefined => options.find((option) => option.kind === kind)?.optionId;
    const isEdited = text !== proposal.proposed;
    const answer = isEdited ? (optionOf('reject_once') ?? optionOf('reject_always')) : optionOf('allow_once');
    if (answer === undefined) throw questionGone();
    if (isEdited) await this.#options.files.writeText(proposal.path, text);
    conversation.answerPermission(permissionId, answer);
    if (isEdited) conversation.queueActions.sendNext(wordsOnEdited(proposal.path, proposal.proposed, text));
    await this.#options.store.remove(proposal.id);
    await closeTabs(uri);
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { text, at } = await this.#read(uri);
    return { type: vscode.FileType.File, ctime: 0, mtime: at, size: Buffer.byteLength(text) };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return Buffer.from((await this.#read(uri)).text);
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    const text = plainEnds(Buffer.from(content).toString('utf8'));
    await this.#keep({ ...(await this.#read(uri)), text, at: Date.now() });
    this.#didChange.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => {});
  }

  readDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.FileNotADirectory(uri);
  }

  createDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
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

  #keep(proposal: Proposal): Promise<void> {
    return this.#options.store.write(proposal.id, JSON.stringify(proposal));
  }

  async #forgetOld(): Promise<void> {
    for await (const text of this.#options.store.texts()) {
      const proposal = parse(text);
      if (proposal && proposal.at < Date.now() - MAX_AGE_MS) await this.#options.store.remove(proposal.id);
    }
  }

  /** @returns undefined where there is no such file */
  async #textOf(path: string): Promise<string | undefined> {
    try {
      return plainEnds(await this.#options.files.readText(path, undefined, undefined, MAX_BYTES));
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'file-not-found') return undefined;
      throw error;
    }
  }
}

function parse(text: string | undefined): Proposal | undefined {
  if (text === undefined) return undefined;
  return recordSchema.safeParse(JSON.parse(text)).data;
}

/** The file keeps its own line ends when it is written. */
function plainEnds(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

function questionGone(): ParleyError {
  return new ParleyError('question-gone', vscode.l10n.t('The question was already answered.'));
}
