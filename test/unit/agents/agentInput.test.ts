// Parsing and checking what a person types for an agent.
import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import {
  addressProblem,
  commandProblem,
  credentialProblem,
  fitsInLine,
  folderProblem,
  headerProblem,
  headerValueProblem,
  idFrom,
  lineOf,
  variableProblem,
  wordsOf,
} from '../../../src/agents/agentInput';

describe('a command line', () => {
  it('is split at spaces outside of quotation marks', () => {
    assert.deepEqual(wordsOf(`  npx -y "a package" --name='it is' x"y z"w  `), [
      'npx',
      '-y',
      'a package',
      '--name=it is',
      'xy zw',
    ]);
    assert.deepEqual(wordsOf(`a "" ''`), ['a', '', '']);
    assert.deepEqual(wordsOf('   '), []);
  });

  it('keeps the backslashes of Windows', () => {
    assert.deepEqual(wordsOf(String.raw`C:\bin\agent.exe "C:\Program Files\x.js" "say \"hi\" \\"`), [
      String.raw`C:\bin\agent.exe`,
      String.raw`C:\Program Files\x.js`,
      String.raw`say "hi" \ `.trimEnd(),
    ]);
  });

  it('is refused quickly if a quote is not closed', () => {
    for (const line of [
      `a "b`,
      `a 'b`,
      `"${'\\\\'.repeat(50_000)}`,
      `"${'\\"'.repeat(50_000)}`,
      `'${'"'.repeat(50_001)}`,
    ])
      assert.equal(wordsOf(line), undefined, line.slice(0, 20));
    assert.match(commandProblem('a "b') ?? '', /quotation mark/);
    assert.match(commandProblem('  ') ?? '', /Enter the command/);
    assert.match(commandProblem('"" x') ?? '', /Enter the command/);
    assert.equal(commandProblem('gemini --acp'), undefined);
  });

  it('can be made of any words, and is split into the same words', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', ' ', '"', "'", '\\', '=', 'é') })), (words) => {
        assert.deepEqual(wordsOf(lineOf(words)), words);
      }),
    );
  });

  it('rejects a line break', () => {
    assert.ok(fitsInLine(['a b', 'ü']));
    for (const word of ['a\nb', '\r', '\u2028', '\u0000']) assert.ok(!fitsInLine([word]));
  });
});

describe('input for an agent', () => {
  it('is converted to an id of letters and digits', () => {
    assert.deepEqual(['Claude Code', 'Café №2', '  ', '日本', '__proto__', 'x'.repeat(99)].map(idFrom), [
      'claude-code',
      'cafe-no2',
      'agent',
      'agent',
      'proto',
      'x'.repeat(40),
    ]);
  });

  it('is checked while it is typed', () => {
    const schemes = ['wss:', 'https:'];
    assert.equal(addressProblem(' wss://a.example/acp ', schemes), undefined);
    assert.match(addressProblem('ftp://a', schemes) ?? '', /wss:\/\/, https:\/\//);
    assert.match(addressProblem('nothing', schemes) ?? '', /wss:/);
    assert.match(addressProblem('https://me:pw@a.example', schemes) ?? '', /password/);
    assert.deepEqual(
      [folderProblem(''), folderProblem('~/x'), folderProblem('/srv')],
      [undefined, undefined, undefined],
    );
    assert.match(folderProblem('src') ?? '', /absolute/);
    assert.equal(variableProblem('LOG_LEVEL'), undefined);
    for (const name of ['', 'A B', 'A=B', 'x'.repeat(201)]) assert.ok(variableProblem(name), name);
    assert.equal(headerProblem('X-Api-Key'), undefined);
    for (const name of ['', 'A B', 'A:B', 'Ä']) assert.ok(headerProblem(name), name);
    assert.equal(headerValueProblem('Bearer a b; é'), undefined);
    for (const value of ['a\nb', 'a\r', '\0', '“a”']) assert.ok(headerValueProblem(value), JSON.stringify(value));
    assert.equal(credentialProblem(' AKIA/x+1= '), undefined);
    for (const key of ['A B', 'A\nB', 'Ä']) assert.ok(credentialProblem(key), JSON.stringify(key));
  });
});
