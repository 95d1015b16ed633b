// The files of src, for the tests that look at the source itself.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export interface Source {
  /** Relative to `src`, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** All TypeScript files of src. */
export function sources(): readonly Source[] {
  const root = join(process.cwd(), 'src');
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((file) => ({ path: relative(root, file).replaceAll('\\', '/'), text: readFileSync(file, 'utf8') }));
}
