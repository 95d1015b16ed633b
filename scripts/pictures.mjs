// The pictures for people, taken of the packaged VSIX in VS Code: those of the README and the
// walkthrough into media, and the looks in each theme into out/screenshots.
// `node scripts/pictures.mjs [part of a path …]`.
import { runPackaged } from './lib/packagedSuites.mjs';

await runPackaged([{ folder: 'test/pictures' }]);
