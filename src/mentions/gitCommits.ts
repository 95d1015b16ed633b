// The newest commits of a repository, and the message and changes of one.
import { stat } from 'node:fs/promises';
import { branchOf, findRepository, realFolder } from '../changes/git/repository';
import { MAX_PATCH, PATCH, runIn } from './gitFiles';

const MOST = 200;
/** Subjects can have any length. */
const LIMITS = { timeoutMs: 10_000, maxOutput: MAX_PATCH, cuts: true } as const;
const FIELDS = '--format=%H%x00%an%x00%ct%x00%s';
/** The configuration could name a program that verifies signatures. */
const PLAIN = ['--no-show-signature', '--encoding=UTF-8'];
const MESSAGE = '%x00commit %H%nParents: %P%nRefs: %D%nAuthor: %an <%ae>%nDate: %cI%n%n%B%x00';

export interface Commit {
  readonly hash: string;
  readonly author: string;
  /** ms since 1970. */
  readonly at: number;
  readonly subject: string;
}

export class GitCommits {
  readonly #ended = new AbortController();
  #stamp: string | undefined;
  #commits: Promise<readonly Commit[]> | undefined;

  /** Returns the newest commits, cached until `HEAD` moves. @param folder trusted */
  async newest(folder: string): Promise<readonly Commit[]> {
    const stamp = await headStamp(folder);
    if (stamp === undefined) return [];
    if (this.#stamp !== stamp) {
      this.#stamp = stamp;
      this.#commits = readCommits(folder, [`-${MOST}`], this.#ended.signal);
    }
    return this.#commits ?? [];
  }

  dispose(): void {
    this.#ended.abort();
  }
}

/** @param folder trusted @param hash hexadecimal, can be a prefix */
export function commitOf(folder: string, hash: string, signal: AbortSignal): Promise<readonly Commit[]> {
  return readCommits(folder, ['-1', `${hash}^{commit}`], signal);
}

export interface CommitText {
  readonly commit: Commit;
  /** Ends with a note if it is incomplete. */
  readonly text: string;
}

/**
 * Returns message and diff to the first parent; undefined if git fails.
 * @param folder trusted
 * @throws ParleyError as `runGit`
 */
export async function commitText(folder: string, hash: string): Promise<CommitText | undefined> {
  const args = ['-c', 'diff.relative=false', 'show', ...PLAIN, ...PATCH, '--root', '-m', '--first-parent'];
  const result = await runIn(folder, [...args, FIELDS + MESSAGE, hash, '--'], LIMITS);
  const printed = result?.stdout.toString('utf8') ?? '';
  const [commit] = commitsIn(printed);
  if (!result || !commit) return undefined;
  const { isCut, code } = result;
  // The last line may be cut within a character.
  const lines = isCut ? printed.slice(0, printed.lastIndexOf('\n')) : printed;
  const [message = '', ...diff] = lines.split('\0').slice(4);
  // In a shallow clone, git shows the first commit as adding all files.
  const isShallow = /^.*\n.*\nRefs: grafted/.test(message);
  const changes = isShallow ? '[no diff in a shallow clone]' : diff.join('\0').trim();
  const note = isCut ? `\n\n[cut after ${MAX_PATCH / 1024} KB]` : code === 0 ? '' : "\n\n[git can't read the rest]";
  return { commit, text: `${message.trim()}\n\n${changes}`.trim() + note };
}

/** The last subject may be cut. */
function commitsIn(output: string): readonly Commit[] {
  const fields = output.split('\0');
  const commits: Commit[] = [];
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [hash = '', author = '', seconds, subject = ''] = fields.slice(at, at + 4);
    commits.push({ hash, author, at: Number(seconds) * 1000, subject });
  }
  return commits;
}

async function readCommits(folder: string, which: readonly string[], signal: AbortSignal): Promise<readonly Commit[]> {
  const args = ['log', '-z', ...PLAIN, FIELDS, ...which, '--'];
  const result = await runIn(folder, args, { ...LIMITS, signal }).catch(() => undefined);
  return commitsIn(result?.stdout.toString('utf8') ?? '');
}

async function headStamp(folder: string): Promise<string | undefined> {
  const real = await realFolder(folder);
  const repository = real && (await findRepository(real));
  if (!repository) return undefined;
  const { gitDir, commonDir } = repository;
  const names = ['HEAD', 'packed-refs', 'shallow', 'reftable/tables.list', `refs/heads/${await branchOf(real)}`];
  const stamps = [gitDir, commonDir].flatMap((place) =>
    names.map((name) =>
      stat(`${place}/${name}`).then(
        ({ mtimeMs, ino }) => `${mtimeMs} ${ino}`,
        () => '',
      ),
    ),
  );
  return [gitDir, ...(await Promise.all(stamps))].join();
}
