// Checks the proxies of VS Code (for Parley's downloads) and of the environment (for agents).
import { connect } from 'node:net';
import * as l10n from '@vscode/l10n';
import { type Check, check, type Finding } from './check';

/** Connection timeout of a proxy, ms. */
const CONNECT_MS = 5_000;
const NAMES = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'NO_PROXY'] as const;

export interface ProxyCheckOptions {
  readonly setting: string;
  readonly support: string;
  readonly env: () => Promise<Readonly<Record<string, string | undefined>>>;
  /** Connects to a host; default: over TCP. @throws if unreachable */
  readonly reach?: (host: string, port: number, signal: AbortSignal) => Promise<void>;
}

export function proxyCheck({ setting, support, env, reach = reachHost }: ProxyCheckOptions): Check {
  return check('proxy', l10n.t('Proxy'), 15_000, async (signal) => {
    const environment = await env();
    const ofEnvironment = NAMES.map(
      (name) => [name, environment[name] ?? environment[name.toLowerCase()] ?? ''] as const,
    );
    const facts: Finding['facts'] = [
      ['http.proxy', redacted(setting)],
      ['http.proxySupport', support],
      ...ofEnvironment.map(([name, value]) => [name, name === 'NO_PROXY' ? value : redacted(value)] as const),
    ];
    const agents = ofEnvironment.find(([name, value]) => name !== 'NO_PROXY' && value !== '')?.[1] ?? '';
    for (const [name, value] of [
      ['http.proxy', setting],
      [l10n.t('The proxy of the environment'), agents],
    ] as const) {
      const problem = value === '' ? undefined : await problemOf(value, reach, signal);
      if (problem !== undefined)
        return {
          outcome: 'problem',
          found: l10n.t('{0} ({1}): {2}.', name, redacted(value), problem),
          advice: l10n.t('Correct the address of the proxy, or remove it.'),
          action: 'openProxySettings',
          facts,
        };
    }
    if (setting !== '' && agents === '')
      return {
        outcome: 'warning',
        found: l10n.t("VS Code uses a proxy, but agents don't: they don't read http.proxy."),
        advice: l10n.t('Set HTTPS_PROXY in the “env” of the agent, or in the profile of your shell.'),
        action: 'editAgent',
        facts,
      };
    if (setting === '' && agents === '') return { outcome: 'ok', found: l10n.t('No proxy is set.'), facts };
    return { outcome: 'ok', found: l10n.t('The proxy accepts connections.'), facts };
  });
}

async function problemOf(
  address: string,
  reach: NonNullable<ProxyCheckOptions['reach']>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const url = urlOf(address);
  if (!url) return l10n.t('the address is invalid');
  const ports: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'socks:': 1080, 'socks5:': 1080 };
  const port = Number(url.port) || (ports[url.protocol] ?? 80);
  try {
    await reach(url.hostname.replace(/^\[|\]$/g, ''), port, signal);
    return undefined;
  } catch {
    return l10n.t("it doesn't accept connections");
  }
}

/** curl and others accept addresses without a scheme too. */
function urlOf(address: string): URL | undefined {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `http://${address}`;
  return URL.canParse(url) && new URL(url).hostname !== '' ? new URL(url) : undefined;
}

function redacted(address: string): string {
  const url = urlOf(address);
  if (address === '' || !url) return address === '' ? '' : l10n.t('invalid');
  return `${url.protocol}//${url.host}`;
}

function reachHost(host: string, port: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: CONNECT_MS });
    const end = (error?: unknown): void => {
      signal.removeEventListener('abort', end);
      socket.destroy();
      if (error === undefined) resolve();
      else reject(error instanceof Error ? error : new Error('given up'));
    };
    signal.addEventListener('abort', end, { once: true });
    socket.once('connect', () => end());
    socket.once('timeout', () => end(new Error('timeout')));
    socket.once('error', end);
  });
}
