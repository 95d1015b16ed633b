// Bundles what ships: the host half, the webview and the demo agent. `--dev` keeps names and source maps, `--watch` builds again on each change.
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { leftOut } from './lib/leftOut.mjs';
import { reexec, root } from './lib/node24.mjs';

/** The licences of what is bundled. */
const NOTICES = 'dist/ThirdPartyNotices.txt';

/** Bytes of a bundle that is worth the seconds of a second minifier. */
const LARGE_BUNDLE = 9_000;

/** The icons of the panel, each with its character. */
const ICONS = 'src/webview/styles/icons.css';

/** Which texts the panel and the tools' pages show: they get these translations and no others. */
const PAGE_TEXTS = 'dist/webview/texts.json';
const TOOL_TEXTS = 'dist/webview/tool-texts.json';

/** The font of icons with the outlines of those that the panel uses: a tenth of its bytes. */
const usedIcons = {
  name: 'used icons',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]codicon\.ttf$/ }, async ({ path }) => {
      const { subsetFont } = await import('./lib/subsetFont.ts');
      const css = await readFile(join(root, ICONS), 'utf8');
      const codePoints = [...css.matchAll(/content: "\\([0-9a-f]+)"/g)].map(([, code]) => Number.parseInt(code, 16));
      return {
        contents: subsetFont(await readFile(path), new Set(codePoints)),
        loader: 'file',
        watchFiles: [join(root, ICONS)],
      };
    });
  },
};

/** Styles that stand in a script, without comments and spaces. */
const stylesInScripts = {
  name: 'styles in scripts',
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { transform } = await import('esbuild');
      const { code } = await transform(await readFile(path, 'utf8'), { loader: 'css', minify: true });
      return { contents: code.trim(), loader: 'text' };
    });
  },
};

/** Everything that is bundled for the VSIX; an entry that does not exist is left out. */
export function bundles({ dev }) {
  const common = {
    absWorkingDir: root,
    bundle: true,
    metafile: true,
    logLevel: 'warning',
    minify: !dev,
    sourcemap: dev ? 'linked' : false,
    legalComments: 'none',
    plugins: [leftOut],
    define: { 'process.env.NODE_ENV': JSON.stringify(dev ? 'development' : 'production') },
  };
  // ESM first: the CommonJS builds of some packages (zod, diff) are larger and cannot be shaken.
  const node = {
    ...common,
    // zod looks for it to find out where it runs, and VS Code logs an error for an extension that does.
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
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.ttf': 'file', '.svg': 'file', '.woff2': 'file' },
    assetNames: '[name]',
    outdir: 'dist/webview',
    plugins: [leftOut, usedIcons],
  };
  const inScript = [...browser.plugins, stylesInScripts];
  return [
    // The product is read when something is first asked of it (src/extension.ts).
    { ...node, entryPoints: ['src/extension.ts'], outfile: 'dist/extension.js' },
    { ...node, entryPoints: ['src/workbench/product.ts'], outfile: 'dist/workbench/product.js' },
    { ...node, entryPoints: ['src/workbench/activation/compiler.ts'], outfile: 'dist/workbench/compiler.js' },
    // The MCP server that agents start.
    { ...node, entryPoints: ['src/editorTools/relay.ts'], outfile: 'dist/editorTools.js' },
    { ...node, entryPoints: ['src/demo/agent.ts'], outfile: 'dist/demo/agent.js' },
    // A program of its own, which outlives the window and the version that started it.
    { ...node, entryPoints: ['src/keeper/program.ts'], outfile: 'dist/keeper.js' },
    // The first picture comes before the panel's script (src/webview/early.ts); both stand in the page.
    {
      ...browser,
      format: 'iife',
      entryPoints: { main: 'src/webview/main.tsx' },
      banner: { js: 'parleyBegin(()=>{' },
      footer: { js: '});' },
    },
    { ...browser, format: 'iife', entryPoints: { early: 'src/webview/early.ts' } },
    { ...browser, entryPoints: { shell: 'src/webview/shell.html' }, loader: { '.html': 'copy' } },
    // Loaded when the first files have changed.
    { ...browser, entryPoints: { changes: 'src/webview/changes/changesPart.ts' }, plugins: inScript },
    // Loaded when a subagent has made its first call.
    { ...browser, entryPoints: { nested: 'src/webview/nested/nestedPart.ts' }, plugins: inScript },
    // Loaded when something is searched for.
    { ...browser, entryPoints: { find: 'src/webview/find/findPart.ts' }, plugins: inScript },
    // Loaded when it is first opened.
    { ...browser, entryPoints: { timeline: 'src/webview/timeline/timelinePart.ts' }, plugins: inScript },
    // Loaded when a session went on while nobody looked.
    { ...browser, entryPoints: { away: 'src/webview/away/awayPart.ts' }, plugins: inScript },
    // Loaded when the first code is shown.
    { ...browser, entryPoints: { highlighter: 'src/webview/markdown/highlighter.ts' } },
    // Loaded when the first formula is drawn, also by the host: its name tells Node what it is.
    {
      ...browser,
      entryPoints: { math: 'src/webview/markdown/mathPart.ts' },
      plugins: inScript,
      outExtension: { '.js': '.mjs' },
    },
    // Pages of their own: the traffic inspector, and a diagram with the script of the frame in it.
    {
      ...browser,
      splitting: true,
      chunkNames: 'tools-[hash]',
      entryPoints: { traffic: 'src/webview/traffic/trafficPage.ts', diagram: 'src/webview/diagram/diagramPage.ts' },
    },
    { ...browser, format: 'iife', entryPoints: { diagramFrame: 'src/webview/diagram/diagramFrame.ts' } },
  ].filter((options) => Object.values(options.entryPoints).every((entry) => existsSync(join(root, entry))));
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
  if (!dev) Object.assign(sizes, await shrink(results.map(({ metafile }) => metafile)));
  const { noticesOf } = await import('./lib/notices.ts');
  const notices = await noticesOf(
    results.map(({ metafile }) => metafile),
    root,
  );
  await writeFile(join(root, NOTICES), notices);
  sizes[NOTICES] = Buffer.byteLength(notices);
  const ofPages = results
    .map(({ metafile }) => metafile)
    .filter(({ outputs }) => Object.keys(outputs).some((path) => path.startsWith('dist/webview/')));
  const isTool = ({ outputs }) => Object.keys(outputs).some((path) => path.endsWith('/traffic.js'));
  for (const [file, metafiles] of [
    [PAGE_TEXTS, ofPages.filter((one) => !isTool(one))],
    [TOOL_TEXTS, ofPages.filter(isTool)],
  ]) {
    const texts = JSON.stringify(await positionsOf(await textsOf(metafiles)));
    await writeFile(join(root, file), texts);
    sizes[file] = Buffer.byteLength(texts);
  }
  await removeStale(new Set(Object.keys(sizes).map((path) => resolve(root, path))));
  return sizes;
}

