// Where the messages of this window's sessions are kept, as `parley.resources` says: files of this extension, or a bucket with keys from VS Code's secret store.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type ExtensionContext, l10n, workspace } from 'vscode';
import { type Disposable, DisposableStore } from '../base/disposable';
import { messageOf, ParleyError } from '../base/errors';
import { Emitter, type Event } from '../base/event';
import type { Log } from '../base/log';
import { openQueue } from '../client/queueFolders';
import { keysName, parseResources } from '../client/resourcesSetting';
import type { ResourceStore } from '../distributed/resources';
import type { S3Keys, S3Place } from '../distributed/s3Signer';
import { S3Store } from '../distributed/s3Store';
import type { WriteQueue } from '../distributed/writeQueue';
import { thisMachine } from '../store/machine';
import { type Questions, vscodeQuestions } from './questions';
import type { Serve } from './serve';
import { resourcesSetting } from './settings';
import { showWarning } from './ui/messages';

const KEYS = 'parley.resources.keys:';
/** Trying out a bucket may take this long, in milliseconds. */
const TRY_MS = 30_000;

type Stores = readonly [ResourceStore, ...ResourceStore[]];

export interface ResourceStoresOptions {
  readonly context: ExtensionContext;
  readonly serve: Pick<Serve, 'localStore'>;
  readonly log: Log;
  /** Absent: VS Code's dialogs. */
  readonly ask?: Questions;
}

export class ResourceStores implements Disposable {
  readonly #options: ResourceStoresOptions;
  readonly #lifetime = new DisposableStore();
  readonly #didChange = new Emitter<void>();
  #stores: Promise<Stores> | undefined;
  #opened: WriteQueue | undefined;
  #closing: Promise<void> | undefined;
  /** What is wrong is said once, until the settings change. */
  #told: string | undefined;

  constructor(options: ResourceStoresOptions) {
    this.#options = options;
    this.#lifetime.add(
      workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('parley.resources')) this.#reset();
      }),
    );
  }

  /** Other stores are configured, or have keys now. */
  get onDidChange(): Event<void> {
    return this.#didChange.event;
  }

  /** The store that takes what is written from now on, then those that hold what was written before. Never rejects for a setting that is wrong: this machine takes over. */
  all(): Promise<Stores> {
    this.#stores ??= this.#open().catch((error: unknown) => {
      this.#stores = undefined;
      throw error;
    });
    return this.#stores;
  }

  /** The origin of the configured bucket. */
  get origin(): string | undefined {
    try {
      const setting = parseResources(resourcesSetting());
      return setting.type === 's3' ? new URL(setting.place.endpoint).origin : undefined;
    } catch {
      return undefined;
    }
  }

  /** Asks for the keys of the configured bucket and keeps them. @returns whether they were given @throws ParleyError `bad-setting`, `no-bucket` */
  async setKeys(): Promise<boolean> {
    const setting = parseResources(resourcesSetting());
    if (setting.type === 'local') {
      throw new ParleyError('no-bucket', 'The messages of sessions are kept on this machine, which needs no keys.', {
        hint: 'Name a bucket in the setting parley.resources first.',
      });
    }
    const { place } = setting;
    const title = `${place.bucket}, ${new URL(place.endpoint).host}`;
    const prompt = l10n.t('It is kept in the secret store of VS Code and used for this server and bucket alone.');
    const { ask: questions = vscodeQuestions } = this.#options;
    const ask = (name: string, secret: boolean): Promise<string | undefined> =>
      questions.line({ title: `${title}: ${name}`, prompt, secret });
    const accessKeyId = (await ask(l10n.t('Access key ID'), false))?.trim();
    if (!accessKeyId) return false;
    const secretAccessKey = (await ask(l10n.t('Secret access key'), true))?.trim();
    if (!secretAccessKey) return false;
    const { secrets } = this.#options.context;
    await secrets.store(`${KEYS}${keysName(place)}`, JSON.stringify({ accessKeyId, secretAccessKey }));
    this.#reset();
    await this.#tryOut(new S3Store({ place, keys: { accessKeyId, secretAccessKey } }));
    return true;
  }

  /** Says at once what is wrong with a bucket: else it shows with the first message that is shared. */
  async #tryOut(store: S3Store): Promise<void> {
    try {
      if (await store.checksSignatures(AbortSignal.timeout(TRY_MS))) return;
      this.#tell(
        l10n.t('The resource server does not check signatures: anyone who can reach it can read these messages.'),
        false,
      );
    } catch (error) {
      this.#tell(messageOf(error), false);
    }
  }

  dispose(): void {
    this.#lifetime.dispose();
    this.#opened?.dispose();
    this.#didChange.dispose();
  }

  #reset(): void {
    this.#stores = undefined;
    this.#told = undefined;
    this.#closing = this.#opened?.close();
    this.#opened = undefined;
    this.#didChange.fire();
  }

  async #open(): Promise<Stores> {
    const local = await this.#options.serve.localStore();
    try {
      const setting = parseResources(resourcesSetting());
      if (setting.type === 'local') return [local];
      const keys = await this.#keysOf(setting.place);
      if (!keys) {
        this.#tell(
          l10n.t(
            'The bucket {0} has no keys yet. Messages are kept on this machine until it has.',
            setting.place.bucket,
          ),
          true,
        );
        return [local];
      }
      return [await this.#bucket(setting.place, keys), local];
    } catch (error) {
      this.#tell(`${messageOf(error)} ${l10n.t('Messages are kept on this machine.')}`, false);
      return [local];
    }
  }

  async #bucket(place: S3Place, keys: S3Keys): Promise<ResourceStore> {
    const { context, log } = this.#options;
    const store = new S3Store({ place, keys });
    const name = createHash('sha256').update(store.id).digest('hex').slice(0, 16);
    const root = join(context.globalStorageUri.fsPath, 'resource-queue', name);
    const { pid, isAlive, startOf } = thisMachine;
    // The last queue may still write to the folder that this one reads.
    await this.#closing;
    const queue = await openQueue(store, { root, pid, isAlive, startOf, log });
    queue.onDidChange(() => {
      const { problem } = queue.state;
      if (problem && problem.code !== 'store-down') this.#tell(problem.message, false);
    });
    this.#opened = queue;
    return queue;
  }

  async #keysOf(place: S3Place): Promise<S3Keys | undefined> {
    const text = await this.#options.context.secrets.get(`${KEYS}${keysName(place)}`);
    return text === undefined ? undefined : (JSON.parse(text) as S3Keys);
  }

  #tell(text: string, offersKeys: boolean): void {
    this.#options.log.warn(text);
    if (this.#told === text) return;
    this.#told = text;
    const enter = l10n.t('Enter Keys');
    void showWarning(`Parley: ${text}`, ...(offersKeys ? [enter] : [])).then(async (choice) => {
      if (choice === enter) await this.setKeys();
    });
  }
}
