// The files of src and of the tests, for the tests that look at the source itself.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export interface Source {
  /** Relative to the folder that was asked for, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** Returns the files of a folder of the repository. */
export function sources(folder = 'src', names = /\.tsx?$/): readonly Source[] {
  const root = join(process.cwd(), folder);
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && names.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((file) => ({ path: relative(root, file).replaceAll('\\', '/'), text: readFileSync(file, 'utf8') }));
}