/** Takes what esbuild leaves in the larger bundles: 25 KB of the package. @returns their sizes in bytes, by path */
async function shrink(metafiles) {
  const { minify } = await import('terser');
  const { buildCacheOf } = await import('./lib/buildCache.mts');
  const sizes = {};
  for (const { outputs } of metafiles) {
    for (const [path, { bytes, exports }] of Object.entries(outputs)) {
      if (!/\.m?js$/.test(path) || bytes < LARGE_BUNDLE) continue;
      const code = await readFile(join(root, path), 'utf8');
      const module = exports.length > 0;
      const settings = {
        ecma: 2022,
        module,
        toplevel: true,
        // Statements with semicolons repeat each other more than sequences do: smaller once packed.
        compress: { passes: 4, sequences: false, unsafe_arrows: true, unsafe_methods: true, unsafe_undefined: true },
        // Text beyond Latin-1 would have the engine keep the whole bundle with two bytes per character.
        format: { comments: false, ascii_only: true },
      };
      const cache = buildCacheOf(process.env.PARLEY_CACHE ?? join(root, '.cache'), root, 'terser', settings);
      const small = await cache.of(code, async () => Buffer.from((await minify(code, settings)).code));
      await writeFile(join(root, path), small);
      sizes[path] = small.length;
    }
  }
  return sizes;
}

/** @returns the keys of the texts that stand in the sources of bundles */
export async function textsOf(metafiles) {
  const inputs = metafiles.flatMap((metafile) => Object.keys(metafile.inputs));
  const paths = [...new Set(inputs)].filter((path) => path.startsWith('src/'));
  const sources = await Promise.all(paths.map((path) => readFile(join(root, path), 'utf8')));
  const source = sources.join('\n');
  const keys = Object.keys(JSON.parse(await readFile(join(root, 'l10n/bundle.l10n.json'), 'utf8')));
  return keys.filter((key) => source.includes(`'${key}'`) || source.includes(`"${key}"`));
}

/** @returns where texts stand in each bundle of translations (src/base/pageTexts.ts): all have the same keys in the same order */
async function positionsOf(texts) {
  const keys = Object.keys(JSON.parse(await readFile(join(root, 'l10n/bundle.l10n.json'), 'utf8')));
  const positions = texts.map((text) => keys.indexOf(text));
  return { of: keys.length, steps: positions.map((position, index) => position - (positions[index - 1] ?? 0)) };
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
