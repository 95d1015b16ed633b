// Data that leaves the machine: docs/privacy.md names each place in the code that can reach a
// network, and each host that the code names.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SettingsManifest, settingsOf } from '../../../scripts/lib/settingsTables';
import { codeOf } from './codeOf';
import { sources } from './sources';

/** The section of the page that tells of each file that opens, accepts or hands on connections. */
const SECTIONS: Readonly<Record<string, string>> = {
  'acp/transport/httpClient.ts': 'Agents on other machines',
  'acp/transport/webSocketTransport.ts': 'Agents on other machines',
  'distributed/client/communicationClient.ts': 'HTTP agents',
  'registry/fetch/request.ts': 'The agent registry',
  'registry/install/installer.ts': 'Installing an agent',
  'client/transport/keeperSocket.ts': 'Agents on your machine',
  'keeper/provenServer.ts': 'Agents on your machine',
  'client/sharing/stateExchange.ts': 'Shared sessions',
  'distributed/fetch/guardedConnections.ts': 'Shared sessions',
  'distributed/stores/s3Store.ts': 'Shared sessions',
  'distributed/server/agentServer.ts': 'Your own server',
  'editorTools/relay.ts': 'Agents on your machine',
  'editorTools/toolSocket.ts': 'Agents on your machine',
  'troubleshoot/checks/proxy.ts': 'Troubleshooting',
  'workbench/editor/linkOpener.ts': 'Links',
  'workbench/troubleshoot/troubleshooter.ts': 'Links',
};

const MODULES = /^import (?!type)([^;]*?) from '(?:node:)?(?:https?|http2|net|tls|dgram|dns(?:\/promises)?|ws)';$/gm;
const HARMLESS = /^(?:type \w+|isIP|STATUS_CODES)$/;
const CALLS =
  /(?:=>|=|\?\?|\bawait|\breturn|\bvoid)\s+fetch\(|\bnew (?:XMLHttpRequest|EventSource|WebTransport|RTCPeerConnection)\b|\bsendBeacon\b|\.openExternal\(|\brunTool\((?:npm|uv|node\.npm)\b/;
const EXAMPLE = /(?:^|\.)(?:example(?:\.com)?|invalid|localhost)$/;

const NAMESPACES = 'www.w3.org';

const page = readFileSync(join(process.cwd(), 'docs/privacy.md'), 'utf8');
const manifest = readFileSync(join(process.cwd(), 'package.json'), 'utf8');

function reachesNetwork(text: string): boolean {
  const names = [...text.matchAll(MODULES)].flatMap(([, clause = '']) => {
    const [, named] = /^\{([\s\S]*)\}$/.exec(clause.trim()) ?? [];
    return named === undefined ? [clause] : named.split(',').map((name) => name.trim());
  });
  return names.some((name) => name !== '' && !HARMLESS.test(name)) || CALLS.test(codeOf(text));
}

describe('the page about privacy', () => {
  it('has a section on each file that can reach a network', () => {
    const found = sources().filter(({ text }) => reachesNetwork(text));
    assert.deepEqual(found.map(({ path }) => path).sort(), Object.keys(SECTIONS).sort());
    for (const [path, section] of Object.entries(SECTIONS)) assert.ok(page.includes(`\n## ${section}\n`), path);
  });

  it('names each host that the code or the settings name', () => {
    const texts = [...sources().map(({ text }) => codeOf(text)), manifest];
    const hosts = texts.flatMap((text) =>
      [...text.matchAll(/(?:https?|wss?):\/\/([\w-]+(?:\.[\w-]+)*\.[a-z]{2,})(?![\w.-])/gi)].map(
        ([, host]) => host ?? '',
      ),
    );
    const named = [...new Set(hosts)].filter((host) => !EXAMPLE.test(host) && host !== NAMESPACES);
    assert.ok(named.includes('cdn.agentclientprotocol.com'));
    assert.deepEqual(
      named.filter((host) => !page.includes(`\`${host}\``)),
      [],
    );
  });

  it('says of each section how to turn it off, or that nothing is sent unasked', () => {
    const [, ...sections] = page.split(/^## /m);
    for (const section of sections)
      assert.match(section, /To turn it off: |when you click it|kept in VS Code's/, section);
  });

  it('is right that the registry can be turned off', () => {
    const settings = settingsOf(JSON.parse(manifest) as SettingsManifest<{ readonly pattern?: string }>);
    assert.match('', new RegExp(settings['parley.registry.url']?.pattern ?? 'none'));
  });
});
