// The Anthropic messages API, as far as an agent needs it.
import { randomUUID } from 'node:crypto';
import { at } from '../../../src/base/untrusted';
import { type EventStream, sendJson } from '../eventStream';
import { type Part, reply, type Said } from '../modelScripts';
import { list, plainText } from './json';

/** POST /v1/messages, streamed or not. */
export async function answerAnthropic(body: unknown, stream: EventStream): Promise<void> {
  const tools = list(at(body, 'tools')).map((tool) => ({
    name: String(at(tool, 'name')),
    schema: at(tool, 'input_schema'),
  }));
  const parts = reply(list(at(body, 'messages')).flatMap(saidIn), tools);
  const stopReason = parts.some((part) => 'call' in part) ? 'tool_use' : 'end_turn';
  const message = {
    id: `msg_${randomUUID()}`,
    type: 'message',
    role: 'assistant',
    model: at(body, 'model'),
    content: [] as object[],
    stop_reason: null as string | null,
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 20, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  };
  if (at(body, 'stream') !== true) {
    const content = parts.flatMap((part) =>
      'text' in part
        ? [{ type: 'text', text: part.text }]
        : 'call' in part
          ? [toolUse(part.call, part.call.input)]
          : [],
    );
    sendJson(stream.response, { ...message, content, stop_reason: stopReason });
    return;
  }
  const send = (event: { readonly type: string }): void => stream.send(event, event.type);
  const event = (type: string, more: object = {}): void => send({ type, ...more });
  event('message_start', { message });
  for (const [index, part] of parts.entries()) await sendBlock(stream, event, index, part);
  event('message_delta', { delta: { stop_reason: stopReason, stop_sequence: null }, usage: { output_tokens: 20 } });
  event('message_stop');
  stream.end();
}

async function sendBlock(
  stream: EventStream,
  event: (type: string, more: object) => void,
  index: number,
  part: Part,
): Promise<void> {
  const delta = (fields: object): void => event('content_block_delta', { index, delta: fields });
  if ('call' in part) {
    event('content_block_start', { index, content_block: toolUse(part.call, {}) });
    for (const piece of JSON.stringify(part.call.input).match(/.{1,40}/gs) ?? [])
      delta({ type: 'input_json_delta', partial_json: piece });
  } else if ('think' in part) {
    event('content_block_start', { index, content_block: { type: 'thinking', thinking: '', signature: '' } });
    for await (const word of stream.words(part)) delta({ type: 'thinking_delta', thinking: word });
    delta({ type: 'signature_delta', signature: 'c2NyaXB0ZWQ=' });
  } else {
    event('content_block_start', { index, content_block: { type: 'text', text: '' } });
    for await (const word of stream.words(part)) delta({ type: 'text_delta', text: word });
  }
  event('content_block_stop', { index });
}

function toolUse({ name }: { readonly name: string }, input: object): object {
  return { type: 'tool_use', id: `toolu_${randomUUID()}`, name, input };
}

function saidIn(message: unknown): Said[] {
  const role = at(message, 'role') === 'assistant' ? 'model' : 'user';
  const content = at(message, 'content');
  if (typeof content === 'string') return [{ role, text: content }];
  return list(content).map((block) =>
    at(block, 'type') === 'tool_result' ? { role: 'tool', text: '' } : { role, text: plainText(block) },
  );
}
