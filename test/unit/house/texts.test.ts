// The texts of the product and their translations: the bundles hold what the sources ask for, in
// every language.
import { strict as assert } from 'node:assert';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { l10nJsonFormat } from '@vscode/l10n-dev';
import type { SourceFile } from 'typescript/unstable/ast';
import { bundleOf, ENGLISH, LANGUAGES, placeholdersOf, readBundle, textsOfSources } from '../../../scripts/lib/texts';
import { codeOf } from './codeOf';
import { sources } from './sources';
import { type Found, parseSources, translatedAtLoad, untranslated } from './untranslated';

const root = process.cwd();

/** Where words are no texts of ours for people, so that they stay as they are in every language. */
const NOT_FOR_PEOPLE: readonly (readonly [place: RegExp, why: string])[] = [
  [
    /^registry\/discover\/findAgents\.ts$|^workbench\/agents\/(?:agentsEditor|protocolNames)\.ts$/,
    'names of products and protocols',
  ],
  [/^base\/pagePolicy\.ts$/, 'the policy of a page'],
  [/^client\/(?:rules\/runners|requests\/protectedPaths)\.ts$/, 'names of programs and files'],
  [/^demo\//, 'the demo is an agent'],
  [/^acp\/(?:jsonrpc|protocol|proposals|v1|v2|quirks)\//, 'answers to the agent, and the log'],
  [/^acp\/transport\/httpClient\.ts$/, 'the log'],
  [
    /^agents\/(?:agentDefinition|agentEnvironment|awake|orphanGuard|windowsProcesses)\.ts$/,
    'the log, and programs of a shell',
  ],
  [
    /^client\/(?:connection\/contextHandoff|conversation\/summaryPrompt|changes\/(?:commitMessage|turnPatch))\.ts$|^mentions\/git/,
    'part of the prompt',
  ],
  [
    /^client\/requests\/(?:agentFiles|editedProposal)\.ts$|^(?:client\/)?terminals\/|^client\/ports\//,
    'answers to the agent',
  ],
  [/^conformance\//, 'the report for authors of agents, who read the protocol in English'],
  [/^client\/conversation\/agentRequests\.ts$/, 'answers to the agent'],
  [/^client\/serving\/|^distributed\/server\/|^workbench\/sharing\/serve\.ts$/, 'answers to callers of the server'],
  [/^client\/sharing\/(?:stateExchange|messageCollector|sessionLog)\.ts$/, 'content of messages for agents'],
  [/^distributed\/model\//, 'how data breaks the protocol, and content of messages'],
  [
    /^distributed\/client\/(?:communicationClient|heldMessages|sessionPast)\.ts$/,
    'names in protocol errors, and content of messages',
  ],
  [/^distributed\/fetch\/(?:descriptor|guardedConnections)\.ts$/, 'names in protocol errors, and headers'],
  [/^distributed\/stores\/localStore\.ts$/, 'states that no user can reach'],
  [/^markdown\//, 'the syntax of Markdown'],
  [/^session\/|^store\/(?:events|sessions)\//, 'marks in content that was cut, as agents get it too'],
  [
    /^workbench\/(?:editor\/(?:editorFiles|fileEncoding)|chat\/(?:attachments|earlierSessions|lastCommands))\.ts$/,
    'answers to the agent, and content of prompts',
  ],
  [
    /^editorTools\/|^workbench\/editorTools\/(?:askFirst|changeTools|diagnose|documents|extensionTools|readTools|runTools|sessionPaths|symbolPosition|testRun|editorToolHost)\.ts$/,
    'answers to the agent',
  ],
  [/^workbench\/config\/mcpServers\.ts$/, 'names of variables'],
  [/^workbench\/log\/|^workbench\/sessions\/journalPersistence\.ts$/, 'the log'],
];

const manifestTexts = (language?: string): string => `package.nls${language ? `.${language}` : ''}.json`;

function faults(english: l10nJsonFormat, translation: l10nJsonFormat): readonly string[] {
  const missing = Object.keys(english).filter((key) => !(key in translation));
  const others = Object.entries(translation).flatMap(([key, text]) => {
    const original = english[key];
    if (original === undefined) return [`no source asks for it: ${key}`];
    const same = placeholdersOf(original).join() === placeholdersOf(text).join();
    return same ? [] : [`other placeholders: ${key}`];
  });
  return [...missing.map((key) => `missing: ${key}`), ...others];
}

function findIn(files: readonly SourceFile[], search: (file: SourceFile) => readonly Found[]): readonly string[] {
  return files.flatMap((file) => search(file).map(({ line, text }) => `${file.fileName}:${line} ${text}`));
}

describe('the texts of the product', () => {
  let texts: l10nJsonFormat;
  let host: readonly SourceFile[];

  before(async function () {
    this.timeout(60_000);
    texts = await textsOfSources(root);
    host = parseSources(sources().filter(({ path }) => !path.startsWith('webview/')));
  });

  it('stand in the English bundle (npm run l10n writes it)', () => {
    assert.deepEqual(readBundle(root, ENGLISH), texts);
  });

  it('are each one literal that a bundle can hold, asked for by name', () => {
    // localizable.ts looks up what others ask for.
    const asking = sources().filter(({ path }) => path !== 'base/localizable.ts');
    const wrong = asking.flatMap(({ path, text }) => {
      const calls = [
        ...codeOf(text).matchAll(
          /\b(?:l10n\.t|(?<!function )localizable)\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|)/g,
        ),
      ];
      return calls
        .map(([, single, double]) => (single ?? double)?.replaceAll(/\\(.)/g, '$1'))
        .filter((key) => key === undefined || !(key in texts))
        .map((key) => `${path}: ${key ?? 'not a literal'}`);
    });
    assert.deepEqual(wrong, []);
  });

  it('go through l10n.t or localizable wherever people read them', () => {
    const shown = host.filter(({ fileName }) => !NOT_FOR_PEOPLE.some(([place]) => place.test(fileName.slice(1))));
    assert.deepEqual(findIn(shown, untranslated), []);
  });

  it('are made when they are needed, and not before the bundle is there', () => {
    assert.deepEqual(findIn(host, translatedAtLoad), []);
  });

  for (const language of LANGUAGES) {
    it(`are translated with the same placeholders: ${language}`, () => {
      assert.deepEqual(faults(texts, readBundle(root, bundleOf(language))), []);
    });

    it(`are translated where VS Code shows them before Parley runs: ${language}`, () => {
      const path = manifestTexts(language);
      assert.ok(existsSync(join(root, path)), path);
      assert.deepEqual(faults(readBundle(root, manifestTexts()), readBundle(root, path)), []);
    });
  }

  for (const language of LANGUAGES)
    it(`have an ellipsis directly after the word, as those of VS Code: ${language}`, () => {
      const ends = [bundleOf(language), manifestTexts(language)].flatMap((path) =>
        Object.values(readBundle(root, path)).filter((text) => typeof text === 'string' && /^[^…]* …$/.test(text)),
      );
      assert.deepEqual(ends, []);
    });

  it('name the folder of their bundles in package.json', () => {
    const { l10n } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { l10n?: string };
    assert.equal(l10n, './l10n');
  });
});

describe('the comparison of a translation', () => {
  it('finds what is missing, what is left over and placeholders that differ', () => {
    assert.deepEqual(faults({ a: 'a', b: 'b {0} {1}', c: 'c {name}' }, { b: 'B {1} {0}', c: 'C {nam}', d: 'D' }), [
      'missing: a',
      'other placeholders: c',
      'no source asks for it: d',
    ]);
  });
});

describe('the search for texts that are not translated', () => {
  const early = "const A = l10n.t('now'); const b = () => l10n.t('later'); class C { d = l10n.t('then'); }";
  const cases: readonly (readonly [source: string, found: readonly string[]])[] = [
    ["throw new ParleyError('x', 'There is no agent.');", ['There is no agent.']],
    [['void showInfo(`Deleted $', '{count} messages`);'].join(''), ['Deleted {0} messages']],
    ["const button = { label: 'Retry' };", ['Retry']],
    ["const hint = isOne ? 'Wait a moment' : l10n.t('Try again');", ['Wait a moment']],
    ["l10n.t('Try again'); vscode.l10n.t('{0} of {1} files', a, b); localizable('Try {0} again', a);", []],
    ["this.#log.warn('the agent is silent'); throw new Error('no such part');", []],
    ["// A comment.\nimport { a } from './some words';", []],
    ["const kind: 'two words' = x; const event = { type: 'turn_ended', code: 'not-found' };", []],
  ];
  let files: ReadonlyMap<string, SourceFile>;

  before(() => {
    const all = [early, ...cases.map(([text]) => text)];
    const parsed = parseSources(all.map((text, index) => ({ path: `${index}.ts`, text })));
    files = new Map(all.map((text, index) => [text, parsed[index]!]));
  });

  it('finds what is asked for while a file is loaded', () => {
    assert.deepEqual(translatedAtLoad(files.get(early)!), [{ line: 1, text: "l10n.t('now')" }]);
  });

  for (const [source, expected] of cases) {
    it(`finds ${expected.length === 0 ? 'nothing' : expected.join(', ')} in ${source.split('\n', 1)[0]}`, () => {
      assert.deepEqual(
        untranslated(files.get(source)!).map(({ text }) => text),
        expected,
      );
    });
  }
});
