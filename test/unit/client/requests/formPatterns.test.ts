// Patterns in agents' forms are matched as in a browser, and can't block the host.
import { strict as assert } from 'node:assert';
import { ElicitationRequestHandler } from '../../../../src/client/requests/elicitationRequestHandler';

describe('a pattern in an agent’s form', () => {
  async function submit(pattern: string, value: string): Promise<string | undefined> {
    let id = '';
    const handler = new ElicitationRequestHandler((event) => {
      if (event.type === 'elicitation_asked') id = event.id;
    });
    const form = { fields: [{ type: 'text', key: 'k', required: false, pattern }] } as const;
    const asked = { scope: { sessionId: 's' }, message: '', body: { mode: 'form', form }, elicitationId: undefined };
    void handler.ask(asked as Parameters<typeof handler.ask>[0], false, new AbortController().signal);
    return (await handler.submit(id, { k: value }))?.get('k')?.code;
  }

  for (const [pattern, value, code] of [
    ['^[a-z]+$', 'abc', undefined],
    ['^[a-z]+$', 'abC', 'pattern'],
    ['^.$', '😀', undefined],
    ['a*', 'b', undefined],
    ['^(?!x)', 'xy', 'pattern'],
    ['\\-', 'a-b', undefined],
    ['(', 'left to the agent: invalid', undefined],
  ] as const) {
    it(`${code ? 'refuses' : 'accepts'} ${JSON.stringify(value)} for /${pattern}/`, async () => {
      assert.equal(await submit(pattern, value), code);
    });
  }

  it('is stopped and left to the agent if it takes too long, without blocking the host', async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 10);
    const code = await submit('^(a+)+$', `${'a'.repeat(40)}!`);
    clearInterval(timer);
    assert.equal(code, undefined);
    assert.ok(ticks > 10, `${ticks} ticks`);
  });
});
