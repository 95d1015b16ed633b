// The OpenAI chat completions API, as far as an agent needs it.
import { randomUUID } from 'node:crypto';
import { at } from '../../../src/base/untrusted';
import { type EventStream, sendJson } from '../eventStream';
import { type Part, reply, type Said } from '../modelScripts';
import { list, plainText } from './json';

/** POST /v1/chat/completions, streamed or not. */
export async function answerOpenAi(body: unknown, stream: EventStream): Promise<void> {
  const tools = list(at(body, 'tools')).map((tool) => ({
    name: String(at(tool, 'function', 'name')),
    schema: at(tool, 'function', 'parameters'),
  }));
  const parts = reply(list(at(body, 'messages')).map(saidIn), tools);
  const finish = parts.some((part) => 'call' in part) ? 'tool_calls' : 'stop';
  const base = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000), model: at(body, 'model') };
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  if (at(body, 'stream') !== true) {
    const content = parts.map((part) => ('text' in part ? part.text : '')).join('');
    const choice = { index: 0, finish_reason: finish, message: { role: 'assistant', content } };
    sendJson(stream.response, { ...base, object: 'chat.completion', choices: [choice], usage });
    return;
  }
  const send = (delta: object, finishReason: string | null = null): void =>
    stream.send({
      ...base,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: finishReason }],
    });
  send({ role: 'assistant', content: '' });
  for (const part of parts) await sendPart(stream, send, part);
  send({}, finish);
  stream.send({ ...base, object: 'chat.completion.chunk', choices: [], usage });
  stream.send('[DONE]');
  stream.end();
}

async function sendPart(stream: EventStream, send: (delta: object) => void, part: Part): Promise<void> {
  if ('call' in part) {
    const { name, input } = part.call;
    send({
      tool_calls: [{ index: 0, id: `call_${randomUUID()}`, type: 'function', function: { name, arguments: '' } }],
    });
    for (const piece of JSON.stringify(input).match(/.{1,40}/gs) ?? []) {
      send({ tool_calls: [{ index: 0, function: { arguments: piece } }] });
    }
    return;
  }
  for await (const word of stream.words(part)) send('think' in part ? { reasoning_content: word } : { content: word });
}

function saidIn(message: unknown): Said {
  const role = at(message, 'role');
  const text = plainText(at(message, 'content'));
  if (role === 'user' || role === 'tool') return { role, text };
  return { role: 'model', text };
}
