// Links with a prompt, as decoded by VS Code.
import { strict as assert } from 'node:assert';
import { promptOf } from '../../../../src/workbench/chat/promptLink';

describe('a link with a prompt', () => {
  const CASES: readonly (readonly [query: string, prompt: string | undefined, agent?: string])[] = [
    ['', undefined],
    ['prompt=', undefined],
    ['agent=claude', undefined],
    ['prompt=Explain this', 'Explain this'],
    ['prompt=Explain this&agent=claude', 'Explain this', 'claude'],
    ['agent=claude&prompt=a & b = c? #1', 'a & b = c? #1', 'claude'],
    ['prompt=a & b&agent=my agent', 'a & b&agent=my agent'],
    ['prompt=one\ntwo&agent=claude@workspace', 'one\ntwo', 'claude@workspace'],
  ];

  for (const [query, prompt, agent] of CASES)
    it(`is read: ${JSON.stringify(query)}`, () => {
      assert.deepEqual(promptOf(query), prompt === undefined ? undefined : { prompt, agent });
    });
});
