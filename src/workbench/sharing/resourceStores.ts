// The stores of `parley.resources`: files of this extension, or a bucket with secret keys.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Disposable, type ExtensionContext, l10n, workspace } from 'vscode';
import { credentialProblem } from '../../agents/agentInput';
import { Part } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import { Emitter, type Event } from '../../base/event';
import { localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import { knownSecrets } from '../../base/redact';
import { keysName, parseResources } from '../../client/sharing/resourcesSetting';
import type { Stores } from '../../client/sharing/sessionLog';
import {
  earlierFiles,
  ensureReadable,
  sendEarlierFiles,
  type UploadState,
  Uploads,
} from '../../client/sharing/uploads';
import { checkKeys, type S3Keys, type S3Location } from '../../distributed/stores/s3Signer';
import { S3Store, storeIdOf } from '../../distributed/stores/s3Store';
import { type Questions, vscodeQuestions } from '../config/questions';
import { openSettings, resourcesSetting } from '../config/settings';
import { showWarning } from '../ui/messages';
import { StatusItem } from '../ui/statusItem';
import type { Serve } from './serve';

const KEYS = 'parley.resources.keys:';
const TRY_MS = 30_000;

interface Opened {
  readonly stores: Stores;
  readonly bucket?: S3Store;
  /** Of the bucket, as stored. */
  readonly keys?: string;
}

interface ResourceStoresOptions {
  readonly context: ExtensionContext;
  readonly serve: Pick<Serve, 'localStore'>;
  readonly log: Log;
  readonly ask?: Questions;
  readonly warn?: typeof warnOfStore;
}

export class ResourceStores extends Part<ResourceStoresOptions> {
  readonly #didChange = new Emitter<void>();
  readonly #status = new ResourceStatus();
  readonly uploads: Uploads;
  #opened: Promise<Opened> | undefined;
  /** Setting problems that were reported, each once until it changes. */
  readonly #reported = new Set<string>();

  constructor(options: ResourceStoresOptions) {
    super(options);
    const { context } = options;
    this.own(this.#status);
    this.uploads = this.own(
      new Uploads({
        show: (state) => this.#status.show(state),
        notify: (problem, waiting) => this.#warn(problem, waiting),
        log: options.log,
      }),
    );
    this.own(
      workspace.onDidChangeConfiguration((change) => {
        if (!change.affectsConfiguration('parley.resources')) return;
        this.#reset();
        void this.#probe();
      }),
    );
    this.own(context.secrets.onDidChange(({ key }) => void this.#followKeys(key)));
    void this.#resume();
  }

  readonly onDidChange: Event<void> = this.#didChange.event;

  /** Returns the store for new messages, then older ones. Falls back to this machine. */
  async all(): Promise<Stores> {
    return (await this.#open()).stores;
  }

  get origin(): string | undefined {
    const place = this.#place();
    return place && new URL(place.endpoint).origin;
  }

  /** Checks that links are readable. @throws ParleyError `links-unreadable`, `cancelled` */
  async ensureReadable(urls: readonly string[], signal: AbortSignal): Promise<void> {
    const { bucket } = await this.#open();
    if (bucket) await ensureReadable(urls, bucket, signal);
  }

  /** Uploads pending messages, and shows errors. @returns whether all were sent */
  async retry(signal: AbortSignal): Promise<boolean> {
    try {
      await this.uploads.send(signal);
      return true;
    } catch (error) {
      if (error instanceof ParleyError && !signal.aborted) this.#warn(error, this.uploads.waiting);
      return false;
    }
  }

  /**
   * @returns whether keys were entered
   * @throws ParleyError `bad-setting`, `no-bucket`, `bad-store`
   */
  async setKeys(): Promise<boolean> {
    const setting = parseResources(resourcesSetting());
    if (setting.type === 'local') {
      throw new ParleyError(
        'no-bucket',
        localizable('Session messages are stored on this machine, which requires no credentials.'),
        {
          hint: localizable('Set a bucket in parley.resources first.'),
        },
      );
    }
    const { place } = setting;
    const title = `${place.bucket}, ${new URL(place.endpoint).host}`;
    const prompt = l10n.t("It's saved in VS Code's secret storage and used for this server and bucket only.");
    const { ask: questions = vscodeQuestions } = this.options;
    const ask = (name: string, secret: boolean): Promise<string | undefined> =>
      questions.line({ title: `${title}: ${name}`, prompt, secret, validate: credentialProblem });
    const accessKeyId = (await ask(l10n.t('Access key ID'), false))?.trim();
    if (!accessKeyId) return false;
    const secretAccessKey = (await ask(l10n.t('Secret access key'), true))?.trim();
    if (!secretAccessKey) return false;
    const keys = checkKeys({ accessKeyId, secretAccessKey });
    await this.options.context.secrets.store(keysOf(place), JSON.stringify(keys));
    this.#reset();
    await this.#probe();
    return true;
  }

  override dispose(): void {
    super.dispose();
    this.#didChange.dispose();
  }

  /** Reports problems of a bucket before the first message is shared. Never rejects. */
  async #probe(): Promise<void> {
    const { log } = this.options;
    try {
      const { bucket } = await this.#open();
      const tried = await bucket?.probe(AbortSignal.timeout(TRY_MS));
      if (tried?.checksSignatures !== false) return;
      const text = l10n.t(
        "The storage server doesn't check signatures. Anyone who can reach it can read these messages.",
      );
      this.#report('unchecked', text);
    } catch (error) {
      log.warn(`The storage server was tried out: ${messageOf(error)}`);
      if (error instanceof ParleyError) this.uploads.report(error);
    }
  }

  /** Uploads what earlier versions left in separate folders. */
  async #resume(): Promise<void> {
    try {
      const place = this.#place();
      if (!place) return;
      const folder = this.#queueFolder(place);
      const { length } = await earlierFiles(folder);
      if (length === 0) return;
      const { bucket } = await this.#open();
      const { log } = this.options;
      if (bucket) this.uploads.set('', length, (signal) => sendEarlierFiles(folder, bucket, log, signal));
    } catch (error) {
      this.options.log.warn(`What waits for the storage server is not sent: ${messageOf(error)}`);
    }
  }

  async #followKeys(name: string): Promise<void> {
    const place = this.#place();
    if (!place || name !== keysOf(place) || !this.#opened) return;
    const last = this.#opened;
    const opened = await last.catch(() => undefined);
    const isOther = (await this.options.context.secrets.get(name)) !== opened?.keys;
    // This window may have opened the bucket with these keys in the meantime.
    if (isOther && this.#opened === last) this.#reset();
  }

  #reset(): void {
    this.#reported.clear();
    this.#opened = undefined;
    this.#didChange.fire();
    this.uploads.restart();
    void this.#resume();
  }

  #open(): Promise<Opened> {
    if (!this.#opened) {
      const opening = this.#openNow();
      this.#opened = opening;
      opening.catch(() => {
        if (this.#opened === opening) this.#opened = undefined;
      });
    }
    return this.#opened;
  }

  async #openNow(): Promise<Opened> {
    const { serve, context } = this.options;
    const local = await serve.localStore();
    try {
      const setting = parseResources(resourcesSetting());
      if (setting.type === 'local') return { stores: [local] };
      const keys = await context.secrets.get(keysOf(setting.place));
      if (keys === undefined) {
        const { bucket } = setting.place;
        const text = l10n.t(
          'The bucket {0} has no credentials yet. Messages are kept on this machine until you enter them.',
          bucket,
        );
        this.#report('no-keys', text, true);
        return { stores: [local] };
      }
      const signing = JSON.parse(keys) as S3Keys;
      knownSecrets.add(signing.secretAccessKey);
      const bucket = new S3Store({ location: setting.place, keys: signing });
      return { stores: [bucket, local], bucket, keys };
    } catch (error) {
      const sentence = error instanceof ParleyError ? sentenceOf(error) : messageOf(error);
      this.#report('unusable', `${sentence} ${l10n.t('Messages are stored on this machine.')}`);
      return { stores: [local] };
    }
  }

  /** Used by earlier versions. */
  #queueFolder(place: S3Location): string {
    const name = createHash('sha256').update(storeIdOf(place)).digest('hex').slice(0, 16);
    return join(this.options.context.globalStorageUri.fsPath, 'resource-queue', name);
  }

  #place(): S3Location | undefined {
    try {
      const setting = parseResources(resourcesSetting());
      return setting.type === 's3' && URL.canParse(setting.place.endpoint) ? setting.place : undefined;
    } catch {
      return undefined;
    }
  }

  #warn(problem: ParleyError, waiting: number): void {
    const { log, warn = warnOfStore } = this.options;
    log.warn(sentenceOf(problem));
    const actions = { enterKeys: () => this.setKeys(), retry: () => this.retry(AbortSignal.timeout(TRY_MS)) };
    warn(problem, waiting, actions).catch((error: unknown) => log.warn(messageOf(error)));
  }

  #report(reason: string, text: string, offersKeys = false): void {
    if (this.#reported.has(reason)) return;
    this.#reported.add(reason);
    this.options.log.warn(text);
    const enter = l10n.t('Enter Credentials');
    void showWarning(`Parley: ${text}`, ...(offersKeys ? [enter] : [])).then(async (choice) => {
      if (choice === enter) await this.setKeys();
    });
  }
}

