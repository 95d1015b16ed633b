// Bundles what ships: the host half, the webview and the demo agent. `--dev` keeps names and source
// maps, `--watch` builds again on each change.
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reexec, root } from './lib/node24.mjs';

/** The licences of bundled packages. */
const NOTICES = 'dist/ThirdPartyNotices.txt';

/**
 * Everything that is bundled for the VSIX, without plugins: what ships of a package is what its
 * files say.
 */
export function bundles({ dev }) {
  const common = {
    absWorkingDir: root,
    bundle: true,
    metafile: true,
    logLevel: 'warning',
    minify: !dev,
    sourcemap: dev ? 'linked' : false,
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': JSON.stringify(dev ? 'development' : 'production') },
  };
  // ESM first: the CommonJS builds of some packages (zod, diff) are larger and cannot be shaken.
  const node = {
    ...common,
    // zod looks for it to find out where it runs, and VS Code logs an error for an extension that
    // does.
    define: { ...common.define, navigator: 'undefined' },
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    external: ['vscode'],
    mainFields: ['module', 'main'],
  };
  const browser = {
    ...common,
    platform: 'browser',
    format: 'esm',
    target: 'chrome120',
    // Selectors as browsers match them fastest.
    supported: { nesting: false },
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.ttf': 'file', '.svg': 'file', '.woff2': 'file' },
    assetNames: '[name]',
    outdir: 'dist/webview',
  };
  return [
    // The product is read when something is first asked of it (src/extension.ts).
    { ...node, entryPoints: ['src/extension.ts'], outfile: 'dist/extension.js' },
    { ...node, entryPoints: ['src/workbench/product.ts'], outfile: 'dist/workbench/product.js' },
    { ...node, entryPoints: ['src/workbench/activation/compiler.ts'], outfile: 'dist/workbench/compiler.js' },
    // The MCP server that agents start.
    { ...node, entryPoints: ['src/editorTools/relay.ts'], outfile: 'dist/editorTools.js' },
    { ...node, entryPoints: ['src/demo/agent.ts'], outfile: 'dist/demo/agent.js' },
    // A separate program: it outlives the window and the version that started it.
    { ...node, entryPoints: ['src/keeper/program.ts'], outfile: 'dist/keeper.js' },
    // The first picture comes before the panel's script (src/webview/early.ts); both stand in the
    // page.
    {
      ...browser,
      format: 'iife',
      entryPoints: { main: 'src/webview/main.tsx' },
      banner: { js: 'parleyBegin(()=>{' },
      footer: { js: '});' },
    },
    { ...browser, format: 'iife', entryPoints: { early: 'src/webview/early.ts' } },
    { ...browser, entryPoints: { shell: 'src/webview/shell.html' }, loader: { '.html': 'copy' } },
    // Loaded when the first code is shown.
    { ...browser, entryPoints: { highlighter: 'src/webview/markdown/highlighter.ts' } },
    // Loaded when the first formula is drawn.
    {
      ...browser,
      entryPoints: { math: 'src/webview/markdown/mathPart.ts' },
      // The styles inside of formulas are in the script.
      loader: { ...browser.loader, '.css': 'text' },
    },
    // Loaded when the first diagram is drawn; Mermaid, as text for the frame that draws, as
    // published.
    {
      ...browser,
      entryPoints: { diagrams: 'src/webview/diagram/diagrams.ts' },
      loader: { ...browser.loader, '.css': 'text' },
    },
    {
      ...browser,
      entryPoints: { mermaid: 'node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js' },
      loader: { '.js': 'text' },
    },
    { ...browser, format: 'iife', entryPoints: { diagramFrame: 'src/webview/diagram/diagramFrame.ts' } },
    // A separate page.
    { ...browser, entryPoints: { traffic: 'src/webview/traffic/trafficPage.ts' } },
  ];
}

/** Builds once. @returns the size in bytes of each output, by path */
export async function build({ dev = false } = {}) {
  const { build: esbuild } = await import('esbuild');
  await mkdir(join(root, 'dist'), { recursive: true });
  const results = await Promise.all(bundles({ dev }).map((options) => esbuild(options)));
  const sizes = Object.assign(
    {},
    ...results.map(({ metafile }) =>
      Object.fromEntries(Object.entries(metafile.outputs).map(([path, { bytes }]) => [path, bytes])),
    ),
  );
  const { noticesOf } = await import('./lib/notices.ts');
  const notices = await noticesOf(
    results.map(({ metafile }) => metafile),
    root,
  );
  await writeFile(join(root, NOTICES), notices);
  sizes[NOTICES] = Buffer.byteLength(notices);
  await removeStale(new Set(Object.keys(sizes).map((path) => resolve(root, path))));
  return sizes;
}

/** Chunks carry a hash in their name: what an earlier build left must not get into the package. */
async function removeStale(keep) {
  for (const file of await readdir(join(root, 'dist'), { recursive: true, withFileTypes: true })) {
    const path = join(file.parentPath, file.name);
    if (file.isFile() && !file.name.endsWith('.vsix') && !keep.has(path)) await rm(path, { force: true });
  }
}

async function watch() {
  const { context } = await import('esbuild');
  for (const options of bundles({ dev: true })) {
    await (await context({ ...options, logLevel: 'info' })).watch();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !(await reexec(process.argv[1], process.argv.slice(2)))) {
  if (process.argv.includes('--watch')) await watch();
  else {
    const sizes = await build({ dev: process.argv.includes('--dev') });
    for (const [path, bytes] of Object.entries(sizes)) {
      if (!path.endsWith('.map')) {
        process.stdout.write(`${relative('.', path).padEnd(44)} ${(bytes / 1000).toFixed(1)} kB\n`);
      }
    }
  }
}
