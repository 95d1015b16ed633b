// Opens files in memory for language servers, as they are on disk.

import { readFile, stat } from 'node:fs/promises';
import {
  commands,
  extensions,
  languages,
  Position,
  Range,
  RelativePattern,
  SelectionRange,
  type TextDocument,
  Uri,
  workspace,
} from 'vscode';
import { Deferred } from '../../base/deferred';
import { within } from '../../base/within';

const FOLLOW_MS = 2000;
const ACTIVATE_MS = 15_000;
/** VS Code's language servers don't open larger files either. */
const MAX_BYTES = 20 * 1024 * 1024;
/** Opening one makes a language server load the workspace. */
const SOURCES = '**/*.{ts,tsx,mts,cts,js,jsx,mjs,cjs,py,go,rs,java,kt,cs,c,cc,cpp,h,hpp,rb,php,swift}';
const NOT_SOURCES = '**/{node_modules,dist,out,build,target,vendor,.git}/**';

const activated = new Map<string, Promise<void>>();

/** @param path absolute @throws Error with a sentence for the model */
export async function openFile(path: string): Promise<TextDocument> {
  let document: TextDocument;
  try {
    document = await workspace.openTextDocument(Uri.file(path));
  } catch {
    throw new Error('The editor cannot open this file as text.');
  }
  return followed(document);
}

async function followed(document: TextDocument): Promise<TextDocument> {
  await Promise.all([activate(document.languageId), followDisk(document)]);
  return document;
}

/** Keeps a file open only while `use` runs: VS Code would keep it open for minutes. */
export async function whileOpen<T>(path: string, use: (document: TextDocument) => Promise<T>): Promise<T> {
  const uri = Uri.file(path);
  const isOpen = (document: TextDocument): boolean => document.uri.toString() === uri.toString() && !document.isClosed;
  if (workspace.textDocuments.some(isOpen)) return use(await openFile(path));
  // VS Code keeps a document open while a provider command works on it.
  const [asked, done] = [new Deferred<void>(), new Deferred<void>()];
  const provider = languages.registerSelectionRangeProvider(
    { scheme: 'file' },
    {
      async provideSelectionRanges(document, positions) {
        if (!isOpen(document)) return [];
        asked.resolve();
        await done.promise;
        return positions.map((at) => new SelectionRange(new Range(at, at)));
      },
    },
  );
  const pending = Promise.resolve(
    commands.executeCommand('vscode.executeSelectionRangeProvider', uri, [new Position(0, 0)]),
  ).then(
    () => undefined,
    () => undefined,
  );
  try {
    await Promise.race([asked.promise, pending]);
    return await use(await followed(workspace.textDocuments.find(isOpen) ?? (await workspace.openTextDocument(uri))));
  } finally {
    done.resolve();
    await pending;
    provider.dispose();
  }
}

export async function openAnySource(roots: readonly string[]): Promise<void> {
  for (const root of roots) {
    const [found] = await workspace.findFiles(new RelativePattern(root, SOURCES), NOT_SOURCES, 1);
    if (found) await openFile(found.fsPath);
  }
}

/** Activates the extensions of a language, without waiting as opening a file does. */
function activate(language: string): Promise<void> {
  const activation = activated.get(language);
  if (activation) return activation;
  const speakers = extensions.all.filter(({ packageJSON }) => {
    const events = (packageJSON as { activationEvents?: unknown }).activationEvents;
    return Array.isArray(events) && events.includes(`onLanguage:${language}`);
  });
  const started = Promise.all(
    speakers.map((one) =>
      Promise.resolve(one.activate()).then(
        () => undefined,
        () => undefined,
      ),
    ),
  );
  const done = within(ACTIVATE_MS, started).then(() => undefined);
  activated.set(language, done);
  return done;
}

/** Resolves when a clean document equals the disk. @throws Error with a sentence for the model */
async function followDisk(document: TextDocument): Promise<void> {
  if (document.isDirty) return;
  const path = document.uri.fsPath;
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size > MAX_BYTES) return;
  const wanted = plain(await readFile(path, 'utf8').catch(() => document.getText()));
  // Encodings other than UTF-8 cannot be compared.
  if (wanted.includes('\ufffd')) return;
  const isCurrent = (): boolean => document.isDirty || document.isClosed || plain(document.getText()) === wanted;
  if (isCurrent()) return;
  const isInTime = await new Promise<boolean>((resolve) => {
    const done = (): void => {
      watch.dispose();
      clearTimeout(late);
      resolve(isCurrent());
    };
    const watch = workspace.onDidChangeTextDocument((event) => {
      if (event.document === document && isCurrent()) done();
    });
    const late = setTimeout(done, FOLLOW_MS);
  });
  if (!isInTime) throw new Error('The editor has not noticed yet that this file has changed on the disk: try again.');
}

function plain(text: string): string {
  return text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
}
