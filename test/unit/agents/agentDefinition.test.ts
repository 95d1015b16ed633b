// Parsing the agents setting, including entries of other editors and invalid ones.
import assert from 'node:assert/strict';
import { parseAgents, withDemo } from '../../../src/agents/agentDefinition';
import { sameData } from '../../support/sameData';

describe('parseAgents', () => {
  it('reads the entries that other editors use, and those of remote agents', () => {
    const { agents, problems } = parseAgents({
      claude: {
        type: 'custom',
        command: 'npx',
        args: ['-y', 'claude agent'],
        env: { KEY: 'a b', PORT: 8080, DEBUG: true },
        extra: 1,
      },
      mine: { command: '/opt/my agent', name: 'Mine', cwd: '/work', protocol: 1 },
      far: { url: 'wss://host/acp', headers: { Authorization: 'Bearer x' }, protocol: 'auto' },
      other: { type: 'communication', url: 'http://localhost:8000', agent: 'echo', protocol: 2 },
    });
    assert.deepEqual(problems, []);
    sameData(agents, [
      {
        id: 'claude',
        name: 'claude',
        protocol: 'auto',
        type: 'process',
        command: 'npx',
        args: ['-y', 'claude agent'],
        env: { KEY: 'a b', PORT: '8080', DEBUG: 'true' },
      },
      {
        id: 'mine',
        name: 'Mine',
        protocol: 1,
        type: 'process',
        command: '/opt/my agent',
        args: [],
        env: {},
        cwd: '/work',
      },
      {
        id: 'far',
        name: 'far',
        protocol: 'auto',
        type: 'remote',
        url: 'wss://host/acp',
        headers: { Authorization: 'Bearer x' },
        allow: { files: false, terminals: false },
      },
      {
        id: 'other',
        name: 'other',
        protocol: 2,
        type: 'communication',
        url: 'http://localhost:8000',
        agent: 'echo',
        headers: {},
      },
    ]);
  });

  for (const [what, entry, words] of [
    ['nothing in it', {}, /needs a command or a url/],
    ['a text instead of an object', 'npx', /must be an object/],
    ['null', null, /must be an object/],
    ['a list', [], /must be an object|needs a command/],
    ['an empty command', { command: '' }, /"command" must not be empty/],
    ['a command that is a list', { command: ['npx'] }, /"command" must be a string/],
    ['arguments in one text', { command: 'npx', args: '-y x' }, /"args" must be a list of strings/],
    ['an argument that is no text', { command: 'npx', args: ['a', 1] }, /"args\.1" must be a string/],
    ['a variable that is no text', { command: 'npx', env: { A: {} } }, /"env\.A" must be a string/],
    ['a protocol that does not exist', { command: 'npx', protocol: 7 }, /"protocol" must be "auto", 1 or 2/],
    ['a type that does not exist', { type: 'registry', command: 'npx' }, /type "registry" is not "custom" or/],
    ['both a command and a url', { command: 'npx', url: 'ws://x' }, /both a command and a url/],
    ['a url that is none', { url: 'host:80/x y' }, /must begin with|is not a URL/],
    ['a url of another kind', { url: 'file:///x' }, /must begin with ws:\/\/, wss/],
    ['a communication agent without its name', { type: 'communication', url: 'http://x' }, /"agent" must be a string/],
    [
      'a communication agent over WebSocket',
      { type: 'communication', url: 'ws://x', agent: 'a' },
      /must begin with http:/,
    ],
  ] as const) {
    it(`skips only the entry with ${what}, and names it and the reason`, () => {
      const { agents, problems } = parseAgents({ bad: entry, good: { command: 'x' } });
      assert.deepEqual(
        agents.map(({ id }) => id),
        ['good'],
      );
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', /^The agent "bad" in parley\.agents was skipped: .*\.$/);
      assert.match(problems[0] ?? '', words);
    });
  }

  it('returns no agents without a setting, and reports a setting that is not an object', () => {
    assert.deepEqual(parseAgents(undefined), { agents: [], problems: [] });
    assert.equal(parseAgents([]).problems.length, 1);
    assert.equal(parseAgents('x').problems.length, 1);
  });
});

describe('withDemo', () => {
  const demo = { command: '/code/electron', args: ['/ext/demo.js'], env: { ELECTRON_RUN_AS_NODE: '1' } };
  const [named, other] = parseAgents({
    two: { name: 'Demo 2', command: 'parley-demo', args: ['-v'], env: { LOG: '1' }, protocol: 2 },
    other: { command: 'parley-demo-2' },
  }).agents;

  it('starts the demo for an agent whose command names it, and keeps the rest of the entry', () => {
    assert.ok(named);
    sameData(withDemo(named, demo), {
      id: 'two',
      name: 'Demo 2',
      protocol: 2,
      type: 'process',
      command: '/code/electron',
      args: ['/ext/demo.js', '-v'],
      env: { ELECTRON_RUN_AS_NODE: '1', LOG: '1' },
    });
  });

  it('leaves every other agent as it is', () => {
    assert.ok(other);
    assert.equal(withDemo(other, demo), other);
  });
});
