// Mermaid, which draws diagrams: three times as large as Parley, so it is downloaded.
import type { PackageFile } from './keptFile';

/** Mermaid without mind maps, architecture diagrams and formulas; it has no dependencies. */
export const MERMAID_FILE: PackageFile = {
  name: '@mermaid-js/tiny',
  version: '12.0.0',
  path: 'package/dist/mermaid.tiny.js',
  sha256: '9f2807e402479d2864bfd9a95052076fc69d0ff45a0b25148b84b70fc33425b9',
  bytes: 786_663,
};
