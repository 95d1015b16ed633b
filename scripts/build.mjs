// Bundles what ships: extension, webview, demo agent. `--dev` keeps names and source maps,
// `--watch` rebuilds on changes.
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reexec, root } from './lib/node24.mjs';

const NOTICES = 'dist/ThirdPartyNotices.txt';

/** Returns all bundles of the VSIX. No plugins, so that published packages ship unmodified. */
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
  // ESM first: CommonJS builds of some packages (zod, diff) are larger and can't be tree-shaken.
  const node = {
    ...common,
    // zod uses it to detect its platform, and VS Code logs an error for extensions that access it.
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
    // Flat selectors match fastest.
    supported: { nesting: false },
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.ttf': 'file', '.svg': 'file', '.woff2': 'file' },
    assetNames: '[name]',
    outdir: 'dist/webview',
  };
  return [
    // The rest of the extension is loaded on first use (src/extension.ts).
    { ...node, entryPoints: ['src/extension.ts'], outfile: 'dist/extension.js' },
    { ...node, entryPoints: ['src/workbench/product.ts'], outfile: 'dist/workbench/product.js' },
    { ...node, entryPoints: ['src/workbench/activation/compiler.ts'], outfile: 'dist/workbench/compiler.js' },
    { ...node, entryPoints: ['src/editorTools/relay.ts'], outfile: 'dist/editorTools.js' },
    { ...node, entryPoints: ['src/demo/agent.ts'], outfile: 'dist/demo/agent.js' },
    // A separate program that outlives the window and the version that started it.
    { ...node, entryPoints: ['src/keeper/program.ts'], outfile: 'dist/keeper.js' },
    // Both are inlined: the first paint precedes the panel's script (src/webview/early.ts).
    {
      ...browser,
      sourcemap: dev && 'inline',
      format: 'iife',
      entryPoints: { main: 'src/webview/main.tsx' },
      banner: { js: 'parleyBegin(()=>{' },
      footer: { js: '});' },
    },
    { ...browser, sourcemap: dev && 'inline', format: 'iife', entryPoints: { early: 'src/webview/early.ts' } },
    { ...browser, entryPoints: { shell: 'src/webview/shell.html' }, loader: { '.html': 'copy' } },
    // Loaded with the first code block.
    { ...browser, entryPoints: { highlighter: 'src/webview/markdown/highlighter.ts' } },
    // Loaded with the first formula.
    {
      ...browser,
      entryPoints: { math: 'src/webview/markdown/mathPart.ts' },
      // Styles inside formulas are part of the script.
      loader: { ...browser.loader, '.css': 'text' },
    },
    // Loaded with the first diagram. Mermaid as published, as text for the frame that draws.
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
    { ...browser, entryPoints: { traffic: 'src/webview/traffic/trafficPage.ts' } },
  ];
}

/** Builds once. @returns output sizes in bytes by path */
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

/** Removes outdated chunks, whose names contain hashes, so that they are not packaged. */
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
