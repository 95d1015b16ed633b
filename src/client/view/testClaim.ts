// Holds what an agent says of tests at the end of a turn against what happened in it: it says that they
// pass, and the last command that ran tests failed, or files changed after it. Says nothing where
// anything else may have run tests since, or where it is not certain what was said.
import { isAbsolute, relative } from 'node:path';
import { oneLine } from '../../base/text';
import type { TestClaimView } from '../../panel/contract';
import type { Entry, MessageEntry, SessionState, ToolEntry } from '../../session/model/state';
import { commandLineOf, terminalOf } from './commandOf';

/** Entries of a turn that are looked at, from its end. */
const MAX_ENTRIES = 2000;
/** Characters of the last message that are looked at, from its end. */
const MAX_TEXT = 4000;
/** Characters of a command. */
const MAX_COMMAND = 80;

/** Tests in general: "the parser tests pass" may be true where others fail. */
const SAYS = [
  /(?:^|[,:\u2014\u2013]\s*|\b(?:and|now|so|that)\s+)(?:all\s+)?(?:of\s+)?(?:the\s+)?(?:\d+\s+)?tests\s+(?:(?:now|all|still)\s+)*(?:pass(?:ed)?|succeed(?:ed)?|are\s+(?:(?:now|all)\s+)*(?:passing|green))$/i,
  /(?:^|[,:\u2014\u2013]\s*|\b(?:und|jetzt|dass)\s+)(?:alle\s+)?(?:die\s+)?(?:\d+\s+)?tests\s+(?:(?:jetzt|nun|alle|wieder)\s+)*(?:bestehen|laufen\s+(?:(?:jetzt|wieder|alle)\s+)*durch|sind\s+(?:(?:jetzt|wieder|alle)\s+)*gr\u00fcn)$/i,
];
/** Words of messages that say more of tests than that. */
const DOUBTS =
  /\b(?:fail\w*|not|\w+n['\u2019]t|un\w*related|pre-?existing|flak\w*|skip\w*|except|but|if|once|until|when|whether|should|would|could|will|expect\w*|fehl\w*|nicht|kein\w*|au\u00dfer|aber|wenn|sobald|bis|falls|ob|sollt\w*|w\u00fcrd\w*|werden)\b/i;

/** Programs that run tests, at the beginning of a command. */
const RUNS_TESTS =
  /^(?:(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:test|t)(?::[\w:-]+)?|(?:npx|bunx|pnpm\s+exec|yarn)\s+(?:jest|vitest|mocha|ava|playwright\s+test)|jest|vitest|mocha|(?:python3?\s+-m\s+)?pytest|python3?\s+-m\s+unittest|go\s+test|cargo\s+(?:nextest\s+run|test)|dotnet\s+test|(?:mvn|\.\/mvnw)\s+test|(?:gradle|\.\/gradlew)\s+test|make\s+(?:test|check)|ctest|(?:bundle\s+exec\s+)?rspec|phpunit|deno\s+test|mix\s+test|swift\s+test|node\s+--test)(?=\s|$)/;
/** Commands that run nothing of the project. */
const HARMLESS =
  /^(?:git\s+(?:status|diff|log|show|add|commit|branch|rev-parse)|ls|cat|head|tail|grep|rg|find|wc|echo|pwd|which|tree|stat)(?=\s|$)/;
/** What makes an exit code that of something else. */
const COMPOUND = /[|;&\n`]|\$\(/;
/** Calls after which tests are as they were. */
const QUIET_KINDS: ReadonlySet<string> = new Set(['read', 'search', 'think', 'fetch']);
const CHANGING_KINDS: ReadonlySet<string> = new Set(['edit', 'delete', 'move']);
/** Files that no test depends on. */
const PROSE = /\.(?:md|mdx|markdown|txt|rst|adoc)$/i;

/**
 * Returns what speaks against the last words of a turn; undefined where nothing is known to.
 * @param end where the end of the turn stands among the entries
 * @param roots folders of the session, absolute
 */
export function testClaim(
  state: Readonly<SessionState>,
  end: number,
  turnId: string,
  roots: readonly string[],
): TestClaimView | undefined {
  const files = new Set<string>();
  let hasSaid = false;
  const first = Math.max(0, end - MAX_ENTRIES);
  for (let index = end - 1; index >= first; index--) {
    const entry = state.entries[index];
    if (entry?.turnId !== turnId) return undefined;
    if (entry.kind === 'agent' && entry.parent === undefined && !hasSaid) {
      if (!saysThatTestsPass(entry)) return undefined;
      hasSaid = true;
    } else if (entry.kind === 'tool') {
      // What is said before a call is not about it.
      if (!hasSaid) return undefined;
      const run = testRun(entry, state);
      if (run) return verdict(run, files);
      if (!isKnown(entry, state)) return undefined;
      for (const path of changedFiles(entry, roots)) files.add(path);
    } else if (isOther(entry)) return undefined;
  }
  return undefined;
}

interface TestRun {
  readonly command: string;
  readonly exitCode: number;
}

function verdict({ command, exitCode }: TestRun, { size }: ReadonlySet<string>): TestClaimView | undefined {
  if (exitCode === 0 && size === 0) return undefined;
  return { command: oneLine(command, MAX_COMMAND), exitCode, files: size };
}

/** Errors, gaps and messages of the user: the turn is not as it should be. */
function isOther({ kind }: Entry): boolean {
  return kind === 'user' || kind === 'gap' || kind === 'error' || kind === 'turn_end';
}

function saysThatTestsPass({ content, dropped }: MessageEntry): boolean {
  if (dropped > 0) return false;
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const words = text
    .replace(/(```|~~~)[\s\S]*?(?:\1|$)/g, '\n')
    .slice(-MAX_TEXT)
    .replace(/^(?:\s*>| {4}|\t).*$/gm, '')
    .replace(/`[^`\n]*`/g, 'CODE')
    .replace(/[*_]{1,3}/g, '');
  if (DOUBTS.test(words)) return false;
  return words
    .split(/[.!\n;()]+/)
    .map((sentence) => sentence.replace(/^[\s\-\u2022\u2705\u2713\u2714#\d.]+/u, '').trim())
    .some((sentence) => SAYS.some((says) => says.test(sentence)));
}

/** A command that ran tests and nothing else, and has ended. */
function testRun(entry: ToolEntry, state: Readonly<SessionState>): TestRun | undefined {
  const command = simpleCommand(entry, state);
  const exitCode = terminalOf(entry, state)?.exit?.exitCode;
  if (command === undefined || exitCode === undefined || !RUNS_TESTS.test(command)) return undefined;
  return { command, exitCode };
}

/** Whether a call can have run no tests. */
function isKnown(entry: ToolEntry, state: Readonly<SessionState>): boolean {
  if (entry.subagentId !== undefined) return false;
  if (QUIET_KINDS.has(entry.toolKind)) return true;
  if (CHANGING_KINDS.has(entry.toolKind)) return true;
  const command = entry.toolKind === 'execute' ? simpleCommand(entry, state) : undefined;
  return command !== undefined && HARMLESS.test(command);
}

/** A command without others around it, after it has gone to a folder; undefined where it is not so. */
function simpleCommand(entry: ToolEntry, state: Readonly<SessionState>): string | undefined {
  const line = commandLineOf(entry, state)
    ?.trim()
    .replace(/^cd\s+(?:[\w./~-]+|'[^'\n]*'|"[^"\n$`]*")\s*&&\s*/, '')
    .replace(/^(?:[A-Z_][A-Z0-9_]*=[\w./:-]*\s+)+/, '')
    .replace(/\s+2>&1$/, '');
  return line === undefined || COMPOUND.test(line) ? undefined : line;
}

function changedFiles(entry: ToolEntry, roots: readonly string[]): readonly string[] {
  if (!CHANGING_KINDS.has(entry.toolKind) || entry.status !== 'completed') return [];
  const paths = entry.content.flatMap((part) => (part.type === 'diff' ? [part.path] : []));
  return paths.filter((path) => !PROSE.test(path) && roots.some((root) => isWithin(path, root)));
}

function isWithin(path: string, root: string): boolean {
  const way = relative(root, path);
  return way !== '' && !way.startsWith('..') && !isAbsolute(way);
}
