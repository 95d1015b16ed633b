// What features share. Each `*.contribution.ts` adds commands, and parts that are looked up by
// class.
import { join } from 'node:path';
import { commands, type ExtensionContext } from 'vscode';
import { userEnvironment } from '../../agents/agentEnvironment';
import { type Disposable, DisposableStore } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import { FileStore } from '../../client/sharing/fileStore';

export interface Contribution {
  /** Creates the parts. Can look up those of earlier contributions. */
  parts?(workbench: Workbench): void;
  /** Registers the commands, after all parts were created. */
  commands?(workbench: Workbench): void;
}

/** Runs a function later, without keeping the process alive. */
export function schedule(run: () => void, ms: number): Disposable {
  const timer = setTimeout(run, ms);
  timer.unref();
  return { dispose: () => clearTimeout(timer) };
}

type RunCommand = (...args: never[]) => unknown;

type PartType<T> = abstract new (...args: never[]) => T;

export class Workbench {
  readonly context: ExtensionContext;
  readonly log: Log;
  readonly #lifetime = new DisposableStore();
  readonly #parts = new Map<PartType<unknown>, unknown>();
  readonly #commands = new Map<string, RunCommand>();
  readonly #stores = new Map<string, FileStore>();
  readonly #endings: (() => Promise<unknown>)[] = [];

  constructor(context: ExtensionContext, log: Log) {
    this.context = context;
    this.log = log;
  }

  get version(): string {
    return (this.context.extension.packageJSON as { version: string }).version;
  }

  readonly environment = (command?: string): Promise<Record<string, string>> => userEnvironment(this.log, command);

  folder(name: string): string {
    return join(this.context.globalStorageUri.fsPath, name);
  }

  /** Returns the only store instance of a folder, so that writes are serialized. */
  store(name: string): FileStore {
    const store = this.#stores.get(name) ?? new FileStore(this.folder(name));
    this.#stores.set(name, store);
    return store;
  }

  own<T extends Disposable>(part: T): T {
    return this.#lifetime.add(part);
  }

  /** Adds a part that others can look up by class. It is disposed with the window. */
  add<T extends object>(part: T, type = part.constructor as PartType<T>): T {
    this.#parts.set(type, part);
    if ('dispose' in part) this.#lifetime.add(part as T & Disposable);
    return part;
  }

  get<T>(type: PartType<T>): T {
    if (!this.#parts.has(type)) throw new Error(`${type.name} isn't built yet`);
    return this.#parts.get(type) as T;
  }

  /** Registers a command. @param id without `parley.` @throws Error if registered already */
  register(id: string, run: RunCommand): void {
    if (this.#commands.has(id)) throw new Error(`The command ${id} is registered twice`);
    this.#commands.set(id, run);
  }

  /** Runs a registered command without showing errors. @param id without `parley.` */
  async run(id: string, ...args: readonly unknown[]): Promise<unknown> {
    const run = this.#commands.get(id);
    if (!run) throw new Error(`There is no command parley.${id}.`);
    return run(...(args as never[]));
  }

  get commandIds(): readonly string[] {
    return [...this.#commands.keys()];
  }

  setContext(name: string, value: unknown): void {
    void commands.executeCommand('setContext', `parley.${name}`, value);
  }

  /** Runs a function when the window closes, before any part is disposed. */
  onEnd(end: () => Promise<unknown>): void {
    this.#endings.push(end);
  }

  async end(): Promise<void> {
    const ended = await Promise.allSettled(this.#endings.map((end) => end()));
    for (const one of ended) if (one.status === 'rejected') this.log.error(`end: ${messageOf(one.reason)}`);
    this.dispose();
  }

  dispose(): void {
    this.#lifetime.dispose();
  }
}
