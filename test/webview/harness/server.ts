// Serves the built panel from loopback with a fake host, under the content security policy of the
// real host.
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { frameTemplate, pagePolicy } from '../../../src/base/pagePolicy';
import { type Language, textsIn } from './texts';

const HERE = 'test/webview/harness';
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
  '.ttf': 'font/ttf',
};
/** The keys of the page's texts, as in what ships. */
const TEXTS = 'texts.json';
const NONCE = 'bm9uY2U';

export type Theme = 'dark' | 'light' | 'hc' | 'hclight' | 'solarizedDark' | 'solarizedLight';

const BODY_CLASS: Readonly<Record<Theme, string>> = {
  dark: 'vscode-dark',
  light: 'vscode-light',
  hc: 'vscode-high-contrast',
  hclight: 'vscode-high-contrast vscode-high-contrast-light',
  solarizedDark: 'vscode-dark',
  solarizedLight: 'vscode-light',
};

/** Builds the webview as shipped and `parts.js` with its internals for tests. */
export async function buildPanel(outdir: string): Promise<void> {
  const script = pathToFileURL(join(process.cwd(), 'scripts/build.mjs')).href;
  const { bundles, textsOf } = (await import(script)) as {
    bundles(options: { dev: boolean }): readonly BuildOptions[];
    textsOf(metafiles: readonly Metafile[]): Promise<readonly string[]>;
  };
  const files = bundles({ dev: false }).filter(({ platform }) => platform === 'browser');
  if (files.length === 0) throw new Error('scripts/build.mjs has no bundle for the browser');
  const parts = join(outdir, 'parts');
  const metafiles: Metafile[] = [];
  for (const file of files) {
    const isMain = 'main' in (file.entryPoints as Record<string, string>);
    const { metafile } = await build({ ...file, outdir });
    if (metafile) metafiles.push(metafile);
    await build({ ...file, outdir: parts, ...(isMain && { entryPoints: { parts: `${HERE}/parts.ts` } }) });
  }
  await writeFile(join(outdir, TEXTS), JSON.stringify(await textsOf(metafiles)));
}

export type Tool = 'traffic' | 'diagram';

export type PageStorage = 'sessionStorage' | 'localStorage';

export interface PanelServer {
  /** Returns an address of the panel. @param clear what the page clears before it starts */
  url(theme: Theme, language?: Language, clear?: readonly PageStorage[]): string;
  readonly partsUrl: string;
  /** Returns an address of a tool's page: the traffic inspector, or a diagram. */
  toolUrl(tool: Tool, theme: Theme, language?: Language): string;
  close(): Promise<void>;
}

/** Starts on a free loopback port. */
export async function servePanel(outdir = join(tmpdir(), `parley-webview-${process.pid}`)): Promise<PanelServer> {
  await buildPanel(outdir);
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://host');
    void answer(url, outdir).then(
      ({ body, type, csp }) => {
        response.setHeader('Content-Type', type);
        if (csp) response.setHeader('Content-Security-Policy', csp);
        // Chromium keeps what it compiled of a script only for scripts in its cache.
        else response.setHeader('Cache-Control', 'max-age=3600');
        response.end(body);
      },
      () => {
        response.statusCode = 404;
        response.end();
      },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: (theme, language = 'en', clear = []) =>
      `${origin}/?${new URLSearchParams([['theme', theme], ['language', language], ...clear.map((name) => ['clear', name])])}`,
    partsUrl: `${origin}/parts`,
    toolUrl: (tool, theme, language = 'en') => `${origin}/${tool}?${new URLSearchParams({ theme, language })}`,
    close: () => closeServer(server),
  };
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

interface Answer {
  readonly body: string | Buffer;
  readonly type: string;
  readonly csp?: string;
}

async function answer(url: URL, outdir: string): Promise<Answer> {
  const { pathname } = url;
  if (/^\/(?:|parts|traffic|diagram)$/.test(pathname)) {
    const theme = (url.searchParams.get('theme') ?? 'dark') as Theme;
    const language = (url.searchParams.get('language') ?? 'en') as Language;
    return {
      body: await pageOf(theme, language, pathname, outdir),
      type: 'text/html; charset=utf-8',
      // `'self'` stands in for VS Code's webview source.
      csp: pagePolicy("'self'", NONCE, pathname === '/diagram'),
    };
  }
  const file = pathname.startsWith('/harness/') ? join(HERE, pathname.slice(9)) : join(outdir, pathname);
  return { body: await readFile(file), type: TYPES[extname(file)] ?? 'application/octet-stream' };
}

/** The translations that the host hands to the page, as JSON. */
async function pageTexts(language: Language, outdir: string): Promise<string | undefined> {
  const bundle = textsIn(language);
  if (bundle === undefined) return undefined;
  const keys = JSON.parse(await readFile(join(outdir, TEXTS), 'utf8')) as readonly string[];
  return JSON.stringify(Object.fromEntries(keys.map((key) => [key, bundle[key]]))).replaceAll('<', '\\u003c');
}

async function pageOf(theme: Theme, language: Language, path: string, outdir: string): Promise<string> {
  const texts = await pageTexts(language, outdir);
  const tool = /^\/(?:traffic|diagram)$/.test(path) ? path : undefined;
  const script = { '/': '/main.js', '/parts': '/parts/parts.js' }[path] ?? `${path}.js`;
  const shell = path === '/' ? readFileSync('src/webview/shell.html', 'utf8') : '';
  const frame = path === '/diagram' ? frameTemplate(NONCE, readFileSync(join(outdir, 'diagramFrame.js'), 'utf8')) : '';
  return `<!DOCTYPE html><html lang="${language === 'pseudo' ? 'en' : language}" data-root="/"><head><meta charset="utf-8"><title>Parley</title>
<link rel="stylesheet" href="/harness/themes/${theme}.css"><link rel="stylesheet" href="/harness/vscodeDefaults.css">
<link rel="stylesheet" href="/main.css">${tool === undefined ? '' : `<link rel="stylesheet" href="${tool}.css">`}</head>
<body class="${BODY_CLASS[theme]}"><div id="root">${shell}</div>${frame}
${texts === undefined ? '' : `<script type="application/json" id="texts">${texts}</script>`}
<script nonce="${NONCE}" src="/harness/fakeHost.js"></script>
${tool === undefined ? `<script nonce="${NONCE}" src="/early.js"></script>` : ''}
<script nonce="${NONCE}" src="${script}"${tool === undefined ? '' : ' type="module"'}></script></body></html>`;
}