function keysOf(place: S3Location): string {
  return `${KEYS}${keysName(place)}`;
}

export interface ResourceActions {
  enterKeys(): Promise<unknown>;
  retry(): Promise<unknown>;
}

class ResourceStatus implements Disposable {
  #item: StatusItem | undefined;

  show(state: UploadState | undefined): void {
    if (!state) {
      this.dispose();
      return;
    }
    const { waiting, problem } = state;
    this.#item ??= new StatusItem('parley.resources');
    this.#item.show({
      name: l10n.t('Parley: Messages to Upload'),
      text: [
        { icon: 'cloud-upload' },
        ` ${waiting === 1 ? l10n.t('1 message not uploaded') : l10n.t('{0} messages not uploaded', waiting)}`,
      ],
      tooltip: [
        ...(problem ? [sentenceOf(problem)] : []),
        l10n.t("Messages of shared sessions are kept on this machine until they're uploaded."),
        l10n.t('Select to try again.'),
      ],
      command: { title: l10n.t('Upload Waiting Messages'), command: 'parley.resources.retry' },
      isWarning: problem !== undefined,
    });
  }

  dispose(): void {
    this.#item?.dispose();
    this.#item = undefined;
  }
}

async function warnOfStore(problem: ParleyError, waiting: number, actions: ResourceActions): Promise<void> {
  const enterKeys = l10n.t('Enter Credentials');
  const settings = l10n.t('Open Settings');
  const retry = l10n.t('Retry');
  const waits =
    waiting === 0
      ? ''
      : waiting === 1
        ? ` ${l10n.t('1 message is waiting to be uploaded.')}`
        : ` ${l10n.t('{0} messages are waiting to be uploaded.', waiting)}`;
  const buttons = [...(problem.code === 'store-denied' ? [enterKeys] : []), settings, retry];
  const choice = await showWarning(`Parley: ${sentenceOf(problem)}${waits}`, ...buttons);
  if (choice === enterKeys) await actions.enterKeys();
  else if (choice === settings) await openSettings('parley.resources');
  else if (choice === retry) await actions.retry();
}

export function sentenceOf({ message, hint }: ParleyError): string {
  return hint === undefined ? message : `${message} ${hint}`;
}
