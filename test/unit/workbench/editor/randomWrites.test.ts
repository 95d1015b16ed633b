// Random writes by agents and users to one file: no line is lost, and unedited bytes stay.
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { link, lstat, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { silentLog } from '../../../../src/base/log';
import { AgentFiles } from '../../../../src/client/requests/agentFiles';
import { plainEnds } from '../../../../src/client/requests/lineEnds';
import type { FakeDocument, FakeDocuments } from '../../../support/fakeDocuments';
import { useFakeDocuments } from '../../../support/fakeEditor';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { seeded } from '../../../support/store/random';
import { seeds } from '../../../support/tier';

const NEVER = new AbortController().signal;

type Random = (below: number) => number;

interface Line {
  readonly text: string;
  readonly end: string;
}

interface Kind {
  readonly encode: (text: string) => Buffer;
  readonly configured: string;
  /** Its encoding can't be detected. */
  readonly isUnknown?: true;
}

const KINDS: readonly Kind[] = [
  { configured: 'utf8', encode: (text) => Buffer.from(text) },
  { configured: 'utf8', encode: (text) => Buffer.from(`\ufeff${text}`) },
  { configured: 'utf8', encode: (text) => Buffer.from(`\ufeff${text}`, 'utf16le') },
  { configured: 'windows1252', encode: (text) => Buffer.from(text, 'latin1') },
  { configured: 'utf8', encode: (text) => Buffer.from(text, 'latin1'), isUnknown: true },
];

function linesOf(text: string): Line[] {
  const found = text.replace(/^\ufeff/, '').match(/[^\n]*\n|[^\n]+$/g) ?? [];
  return found.map((line) => {
    const end = /\r?\n$/.exec(line)?.[0] ?? '';
    return { text: line.slice(0, line.length - end.length), end };
  });
}

const join_ = (lines: readonly Line[]): string => lines.map(({ text, end }) => text + end).join('');

interface Edit {
  readonly kind: 'change' | 'insert' | 'remove';
  readonly line: string;
  readonly fresh: string;
}

function editOf(random: Random, lines: readonly Line[], name: string): Edit | undefined {
  // The last line may have no line ending, which an edit there would have to add.
  const line = lines[random(Math.max(0, lines.length - 1))]?.text;
  if (line === undefined || lines.length < 2) return undefined;
  return {
    kind: (['change', 'insert', 'remove'] as const)[random(3)]!,
    line,
    fresh: `${name} é${random(2) ? '  ' : ''}`,
  };
}

function edited(lines: readonly Line[], { kind, line, fresh }: Edit): Line[] {
  return lines.flatMap((one) => {
    if (one.text !== line) return [one];
    if (kind === 'remove') return [];
    return kind === 'change' ? [{ ...one, text: fresh }] : [one, { text: fresh, end: one.end }];
  });
}

describe('random writes of agents and users', () => {
  let folder: string;
  let editor: FakeDocuments;
  let makeAgent: () => AgentFiles;
  const writeFileNow = fs.promises.writeFile;
  /** Totals, so that the test cannot pass by rejecting everything. */
  const counts = { written: 0, merged: 0, changed: 0, encoding: 0, readOnly: 0, lineEnds: 0, full: 0 };

  beforeEach(async () => {
    folder = await scratchFolder();
    useFakeDocuments();
    const { EditorFiles } = await import('../../../../src/workbench/editor/editorFiles');
    makeAgent = () => new AgentFiles(new EditorFiles({ log: silentLog }), { agentName: 'A' });
  });

  afterEach(async () => {
    fillDisk(false);
    await removeScratch();
  });

  function fillDisk(isFull: boolean): void {
    const full = async (path: string, bytes: Buffer, options: object): Promise<void> => {
      await writeFileNow(path, bytes.subarray(0, bytes.length / 2), options);
      throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    };
    fs.promises.writeFile = isFull ? (full as unknown as typeof writeFileNow) : writeFileNow;
    syncBuiltinESMExports();
  }

  async function runCase(random: Random): Promise<void> {
    const seedFolder = folder;
    const kind = KINDS[random(KINDS.length)]!;
    const { configured } = kind;
    editor = useFakeDocuments();
    editor.configured = configured;
    const ends = [['\n'], ['\r\n'], ['\n', '\r\n']][random(3)]!;
    const start: Line[] = Array.from({ length: random(9) }, (_, n) => ({
      text: `start${n}${random(2) ? ' é' : ''}${random(3) ? '' : ' \t'}`,
      end: ends[random(ends.length)]!,
    }));
    if (start.length > 0 && random(3) === 0) start.push({ text: 'last', end: '' });
    const hasUnknown = kind.isUnknown && start.some(({ text }) => text.includes('é'));
    const { encode } = kind.isUnknown && !hasUnknown ? KINDS[0]! : kind;
    const target = join(seedFolder, 'file');
    await writeFile(target, encode(join_(start)));
    const path = random(4) === 0 ? join(seedFolder, 'link') : target;
    if (path !== target) await symlink(target, path);
    if (random(6) === 0) await link(target, join(seedFolder, 'other'));
    const isReadOnly = random(10) === 0;
    await fs.promises.chmod(target, isReadOnly ? 0o444 : 0o640);
    const before = await stat(target);
    const agent = makeAgent();
    let document: FakeDocument | undefined;
    let given: Line[] | undefined;
    let isChanged = false;
    for (let step = 0, steps = 4 + random(8); step < steps; step++) {
      const name = `s${step}`;
      const decodeDisk = async () => Buffer.from(await editor.decode(await readFile(target), {})).toString();
      const shownLines = async () => linesOf(document?.isDirty ? document.getText() : await decodeDisk());
      switch (step === 0 ? 4 : random(9)) {
        case 0:
          if (document) editor.textDocuments = [];
          isChanged ||= document?.isDirty === true;
          document = document ? undefined : editor.open(random(2) ? path : target);
          break;
        case 1:
        case 2: {
          document ??= editor.open(path);
          if (!document.isDirty) document.follow();
          const edit = editOf(random, linesOf(document.getText()), `user-${name}`);
          if (!edit) break;
          document.type(join_(edited(linesOf(document.getText()), edit)));
          isChanged = true;
          // A wrong encoding is for the user to save.
          if (random(2) && !hasUnknown && !isReadOnly) await document.save();
          break;
        }
        case 3: {
          if (document?.isDirty || hasUnknown || isReadOnly) break;
          const lines = linesOf(await decodeDisk());
          const edit = editOf(random, lines, `other-${name}`);
          if (!edit) break;
          await writeFile(target, encode(join_(edited(lines, edit))));
          isChanged = true;
          if (random(2)) document?.follow();
          break;
        }
        case 4: {
          const read = await agent.read({ sessionId: 's', path }, [seedFolder], async () => false, NEVER);
          given = linesOf(read.content);
          isChanged = false;
          break;
        }
        default: {
          if (!given) break;
          const edit = editOf(random, given, `agent-${name}`);
          if (!edit) break;
          const wanted = edited(given, edit);
          // Some agents normalize line endings.
          const content = random(2) ? join_(wanted) : join_(wanted).replaceAll('\r\n', '\n');
          const [shown, bytes] = [await shownLines(), await readFile(target)];
          const onDisk = linesOf(await decodeDisk());
          const text = document?.getText();
          const isFull = random(8) === 0;
          fillDisk(isFull);
          const ports = { ask: async () => false, beforeWrite: async () => undefined };
          const code = await agent.write({ sessionId: 's', path, content }, [seedFolder], ports, NEVER).then(
            () => 'written',
            (error: { data?: { code?: string } }) => error.data?.code ?? String(error),
          );
          fillDisk(false);
          if (code !== 'written') {
            assert.ok(bytes.equals(await readFile(target)), `refused (${code}), and the file is as it was`);
            assert.equal(document?.getText(), text);
            if (code === 'file-changed') assert.ok(isChanged, 'refused without reason');
            else if (code === 'file-encoding') assert.ok(hasUnknown, 'refused without reason');
            else if (code === 'file-read-only') assert.ok(isReadOnly, 'refused without reason');
            else if (code === 'line-ends-kept')
              assert.equal(plainEnds(content), plainEnds(join_(linesOf(await decodeDisk()))));
            else assert.ok(code === 'file-unwritable' && isFull, `${code} without reason`);
            counts[REASONS[code] ?? 'full']++;
            break;
          }
          counts[isChanged ? 'merged' : 'written']++;
          assert.ok(!hasUnknown && !isReadOnly);
          const known = new Map(onDisk.map((line) => [line.text, line.end]));
          const made = linesOf(await decodeDisk());
          // An insertion after a line that the user deleted takes its place.
          const isOrphan = edit.kind === 'insert' && !shown.some((line) => line.text === edit.line);
          const expected = isOrphan ? shown : edited(shown, edit);
          assert.deepEqual(
            made.map((line) => line.text).filter((one) => !isOrphan || one !== edit.fresh),
            expected.map((line) => line.text),
          );
          for (const line of made)
            if (known.has(line.text) && line.end !== '' && known.get(line.text) !== '')
              assert.equal(line.end, known.get(line.text), `the end of ${line.text}`);
          assert.equal(made.at(-1)?.end === '', expected.at(-1)?.end === '');
          assert.ok(encode(join_(made)).equals(await readFile(target)), 'the encoding');
          given = wanted;
          if (random(2)) document?.follow();
        }
      }
      const after = await stat(target);
      assert.equal(after.mode, before.mode);
      if (before.nlink > 1) assert.equal(after.ino, before.ino);
      if (path !== target) assert.ok((await lstat(path)).isSymbolicLink());
      assert.deepEqual(
        (await readdir(seedFolder)).filter((one) => one.endsWith('.tmp')),
        [],
      );
    }
  }

  const REASONS: Readonly<Record<string, keyof typeof counts>> = {
    'file-changed': 'changed',
    'file-encoding': 'encoding',
    'file-read-only': 'readOnly',
    'line-ends-kept': 'lineEnds',
  };

  it("lose none of the user's bytes and change none outside the edit", async function () {
    this.timeout(600_000);
    for (let seed = 1; seed <= seeds(60, 1_000); seed++) {
      for (const name of await readdir(folder)) await fs.promises.rm(join(folder, name));
      try {
        await runCase(seeded(seed));
      } catch (error) {
        throw new Error(`case ${seed}: ${(error as Error).message}`, { cause: error });
      }
    }
    for (const [what, count] of Object.entries(counts)) assert.ok(count > 0, `${what}: ${JSON.stringify(counts)}`);
    if (process.env.PARLEY_COUNTS) process.stderr.write(`${JSON.stringify(counts)}\n`);
  });
});
