// Agents in the settings of other editors, valid and invalid.
import { strict as assert } from 'node:assert';
import { readAgents } from '../../../src/agents/agentImport';
import { parseSettings } from '../../../src/agents/settingsText';

describe('agents of other editors', () => {
  const only = (value: unknown) => {
    const { agents, skipped } = readAgents(value);
    assert.deepEqual(skipped, []);
    assert.equal(agents.length, 1);
    return agents[0];
  };

  it('are read from the settings of Zed, with comments and trailing commas', () => {
    const text = `{
      // my agents
      "agent_servers": {
        "Code Buddy": { "type": "custom", "command": "buddy", "args": ["acp",], "env": { "LEVEL": "1" }, },
        "claude-acp": { "type": "registry", "env": {} },
        "Old": { "command": { "path": "/bin/old", "args": ["x"] } },
      },
    }`;
    const { agents, skipped } = readAgents((parseSettings(text).value as { agent_servers: unknown }).agent_servers);
    assert.deepEqual(
      agents.map(({ id, entry }) => [id, entry]),
      [
        ['code-buddy', { name: 'Code Buddy', command: 'buddy', args: ['acp'], env: { LEVEL: '1' } }],
        ['old', { name: 'Old', command: '/bin/old', args: ['x'] }],
      ],
    );
    assert.match(skipped.join(), /^claude-acp: no command is set/);
  });

  it('are read from a list of an extension', () => {
    const read = only([{ id: 'goose', name: 'Goose', command: 'goose', args: ['acp'], extra: true }]);
    assert.deepEqual([read?.id, read?.entry], ['goose', { name: 'Goose', command: 'goose', args: ['acp'] }]);
  });

  it('leave their secrets out of the entry', () => {
    const env = { OPENAI_API_KEY: 'sk-1', OTHER_TOKEN: '$TOKEN', THIRD_KEY: 'x', GITHUB_TOKEN: `\${env:T}` };
    const read = only({ a: { command: 'a', env } });
    assert.deepEqual(read?.variables, { OPENAI_API_KEY: 'sk-1' });
    assert.deepEqual(read?.entry.env, { OTHER_TOKEN: '$TOKEN', THIRD_KEY: 'x', GITHUB_TOKEN: `\${env:T}` });
    const remote = only({
      b: { url: 'https://b.example', headers: { Authorization: 'Bearer abc', 'X-Team': 'blue' } },
    });
    assert.deepEqual(remote?.headers, { Authorization: 'Bearer abc' });
    assert.deepEqual(remote?.entry.headers, { 'X-Team': 'blue', Authorization: `\${secret:Authorization}` });
    assert.ok(!JSON.stringify([read?.entry, remote?.entry]).match(/sk-1|abc/));
  });

  it("start in the session's folder if theirs has a variable", () => {
    assert.equal(only({ a: { command: 'a', cwd: `\${workspaceFolder}/x` } })?.entry.cwd, undefined);
    assert.equal(only({ a: { command: 'a', cwd: '/srv' } })?.entry.cwd, '/srv');
  });

  it('are skipped with a reason if they are invalid', () => {
    for (const value of [undefined, null, 1, 'x', [], {}, [null], { a: null }])
      assert.equal(readAgents(value).agents.length, 0);
    const hostile = {
      __proto__: { command: 'x' },
      constructor: { command: 1 },
      both: { command: 'a', url: 'https://b' },
      args: { command: 'a', args: 'x' },
      url: { url: 'file:///etc/passwd' },
      long: { command: 'a', args: ['x'.repeat(30_000)] },
      deep: { command: { path: { path: 'x' } } },
    };
    const { agents, skipped } = readAgents(hostile);
    assert.deepEqual(agents, []);
    assert.equal(skipped.length, 6);
    assert.ok(skipped.every((sentence) => sentence.length < 300));
    const many = Object.fromEntries(Array.from({ length: 500 }, (_one, index) => [`a${index}`, { command: 'a' }]));
    assert.equal(readAgents(many).agents.length, 200);
    const [polluted] = readAgents(JSON.parse('{"__proto__": {"command": "x"}}')).agents;
    assert.equal(polluted?.id, 'proto');
    assert.equal(({} as { command?: unknown }).command, undefined);
  });

  it('are empty for a file that is not JSON or deeply nested', () => {
    assert.deepEqual(parseSettings(''), { value: undefined, errorLine: 1 });
    assert.equal(parseSettings('{\n\n"a": b}').errorLine, 3);
    assert.equal(readAgents(parseSettings('[1, 2').value).agents.length, 0);
    try {
      parseSettings('['.repeat(200_000));
    } catch (error) {
      assert.ok(error instanceof RangeError);
    }
    assert.deepEqual(parseSettings(`\uFEFF${'/*'.repeat(50_000)}`.replace('/*', '{}/*')).value, {});
  });
});
