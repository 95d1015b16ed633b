// Editing entries in the text of a settings file without touching the rest.
import { strict as assert } from 'node:assert';
import { agentsIn, editEntries, needsOwnEdit, parseSettings } from '../../../src/agents/settingsText';

const TEXT = `{
  // my theme
  "workbench.colorTheme": "Dark",
  "parley.agents": {
    // the one at work
    "work": {
      "command": "work", // on the PATH
      "args": ["--acp"],
      "own": { "key": 1 }
    },
    /* at home */
    "home": { "command": "home" },
  },
  "files.eol": "\\n" // last
}
`;
const ENTRIES = {
  work: { command: 'work', args: ['--acp'], own: { key: 1 } },
  home: { command: 'home' },
};

describe('entries in the text of a settings file', () => {
  const edited = (after: Readonly<Record<string, unknown>>): string => {
    const text = editEntries(TEXT, ENTRIES, after);
    assert.deepEqual((parseSettings(text).value as Record<string, unknown>)['parley.agents'], after);
    for (const kept of ['// my theme', '// the one at work', '/* at home */', '// last', '"files.eol": "\\n"'])
      assert.ok(text.includes(kept), kept);
    return text;
  };

  it('keep the comments between them when one changes', () => {
    const text = edited({ ...ENTRIES, work: { ...ENTRIES.work, args: ['--acp', '--fast'], cwd: '/srv' } });
    assert.match(text, /"command": "work", \/\/ on the PATH/);
    assert.match(text, /"own": \{ "key": 1 \},\n {6}"cwd": "\/srv"\n {4}\},/);
    assert.match(text, /"args": \[\n {8}"--acp",\n {8}"--fast"\n {6}\],/);
  });

  it('keep them when one is added or removed', () => {
    const more = { command: 'more', args: ['a'] };
    const text = edited({ ...ENTRIES, more });
    assert.match(text, /"home": \{ "command": "home" \},\n {4}"more": \{\n {6}"command": "more",/);
    assert.equal(
      editEntries(text, { ...ENTRIES, more }, ENTRIES).replace(/,(?=\n {2}\})/, ''),
      TEXT.replace(/,(?=\n {2}\})/, ''),
    );
    edited({ work: ENTRIES.work });
    edited({ home: ENTRIES.home });
    edited({ ...ENTRIES, work: { args: ['--acp'] } });
    edited({});
    assert.equal(edited(ENTRIES), TEXT);
  });

  it('keep a comment with the property that precedes it', () => {
    const text = '{\n  "parley.agents": {\n    "a": { "command": "a" } // mine\n  }\n}\n';
    const [a, b] = [{ command: 'a' }, { command: 'b' }];
    const added = editEntries(text, { a }, { a, b });
    assert.equal(
      added,
      '{\n  "parley.agents": {\n    "a": { "command": "a" }, // mine\n    "b": {\n      "command": "b"\n    }\n  }\n}\n',
    );
    assert.equal(editEntries(added, { a, b }, { a }), text);
    assert.deepEqual(parseSettings(editEntries('{"parley.agents": { /* none */ }}', {}, { a })).value, {
      'parley.agents': { a },
    });
  });

  it('keep the line ends and the indentation of the file', () => {
    const text = TEXT.replaceAll('\n', '\r\n').replaceAll('  ', '\t');
    const after = editEntries(text, ENTRIES, { ...ENTRIES, more: { command: 'more' } });
    assert.ok(!/[^\r]\n/.test(after));
    assert.match(after, /\r\n\t\t"more": \{\r\n\t\t\t"command"/);
  });

  it('are edited here only if the file has them all, with comments between them', () => {
    assert.ok(needsOwnEdit(TEXT, ENTRIES));
    assert.ok(!needsOwnEdit(TEXT, { ...ENTRIES, other: {} }), 'another file, or another state of it');
    assert.ok(!needsOwnEdit(JSON.stringify({ 'parley.agents': ENTRIES }), ENTRIES), 'nothing to keep');
    assert.ok(!needsOwnEdit(`// only outside\n${JSON.stringify({ 'parley.agents': ENTRIES })}`, ENTRIES));
    assert.ok(!needsOwnEdit(TEXT.replace('"files.eol"', ''), ENTRIES), 'broken JSON');
    assert.ok(!needsOwnEdit('', ENTRIES));
    assert.ok(!needsOwnEdit('{"parley.agents": {"a": "// no comment"}}', { a: '// no comment' }));
  });

  it('are changed at the last of duplicate keys', () => {
    const text = `{
  "parley.agents": { "old": { "command": "old" } },
  // the ones that VS Code reads
  "parley.agents": {
    "work": { "command": "first" },
    "work": { "command": "second", "command": "third" }, // mine
    "home": { "command": "home" }
  }
}
`;
    const before = { work: { command: 'third' }, home: { command: 'home' } };
    assert.ok(needsOwnEdit(text, before));
    const says = (after: Readonly<Record<string, unknown>>): void => {
      const edited = editEntries(text, before, after);
      assert.deepEqual(agentsIn(edited), after);
      assert.ok(edited.includes('// the ones that VS Code reads') && edited.includes('// mine'), edited);
    };
    says({ ...before, work: { command: 'fourth' } });
    says({ home: before.home });
    says({ ...before, work: {} });
    says({ ...before, more: { command: 'more' } });
    says({});
    assert.ok(
      needsOwnEdit('{"parley.agents": {}, "parley.agents": {"a": {}}}', { a: {} }),
      'VS Code would change the first',
    );
  });

  it('are read from a file without errors', () => {
    assert.deepEqual(agentsIn(TEXT), ENTRIES);
    assert.equal(agentsIn('{"files.eol": "\\n"}'), undefined);
    assert.equal(agentsIn('{"parley.agents": {"a": {"command": "a"}'), undefined, 'half written');
    assert.equal(agentsIn('[]'), undefined);
    assert.equal(agentsIn(''), undefined);
  });
});
