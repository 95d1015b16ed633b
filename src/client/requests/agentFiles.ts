// Files that an agent reads and writes through this client (`fs/*` of protocol v1): access, order
// and responses.
import { isAbsolute } from 'node:path';
import * as z from 'zod/mini';
import { RPC_CODES, RpcError } from '../../acp/jsonrpc/rpcError';
import { pathOfFileAddress } from '../../acp/protocol/fileAddress';
import { readParams } from '../../acp/protocol/sessionWire';
import { messageOf, ParleyError } from '../../base/errors';
import { KeyedQueue } from '../../base/keyedQueue';
import { isWindowsFilePath } from '../../base/pathNames';
import type { FilePort } from '../ports/ports';
import type { AskFile, FileQuestion } from './fileQuestions';
import { GivenTexts } from './givenTexts';
import { isProtected } from './protectedPaths';
import { candidatePathsOf, isInsideRoots, realTarget } from './roots';
import { sliceLines } from './textEdit';

/** The user denied access. JSON-RPC leaves -32000 to -32099 to applications. */
export const ACCESS_REFUSED = -32003;

/** Readable paths outside the roots, remembered per session. */
const MAX_REMEMBERED = 1_000;

export interface AgentFilesOptions {
  readonly agentName: string;
  /** No user can answer, so requests that need consent are refused. */
  readonly refusesQuestions?: boolean;
  readonly missingFileReadsEmpty?: boolean;
}

const where = z.object({ sessionId: z.nullish(z.string()), path: z.string().check(z.minLength(1)) });
const readSchema = z.extend(where, {
  // The protocol counts from 1; 0 can only mean the first line.
  line: z.nullish(z.int().check(z.nonnegative())),
  limit: z.nullish(z.int().check(z.nonnegative())),
});
const writeSchema = z.extend(where, { content: z.string() });

export interface BeforeWriting {
  readonly ask: AskFile;
  /** Resolves when an allowed file may be written. Never rejects. */
  readonly beforeWrite: (path: string) => Promise<void>;
}

export class AgentFiles {
  readonly #port: FilePort;
  readonly #options: AgentFilesOptions;
  readonly #queue = new KeyedQueue<string>();
  readonly #readable = new Set<string>();
  readonly #given: GivenTexts;

  /** @param given belongs to the conversation, as a restarted agent still knows what it has read */
  constructor(port: FilePort, options: AgentFilesOptions, given = new GivenTexts()) {
    this.#port = port;
    this.#options = options;
    this.#given = given;
  }

