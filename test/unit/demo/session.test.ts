// A session of the demo agent over streams in memory, with the test as the client.
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { commands, sceneOf } from '../../../src/demo/scenes';
import { DemoSession } from '../../../src/demo/session';
import { Wire } from '../../../src/demo/wire';

const CAN = {
  readFiles: true,
  writeFiles: true,
  terminals: false,
  booleanOptions: false,
  forms: false,
  receipts: false,
};

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params: {
    readonly path?: string;
    readonly update?: { readonly sessionUpdate: string; readonly status?: string };
  };
}

/** Plays a prompt. */
async function played(
  text: string,
  outcome: object,
): Promise<{ readonly messages: Message[]; readonly result: object }> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const handler = { request: () => Promise.reject(new Error('not asked')), notification() {} };
  const session = new DemoSession('s', {
    commands,
    sceneOf,
    cwd: '/work',
    wire: new Wire(input, output, handler),
    can: CAN,
    version: 1,
    opening: { method: 'session/new', wasForgotten: false },
    onForget() {},
  });
  session.settings.setOption({ configId: 'pace', value: 'instant' });
  const messages: Message[] = [];
  output.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().split('\n').slice(0, -1)) {
      const message = JSON.parse(line) as Message;
      messages.push(message);
      if (message.id === undefined) continue;
      const result = message.method === 'session/request_permission' ? { outcome } : {};
      input.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, result })}\n`);
    }
  });
  const result = await session.prompt({ text } as never, 1, undefined);
  output.end();
  await once(output, 'end');
  return { messages, result };
}

describe('the demo agent edits a file', () => {
  const written = (messages: readonly Message[]): (string | undefined)[] =>
    messages.flatMap(({ method, params }) => (method === 'fs/write_text_file' ? [params.path] : []));
  const lastStatus = (messages: readonly Message[]): string | undefined =>
    messages.flatMap(({ params }) => params.update?.status ?? []).at(-1);

  it('after it was allowed', async () => {
    const { messages, result } = await played('/edit', { outcome: 'selected', optionId: 'once' });
    assert.deepEqual(written(messages), [join('/work', 'parley-demo.md')]);
    assert.equal(lastStatus(messages), 'completed');
    assert.deepEqual(result, { stopReason: 'end_turn' });
  });

  for (const outcome of [{ outcome: 'selected', optionId: 'no' }, { outcome: 'cancelled' }])
    it(`never when the answer is ${JSON.stringify(outcome)}`, async () => {
      const { messages, result } = await played('/edit', outcome);
      assert.deepEqual(written(messages), []);
      assert.equal(lastStatus(messages), 'failed');
      assert.deepEqual(result, { stopReason: 'end_turn' });
    });
});
