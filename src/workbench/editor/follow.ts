// Shows files as the agent reads and writes them, until the user navigates away. Off by default.
import {
  type Event,
  l10n,
  Range,
  type TextEditorSelectionChangeEvent,
  TextEditorSelectionChangeKind,
  Uri,
  window,
  workspace,
} from 'vscode';
import { Configured, type Disposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { Conversation } from '../../client/conversation/conversation';
import { candidatePathsOf, isInsideRoots, realTarget } from '../../client/requests/roots';
import { Changes } from '../../session/model/changes';
import type { ToolEntry } from '../../session/model/state';
import { isDialogOpen } from '../ui/messages';
import { StatusItem } from '../ui/statusItem';
import { columnBesideChat } from './openLocation';

const PAUSE_MS = 300;
const SHOWN: ReadonlySet<string> = new Set(['read', 'edit']);

type Followed = Pick<Conversation, 'model' | 'roots' | 'agent'>;

export interface FollowOptions {
  readonly active: () => Followed | undefined;
  readonly onDidActivate: Event<unknown>;
  readonly log: Log;
}

export class Follow extends Configured<FollowOptions> implements Disposable {
  readonly #changes = new Changes(() => this.#wake());
  readonly #subscriptions: readonly Disposable[];
  #status: StatusItem | undefined;
  #observing: Disposable | undefined;
  #followed: Followed | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastShown = '';

  constructor(options: FollowOptions) {
    super(options);
    this.#subscriptions = [
      options.onDidActivate(() => this.#status && this.#observe()),
      window.onDidChangeTextEditorSelection((event) => {
        if (isByUser(event)) this.#end();
      }),
    ];
  }

  toggle(): void {
    if (this.#status) this.#end();
    else this.#begin();
  }

  dispose(): void {
    this.#end();
    for (const one of this.#subscriptions) one.dispose();
  }

  #begin(): void {
    this.#status = new StatusItem('parley.follow');
    this.#observe();
  }

  #observe(): void {
    this.#observing?.dispose();
    this.#changes.reset();
    this.#followed = this.options.active();
    this.#observing = this.#followed?.model.observe(this.#changes);
    this.#status?.show({
      name: l10n.t('Parley: Follow Agent'),
      text: [{ icon: 'eye' }, ' ', l10n.t('Following {0}', this.#followed?.agent.name ?? 'Parley')],
      tooltip: [l10n.t('The editor shows the files that the agent reads and writes. Select to stop.')],
      command: { command: 'parley.follow', title: '' },
      isWarning: false,
    });
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#observing?.dispose();
    this.#observing = undefined;
    this.#followed = undefined;
    this.#status?.dispose();
    this.#status = undefined;
    this.#lastShown = '';
  }

  #wake(): void {
    if (!this.#status) return;
    this.#timer ??= setTimeout(() => {
      void this.#show()
        .catch((error: unknown) => this.options.log.debug(`follow: ${messageOf(error)}`))
        .finally(() => {
          this.#timer = undefined;
          if (!this.#changes.isEmpty) this.#wake();
        });
    }, PAUSE_MS);
  }

  async #show(): Promise<void> {
    const followed = this.#followed;
    const indexes = [...this.#changes.entries.keys()].sort((one, other) => other - one);
    this.#changes.reset();
    if (!followed) return;
    const entries = indexes.map((index) => followed.model.state.entries[index]);
    const call = entries.find((entry): entry is ToolEntry => entry?.kind === 'tool' && isShown(entry));
    const [place] = call?.locations ?? [];
    const [path] = place ? candidatePathsOf(place.path, followed.roots) : [];
    if (!place || path === undefined) return;
    const line = Math.max(0, (place.line ?? 1) - 1);
    const name = `${path}:${line}`;
    // Only the session's own files: an agent may name any path.
    if (name === this.#lastShown) return;
    if (!(await isInsideRoots(await realTarget(path), followed.roots))) {
      this.options.log.debug(`follow: ${place.path} is outside of the session's folders`);
      return;
    }
    const document = await workspace.openTextDocument(Uri.file(path));
    // An editor behind a dialog would take its keys.
    if (!this.#status || this.#followed !== followed || isDialogOpen()) return;
    this.#lastShown = name;
    await window.showTextDocument(document, {
      preview: true,
      preserveFocus: true,
      viewColumn: columnBesideChat(),
      selection: new Range(line, 0, line, 0),
    });
  }
}

function isShown({ toolKind, status, locations }: ToolEntry): boolean {
  return SHOWN.has(toolKind) && status !== 'failed' && status !== 'cancelled' && locations.length > 0;
}

function isByUser({ kind }: TextEditorSelectionChangeEvent): boolean {
  return kind === TextEditorSelectionChangeKind.Keyboard || kind === TextEditorSelectionChangeKind.Mouse;
}