  /**
   * `fs/read_text_file` (protocol section 1.2). `line` is 1-based; line ends are those of the file.
   * Requests for a path are answered in order. Outside the roots, asks the user once per file and
   * session.
   * @throws RpcError -32602 bad params, -32002 no such file, {@link ACCESS_REFUSED}, -32800
   * aborted, else -32603 with a sentence
   */
  async read(
    params: unknown,
    roots: readonly string[],
    ask: AskFile,
    signal: AbortSignal,
  ): Promise<{ content: string }> {
    const request = readParams(readSchema, params, 'fs/read_text_file');
    const path = absolute(request.path, roots);
    return this.#queue.run(path, async () => {
      const { target, inside } = await this.#permit(path, 'read', request.sessionId ?? '', roots, ask, signal);
      const key = keyOf(request, target);
      const line = request.line == null ? undefined : Math.max(1, request.line);
      try {
        const text = await this.#port.readText(path);
        const limit = request.limit ?? undefined;
        if (line === undefined && limit === undefined) this.#given.remember(key, text);
        else await this.#given.rememberLines(key, text, line ?? 1, limit);
        return { content: sliceLines(text, line, limit) };
      } catch (error) {
        const missing = error instanceof ParleyError && error.code === 'file-not-found';
        if (missing) this.#given.remember(key, '');
        // Outside the roots, an empty answer would be wrong.
        if (missing && inside && this.#options.missingFileReadsEmpty) return { content: '' };
        throw answerTo(error, path);
      }
    });
  }

  /**
   * `fs/write_text_file` (protocol section 1.2): writes a whole file and creates its folders. Asks
   * each time for a path outside the roots or a file that starts programs. Keeps what the user has
   * changed since the agent read the file; if both changed the same lines, refuses until the agent
   * reads again.
   * @throws RpcError as {@link read}
   */
  async write(
    params: unknown,
    roots: readonly string[],
    { ask, beforeWrite }: BeforeWriting,
    signal: AbortSignal,
  ): Promise<Record<string, never>> {
    const request = readParams(writeSchema, params, 'fs/write_text_file');
    const path = absolute(request.path, roots);
    return this.#queue.run(path, async () => {
      const { target } = await this.#permit(path, 'write', request.sessionId ?? '', roots, ask, signal);
      await beforeWrite(path);
      throwIfAborted(signal);
      try {
        const key = keyOf(request, target);
        await this.#port.writeText(path, request.content, this.#given.of(key));
        this.#given.remember(key, request.content);
      } catch (error) {
        throw answerTo(error, path);
      }
      return {};
    });
  }

  async #permit(
    path: string,
    access: 'read' | 'write',
    session: string,
    roots: readonly string[],
    ask: AskFile,
    signal: AbortSignal,
  ): Promise<{ readonly target: string; readonly inside: boolean }> {
    throwIfAborted(signal);
    const target = await realTarget(path).catch((error: unknown) => {
      throw answerTo(error, path);
    });
    const inside = await isInsideRoots(target, roots);
    const isRisky = access === 'write' && (await isProtected(path, target, roots));
    if (inside && !isRisky) return { target, inside };
    throwIfAborted(signal);
    const remembered = `${session}\0${target}`;
    if (access === 'read' && this.#readable.has(remembered)) return { target, inside: false };
    const { agentName, refusesQuestions } = this.#options;
    const reason: FileQuestion['reason'] = isRisky ? 'protected' : 'outside';
    const allowed = !refusesQuestions && (await ask({ path: target, access, reason, agentName }, signal));
    throwIfAborted(signal);
    if (!allowed) {
      const why = isRisky ? 'can start programs' : "is outside of the session's folders";
      const sentence = `The user did not allow to ${access} ${path}, which ${why}.`;
      throw new RpcError(ACCESS_REFUSED, sentence, { path });
    }
    // Write permission includes reading, but not vice versa.
    if (this.#readable.size < MAX_REMEMBERED) this.#readable.add(remembered);
    return { target, inside };
  }
}

function keyOf({ sessionId }: { readonly sessionId?: string | null | undefined }, target: string): string {
  return `${sessionId ?? ''}\0${target}`;
}

function absolute(text: string, roots: readonly string[]): string {
  const path = pathOfFileAddress(text);
  if (path.includes('\0')) throw new RpcError(RPC_CODES.invalidParams, 'A path cannot contain a zero character.');
  if (!isAbsolute(path)) throw new RpcError(RPC_CODES.invalidParams, `Not an absolute path: ${path}`, { path });
  const [place] = candidatePathsOf(path, roots);
  if (place !== undefined) return place;
  if (!isWindowsFilePath(path))
    throw new RpcError(RPC_CODES.invalidParams, `Not a path of a file on Windows: ${path}`, { path });
  const sentence = `${path} is on a network share outside of the session's folders.`;
  throw new RpcError(ACCESS_REFUSED, sentence, { path });
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new RpcError(RPC_CODES.cancelled, 'The request was cancelled.');
}

function answerTo(error: unknown, path: string): RpcError {
  if (error instanceof RpcError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  if (code === 'file-not-found') return new RpcError(RPC_CODES.resourceNotFound, `There is no file ${path}.`, { path });
  const sentences = new Map([
    ['EACCES', `${path} may not be looked up: permission denied.`],
    ['ELOOP', `${path} cannot be followed: its links go in a circle.`],
    ['ENOTDIR', `${path} leads through a file, not a folder.`],
    ['ENAMETOOLONG', `The path is too long: ${path.slice(0, 200)}…`],
  ]);
  const sentence = (code && sentences.get(code)) ?? messageOf(error);
  return new RpcError(RPC_CODES.internal, sentence, { path, code });
}
