// The transcripts that real agents are held to (test/golden/agents). One file serves all versions
// of the protocol that an agent speaks:
// a line begins with two characters: two spaces for every version, `1 ` or `2 ` for that version
// alone, `# ` for a word on why they differ.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Golden {
  /** The lines that a version has to come to. */
  readonly lines: readonly string[];
  /** How many of them are of this version alone. */
  readonly own: number;
}

/**
 * Reads what a version of the protocol has to come to.
 * @throws Error for a line without its two characters
 */
export function goldenTranscript(agent: string, protocol: 1 | 2): Golden {
  const path = join(process.cwd(), `test/golden/agents/${agent}.txt`);
  const marked = readFileSync(path, 'utf8').trimEnd().split('\n');
  const stray = marked.find((line) => !/^(?: {2}|[12#] )/.test(line));
  if (stray !== undefined) throw new Error(`${path}: no mark before “${stray}”`);
  const ofVersion = marked.filter((line) => line.startsWith('  ') || line.startsWith(`${protocol} `));
  return {
    lines: ofVersion.map((line) => line.slice(2)),
    own: ofVersion.filter((line) => !line.startsWith('  ')).length,
  };
}
