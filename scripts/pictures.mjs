// Takes the pictures for README and walkthrough (into media) and of each theme (out/screenshots) in
// VS Code: `node scripts/pictures.mjs [part of a path …]`.
import { runPackaged } from './lib/packagedSuites.mjs';

await runPackaged([{ folder: 'test/pictures' }]);
