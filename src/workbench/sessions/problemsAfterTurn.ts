// Shows or sends new errors in the files of a turn (`parley.problemsAfterTurn`).

import { readFile } from 'node:fs/promises';
import { DiagnosticSeverity, l10n, languages, TabInputText, window, workspace } from 'vscode';
import { Part } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import { pathOf } from '../../client/changes/changedPaths';
import { textOf } from '../../client/changes/shownDiffs';
import type { Conversation } from '../../client/conversation/conversation';
import { FIX_PROBLEMS, ownText } from '../../session/events/ownText';
import { problemsAfterTurn } from '../config/settings';
import { openDocuments, pathKey } from '../editor/openDocuments';
import type { Diagnoser, FileProblems } from '../editorTools/diagnose';
import type { Problem } from '../editorTools/readers/problems';
import { SessionPaths } from '../editorTools/sessionPaths';
import type { Conversations } from './conversations';
import { newErrors, signatureOf } from './newProblems';

const MAX_FILES = 30;
const MAX_PROBLEMS = 30;
const MAX_KNOWN = 200;

interface ProblemsAfterTurnOptions {
  readonly conversations: Pick<Conversations, 'find' | 'onDidChange' | 'onDidRemove'>;
  readonly diagnoser: Diagnoser;
  readonly log: Log;
}

/** Signatures of errors by the {@link pathKey} of their file. */
type KnownErrors = Map<string, ReadonlySet<string>>;

interface WatchedTurn {
  readonly id: string;
  readonly startedAt: number;
  readonly before: KnownErrors;
  readonly isFix: boolean;
}

export class ProblemsAfterTurn extends Part<ProblemsAfterTurnOptions> {
  readonly #abort = new AbortController();
  readonly #runningTurns = new Map<string, WatchedTurn>();
  readonly #lastErrors = new Map<string, KnownErrors>();
  /** Sessions whose next turn was requested here. */
  readonly #fixRequested = new Set<string>();

