// What "Show Protocol Traffic" shows of an HTTP agent: each exchange with its body, without
// secrets.
import { strict as assert } from 'node:assert';
import { redactSignatures } from '../../../../src/distributed/model/resourceUrl';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { agentOf, echo, serve, stopServers } from '../../../support/servers/servedAgents';
import { json, stopStubs, stubServer } from '../../../support/servers/stubServer';
import { parseAgent, type TestConversation, testConversation } from '../../../support/sessions/conversation';

describe('the traffic of an HTTP agent', function () {
  this.timeout(20_000);
  let session: TestConversation | undefined;

  afterEach(async () => {
    await session?.close();
    session = undefined;
    await stopServers();
    await stopStubs();
    await removeScratch();
  });

  async function open(url: string, token: string): Promise<{ test: TestConversation; lines: string[] }> {
    const far = {
      type: 'communication',
      name: 'Far',
      url,
      agent: 'echo',
      headers: { Authorization: `Bearer ${token}` },
    };
    const agent = parseAgent(far, 'far');
    const lines: string[] = [];
    const onTraffic = (key: string, dir: string, line: string): void => {
      lines.push(`${key} ${dir} ${line}`);
    };
    const test = testConversation({ agent, cwd: await scratchFolder(), services: { onTraffic } });
    session = test;
    return { test, lines };
  }

  it('includes the text of messages', async () => {
    const { baseUrl, token } = await serve([echo]);
    const { test, lines } = await open(baseUrl, token);
    await test.conversation.send('hello there').done;
    const fits = (pattern: RegExp): void =>
      assert.ok(
        lines.some((line) => pattern.test(line)),
        `${pattern}\n${lines.join('\n')}`,
      );
    fits(/^test out GET \/ping$/);
    fits(/^test in 200 GET \/agents\/echo \{.*"name":"echo"/);
    fits(/^test out POST \/runs \{.*"content":"hello there"/);
    fits(/^test in 200 POST \/runs \(event stream\)$/);
    fits(/^test in \{"type":"message\.completed".*"hello there"/);
    fits(/^test in 200 GET \/sessions\/[0-9a-f-]+ \{.*"history"/);
  });

  it('includes neither the token nor signatures of links', async () => {
    const { baseUrl, token } = await serve([echo, agentOf('other', async () => {})]);
    const { test, lines } = await open(baseUrl, token);
    await test.conversation.send(`my token is ${token}`).done;
    await test.conversation.send('again').done;
    const all = lines.join('\n');
    const { history = [] } = test.conversation.communication.descriptor ?? {};
    assert.equal(history.length, 4);
    for (const url of history) {
      const signature = new URL(url).searchParams.get('sig') ?? '';
      assert.ok(signature.length > 20);
      assert.ok(!all.includes(signature));
      assert.ok(all.includes(new URL(url).pathname), 'where the message is can be seen');
    }
    assert.ok(!all.includes(token));
  });

  it('shows when a server refuses or is unreachable', async () => {
    const stub = await stubServer((_request, response) =>
      json(response, 503, { code: 'server_error', message: 'busy' }),
    );
    const { test, lines } = await open(stub.baseUrl, 'x'.repeat(20));
    await test.conversation.start();
    assert.ok(lines.some((line) => /^test in 503 GET \/ping \{.*busy/.test(line)));
    await stub.stop();
    await test.conversation.start();
    assert.ok(lines.includes('test in (no answer) GET /ping'));
  });

  it('hides signatures in every form that servers use', () => {
    const texts = [
      'x https://s3.example/a?X-Amz-Credential=AK%2Fx&X-Amz-Date=1&X-Amz-Signature=SECRET y',
      '{"url":"https://s3.example/a?X-Amz-Date=1\\u0026X-Amz-Signature=SECRET"}',
      '["https://blob.example/a?sv=1&sig=SECRET#sha256=00"]',
      'https://me:SECRET@host/a',
      'http://127.0.0.1:1/resources/1?exp=2&sig=SECRET\\n',
    ];
    for (const text of texts) {
      const clean = redactSignatures(text);
      assert.ok(!clean.includes('SECRET'), clean);
      assert.ok(clean.includes('[redacted]'));
    }
    assert.match(redactSignatures(texts[2] ?? ''), /sig=\[redacted\]#sha256=00"\]$/);
    assert.equal(redactSignatures('a signature=plain, 12:30@noon'), 'a signature=plain, 12:30@noon');
  });
});
