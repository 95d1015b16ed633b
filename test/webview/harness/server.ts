// Serves the built panel from loopback with a fake host, under the real content security policy.
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { frameTemplate, pagePolicy } from '../../../src/base/pagePolicy';
import { type Language, textsIn } from './texts';

const HERE = 'test/webview/harness';
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.ttf': 'font/ttf',
};
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

/** The variables of VS Code 1.139's themes that the panel uses; `-` if a theme lacks one. */
const [COLUMNS = [], ...VARIABLES] = readFileSync(`${HERE}/themes.txt`, 'utf8')
  .trim()
  .split('\n')
  .map((row) => row.split('|').map((cell) => cell.trim()));

function themeStyles(theme: string): string {
  const column = COLUMNS.indexOf(theme);
  const set = VARIABLES.filter((row) => row[column] !== '-');
  return `:root {${set.map(([name, ...values]) => `--vscode-${name}: ${values[column - 1]};`).join('')}}`;
}

async function buildPanel(outdir: string): Promise<void> {
  const script = pathToFileURL(join(process.cwd(), 'scripts/build.mjs')).href;
  const { bundles } = (await import(script)) as {
    bundles(options: { dev: boolean }): readonly BuildOptions[];
  };
  const files = bundles({ dev: false }).filter(({ platform }) => platform === 'browser');
  if (files.length === 0) throw new Error('scripts/build.mjs has no bundle for the browser');
  const parts = join(outdir, 'parts');
  for (const file of files) {
    const isMain = 'main' in (file.entryPoints as Record<string, string>);
    await build({ ...file, outdir });
    await build({ ...file, outdir: parts, ...(isMain && { entryPoints: { parts: `${HERE}/parts.ts` } }) });
  }
}

export type Tool = 'traffic';

export type PageStorage = 'sessionStorage' | 'localStorage';

export interface PanelServer {
  /** @param clear what the page clears before it starts */
  url(theme: Theme, language?: Language, clear?: readonly PageStorage[]): string;
  readonly partsUrl: string;
  toolUrl(tool: Tool, theme: Theme, language?: Language): string;
  close(): Promise<void>;
}

/** Builds the panel once for all processes of a test run. @returns the folder */
async function builtPanel(): Promise<string> {
  const run = process.env.PARLEY_TEST_RUN ?? (await mkdtemp(join(tmpdir(), 'parley-webview-')));
  const outdir = join(run, 'panel');
  const isBuilt = join(outdir, 'built');
  try {
    await mkdir(outdir);
  } catch {
    while (!existsSync(isBuilt)) await delay(50);
    return outdir;
  }
  await buildPanel(outdir);
  await writeFile(isBuilt, '');
  return outdir;
}

export async function servePanel(): Promise<PanelServer> {
  const outdir = await builtPanel();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://host');
    void answer(url, outdir).then(
      ({ body, type, csp }) => {
        response.setHeader('Content-Type', type);
        if (csp) response.setHeader('Content-Security-Policy', csp);
        // Chromium only keeps compiled code of scripts in its HTTP cache.
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
  if (/^\/(?:|parts|traffic)$/.test(pathname)) {
    const theme = (url.searchParams.get('theme') ?? 'dark') as Theme;
    const language = (url.searchParams.get('language') ?? 'en') as Language;
    return {
      body: pageOf(theme, language, pathname, outdir),
      type: 'text/html; charset=utf-8',
      // `'self'` stands for VS Code's webview source.
      csp: pagePolicy("'self'", NONCE, pathname !== '/traffic'),
    };
  }
  const theme = /^\/themes\/(\w+)\.css$/.exec(pathname)?.[1];
  if (theme !== undefined) return { body: themeStyles(theme), type: 'text/css' };
  const file = pathname.startsWith('/harness/') ? join(HERE, pathname.slice(9)) : join(outdir, pathname);
  return { body: await readFile(file), type: TYPES[extname(file)] ?? 'application/octet-stream' };
}

function pageTexts(language: Language): string | undefined {
  const bundle = textsIn(language);
  if (bundle === undefined) return undefined;
  return JSON.stringify(bundle).replaceAll('<', '\\u003c');
}

function pageOf(theme: Theme, language: Language, path: string, outdir: string): string {
  const texts = pageTexts(language);
  const tool = path === '/traffic' ? path : undefined;
  const script = { '/': '/main.js', '/parts': '/parts/parts.js' }[path] ?? `${path}.js`;
  const shell = path === '/' ? readFileSync('src/webview/shell.html', 'utf8') : '';
  const frame = tool === undefined ? frameTemplate(NONCE, readFileSync(join(outdir, 'diagramFrame.js'), 'utf8')) : '';
  return `<!DOCTYPE html><html lang="${language === 'pseudo' ? 'en' : language}" data-root="/"><head><meta charset="utf-8"><title>Parley</title>
<link rel="stylesheet" href="/themes/${theme}.css"><link rel="stylesheet" href="/harness/vscodeDefaults.css">
<link rel="stylesheet" href="/main.css">${tool === undefined ? '' : `<link rel="stylesheet" href="${tool}.css">`}</head>
<body class="${BODY_CLASS[theme]}"><div id="root">${shell}</div>${frame}
${texts === undefined ? '' : `<script type="application/json" id="texts">${texts}</script>`}
<script nonce="${NONCE}" src="/harness/fakeHost.js"></script>
${tool === undefined ? `<script nonce="${NONCE}" src="/early.js"></script>` : ''}
<script nonce="${NONCE}" src="${script}"${tool === undefined ? '' : ' type="module"'}></script></body></html>`;
}
