// The Gemini API, as far as an agent needs it.
import { randomUUID } from 'node:crypto';
import { at } from '../../../src/base/untrusted';
import { type EventStream, sendJson } from '../eventStream';
import { type Part, reply, type Said } from '../modelScripts';
import { list, plainText } from './json';

/**
 * What the agent asks itself between turns, in answers with its own schemas: which model is to
 * work, and who speaks next.
 */
const decisions = {
  reasoning: 'scripted',
  model_choice: 'flash',
  next_speaker: 'user',
  complexity_reasoning: 'scripted',
  complexity_score: 1,
};

/** POST /v1beta/models/MODEL:VERB */
export async function answerGemini(body: unknown, stream: EventStream, verb: string): Promise<void> {
  if (verb === 'countTokens') return sendJson(stream.response, { totalTokens: 100 });
  const tools = list(at(body, 'tools'))
    .flatMap((group) => list(at(group, 'functionDeclarations')))
    .map((tool) => ({
      name: String(at(tool, 'name')),
      schema: at(tool, 'parametersJsonSchema') ?? at(tool, 'parameters'),
    }));
  const parts: readonly Part[] =
    at(body, 'generationConfig', 'responseMimeType') === 'application/json'
      ? [{ text: JSON.stringify(decisions) }]
      : reply(list(at(body, 'contents')).flatMap(saidIn), tools);
  if (verb === 'generateContent') return sendJson(stream.response, answer(parts.map(whole), 'STOP'));
  for (const part of parts) {
    if ('call' in part || 'think' in part) stream.send(answer([whole(part)]));
    else for await (const word of stream.words(part)) stream.send(answer([{ text: word }]));
  }
  stream.send(answer([{ text: '' }], 'STOP'));
  stream.end();
}

function answer(parts: readonly object[], finishReason?: string): object {
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, ...(finishReason && { finishReason }) }],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 },
    modelVersion: 'scripted',
    responseId: randomUUID(),
  };
}

function whole(part: Part): object {
  if ('call' in part) {
    const { name, input } = part.call;
    return { functionCall: { id: randomUUID(), name, args: input }, thoughtSignature: 'c2NyaXB0ZWQ=' };
  }
  if ('think' in part) return { text: `**Thinking** ${part.think}`, thought: true };
  return { text: 'text' in part ? part.text : '' };
}

function saidIn(content: unknown): Said[] {
  const role = at(content, 'role') === 'model' ? 'model' : 'user';
  return list(at(content, 'parts')).map((part) =>
    at(part, 'functionResponse') === undefined ? { role, text: plainText(part) } : { role: 'tool', text: '' },
  );
}
