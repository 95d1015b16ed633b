// The OpenAI responses API, as far as an agent needs it: always streamed.
import { randomUUID } from 'node:crypto';
import { at } from '../../../src/base/untrusted';
import type { EventStream } from '../eventStream';
import { type Part, reply, type Said, type Tool } from '../modelScripts';
import { list, plainText } from './json';

type Send = (type: string, fields: object) => void;

/** POST /v1/responses. */
export async function answerResponses(body: unknown, stream: EventStream): Promise<void> {
  const tools = list(at(body, 'tools')).flatMap((tool) => toolsIn(tool));
  const parts = reply(list(at(body, 'input')).map(saidIn), tools);
  const base = { id: `resp_${randomUUID()}`, object: 'response', model: at(body, 'model') };
  const output: object[] = [];
  let sequence = 0;
  const send: Send = (type, fields) => stream.send({ type, sequence_number: sequence++, ...fields }, type);
  send('response.created', { response: { ...base, status: 'in_progress', output } });
  for (const part of parts) output.push(await sendItem(stream, send, output.length, part));
  const usage = {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 120,
  };
  send('response.completed', { response: { ...base, status: 'completed', output, usage } });
  stream.end();
}

/** Streams one item of the output. @returns it whole */
async function sendItem(stream: EventStream, send: Send, index: number, part: Part): Promise<object> {
  const id = `item_${randomUUID()}`;
  const place = { item_id: id, output_index: index };
  const begin = (item: object): void => send('response.output_item.added', { output_index: index, item });
  const end = (item: object): object => {
    send('response.output_item.done', { output_index: index, item });
    return item;
  };
  if ('call' in part) {
    const { name, namespace, input } = part.call;
    const item = {
      id,
      type: 'function_call',
      call_id: `call_${randomUUID()}`,
      name,
      ...(namespace !== undefined && { namespace }),
    };
    const whole = JSON.stringify(input);
    begin({ ...item, arguments: '' });
    send('response.function_call_arguments.delta', { ...place, delta: whole });
    return end({ ...item, arguments: whole });
  }
  let text = '';
  if ('think' in part) {
    const item = { id, type: 'reasoning' };
    const summary = { ...place, summary_index: 0 };
    begin({ ...item, summary: [] });
    send('response.reasoning_summary_part.added', { ...summary, part: { type: 'summary_text', text } });
    for await (const word of stream.words(part)) {
      text += word;
      send('response.reasoning_summary_text.delta', { ...summary, delta: word });
    }
    return end({ ...item, summary: [{ type: 'summary_text', text }], encrypted_content: null });
  }
  const item = { id, type: 'message', role: 'assistant' };
  begin({ ...item, content: [] });
  for await (const word of stream.words(part)) {
    text += word;
    send('response.output_text.delta', { ...place, content_index: 0, delta: word });
  }
  return end({ ...item, content: [{ type: 'output_text', text, annotations: [] }] });
}

/** A namespace holds the tools of one MCP server. */
function toolsIn(tool: unknown, namespace?: string): Tool[] {
  const name = String(at(tool, 'name') ?? at(tool, 'type'));
  if (at(tool, 'type') === 'namespace') return list(at(tool, 'tools')).flatMap((inner) => toolsIn(inner, name));
  return [{ name, schema: at(tool, 'parameters'), ...(namespace !== undefined && { namespace }) }];
}

function saidIn(item: unknown): Said {
  if (String(at(item, 'type')).endsWith('_output')) return { role: 'tool', text: '' };
  return { role: at(item, 'role') === 'user' ? 'user' : 'model', text: plainText(at(item, 'content')) };
}