  constructor(options: ProblemsAfterTurnOptions) {
    super(options);
    const { conversations } = options;
    this.own(conversations.onDidChange((key) => this.#onChange(key)));
    this.own(options.diagnoser.onDidLook((file) => this.#onLook(file)));
    this.own(
      conversations.onDidRemove(({ key }) => {
        this.#runningTurns.delete(key);
        this.#lastErrors.delete(key);
        this.#fixRequested.delete(key);
      }),
    );
  }

  async fix(conversation: Conversation): Promise<void> {
    const turn = conversation.model.state.turns.at(-1);
    const changed = turn ? await conversation.changes.changesOf(turn.id) : [];
    this.#send(conversation, await this.#errorsIn(conversation, changed.map(pathOf)));
  }

  override dispose(): void {
    this.#abort.abort();
    super.dispose();
  }

  #onChange(key: string): void {
    const conversation = this.options.conversations.find(key);
    const watched = this.#runningTurns.get(key);
    const turn = conversation?.model.state.turn;
    if (watched && turn?.id !== watched.id) {
      this.#runningTurns.delete(key);
      if (conversation)
        this.#onTurnEnd(conversation, watched).catch((error: unknown) => {
          if (!this.#abort.signal.aborted) this.options.log.warn(`problems after a turn: ${messageOf(error)}`);
        });
    }
    if (!turn || turn.id === watched?.id || !workspace.isTrusted || problemsAfterTurn() === 'off') return;
    const before: KnownErrors = new Map([...(this.#lastErrors.get(key) ?? []), ...shownErrors()]);
    this.#runningTurns.set(key, {
      id: turn.id,
      startedAt: turn.startedAt,
      before,
      isFix: this.#fixRequested.delete(key),
    });
  }

  /** Records errors that the agent saw before changing a file: they are not new. */
  #onLook({ path, problems, modifiedAt }: FileProblems): void {
    const key = pathKey(path);
    for (const { before, startedAt } of this.#runningTurns.values())
      if (modifiedAt < startedAt && !before.has(key)) before.set(key, new Set(problems.errors().map(signatureOf)));
  }

  async #onTurnEnd(conversation: Conversation, { id, before, isFix }: WatchedTurn): Promise<void> {
    const { changes, model } = conversation;
    const turn = model.state.turns.find((one) => one.id === id);
    if (turn?.stopReason !== 'end_turn' || !changes.isReviewed) return;
    await changes.settled();
    const changed = (await changes.changesOf(id)).slice(0, MAX_FILES);
    const errors = Map.groupBy(await this.#errorsIn(conversation, changed.map(pathOf)), (error) => error.path);
    const open = openDocuments();
    const fresh: Problem[] = [];
    const found = this.#lastErrors.get(conversation.key) ?? new Map<string, ReadonlySet<string>>();
    for (const change of changed) {
      const path = pathOf(change);
      const key = pathKey(path);
      const reported = errors.get(path) ?? [];
      const now =
        reported.length === 0 ? '' : (open.get(key)?.getText() ?? (await readFile(path, 'utf8').catch(() => '')));
      const lines = now.split(/\r\n|\r|\n/);
      const located = reported.map((error) => ({ ...error, text: lines[error.line - 1] ?? '' }));
      const known = before.get(key);
      const text =
        known || located.length === 0 ? undefined : await textOf(await changes.states(), change, change.before);
      fresh.push(...newErrors(located, { errors: known, text }));
      found.delete(key);
      found.set(key, new Set(located.map(signatureOf)));
    }
    for (const [oldest] of [...found].slice(0, Math.max(0, found.size - MAX_KNOWN))) found.delete(oldest);
    this.#lastErrors.set(conversation.key, found);
    // The user has continued since, or closed the session.
    if (fresh.length === 0 || model.state.turns.at(-1) !== turn || conversation.isBusy) return;
    if (this.options.conversations.find(conversation.key) !== conversation) return;
    // Only one attempt: an agent that cannot fix an error would loop.
    if (problemsAfterTurn() === 'send' && !isFix && conversation.queue.items.length === 0) {
      this.#send(conversation, fresh);
      return;
    }
    const text = ownText('new-problems', fresh.length);
    const action = { id: FIX_PROBLEMS };
    const event = { type: 'notice', own: true, severity: 'warning', title: '', said: text, action } as const;
    conversation.note([{ at: Date.now(), event }]);
  }

  #send(conversation: Conversation, errors: readonly Problem[]): void {
    if (errors.length === 0) return;
    const paths = new SessionPaths(conversation.roots);
    const lines = errors
      .slice(0, MAX_PROBLEMS)
      .map(({ path, line, message }) => `- ${paths.show(path)}:${line}: ${message.replaceAll(/\s+/g, ' ')}`);
    this.#fixRequested.add(conversation.key);
    conversation.send(`${l10n.t('Fix these problems:')}\n${lines.join('\n')}`);
  }

  async #errorsIn(conversation: Conversation, files: readonly string[]): Promise<readonly Problem[]> {
    const { signal } = this.#abort;
    const inside = [...(await new SessionPaths(conversation.roots).inside(files, signal))];
    if (inside.length === 0) return [];
    return (await this.options.diagnoser.problems(inside, inside, signal)).errors();
  }
}

function shownErrors(): [string, ReadonlySet<string>][] {
  return window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .flatMap(({ input }) => (input instanceof TabInputText && input.uri.scheme === 'file' ? [input.uri] : []))
    .map((uri) => {
      const errors = languages
        .getDiagnostics(uri)
        .filter(({ severity }) => severity === DiagnosticSeverity.Error)
        .map(({ code, message }) => {
          const named = typeof code === 'object' ? code.value : code;
          return signatureOf({ message, code: named !== undefined ? String(named) : undefined });
        });
      return [pathKey(uri.fsPath), new Set(errors)];
    });
}
