// Patches without context, and git that applies them.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LineHunk } from '../../../src/base/lineHunks';

/** The lines of a content with their ends, a character for a byte. */
export function linesOf(content: Buffer): readonly string[] {
  return content.toString('latin1').match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/**
 * A patch of some hunks between two contents.
 * @param way `make`: for the first content. `take`: for the second one, to be applied in reverse
 */
export function patchOf(a: Buffer, b: Buffer, chosen: readonly LineHunk[], way: 'make' | 'take'): Buffer {
  const [old, fresh] = [linesOf(a), linesOf(b)];
  let patch = 'diff --git a/f b/f\n--- a/f\n+++ b/f\n';
  let shift = 0;
  for (const { aStart, aCount, bStart, bCount } of chosen) {
    const [from, to] = way === 'make' ? [aStart, aStart + shift] : [bStart - shift, bStart];
    shift += bCount - aCount;
    patch += `@@ -${numbers(from, aCount)} +${numbers(to, bCount)} @@\n`;
    patch += marked('-', old.slice(aStart, aStart + aCount)) + marked('+', fresh.slice(bStart, bStart + bCount));
  }
  return Buffer.from(patch, 'latin1');
}

export function gitApply(folder: string, content: Buffer, patch: Buffer, ...options: readonly string[]): Buffer {
  writeFileSync(join(folder, 'f'), content);
  const args = ['apply', '--unidiff-zero', '--whitespace=nowarn', ...options, '-'];
  const env = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  execFileSync('git', args, { cwd: folder, input: patch, stdio: ['pipe', 'pipe', 'pipe'], env });
  return readFileSync(join(folder, 'f'));
}

function numbers(start: number, count: number): string {
  return `${count === 0 ? start : start + 1},${count}`;
}

function marked(sign: string, lines: readonly string[]): string {
  return lines.map((line) => `${sign}${line}${line.endsWith('\n') ? '' : '\n\\ No newline at end of file\n'}`).join('');
}
