// An ACP v1 agent of the stories (machines/story.ts): each prompt has a number, and so has its
// answer. It is not the scripted agent, as it reads all that comes with a prompt. $STORY_LOG: which
// marks came with each prompt.
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { at } from '../../../src/base/untrusted';
import { answerOf, marksIn, readPrompt, SLOW_MS } from '../machines/story';
import { AgentWire } from './agentWire';
import { processProgram } from './program';

const wire = new AgentWire(processProgram());
const stops = new Map<string, () => void>();
let sessions = 0;

function say(sessionId: string, text: string): void {
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } };
  void wire.send({ method: 'session/update', params: { sessionId, update } });
}

async function prompt(params: unknown): Promise<object> {
  const sessionId = String(at(params, 'sessionId'));
  const blocks = at(params, 'prompt') as readonly {
    readonly text?: string;
    readonly resource?: { readonly text?: string };
  }[];
  const texts = blocks.map(({ text, resource }) => text ?? resource?.text ?? '');
  if (process.env.STORY_LOG) appendFileSync(process.env.STORY_LOG, `${JSON.stringify(marksIn(texts.join('\n')))}\n`);
  // What others said comes behind the prompt, or before it: the prompt is the block that is one and
  // nothing else.
  const own = texts.find((text) => /^\[q[\d.]+\] \w+$/.test(text.trim())) ?? texts[0] ?? '';
  const { mark, verb } = readPrompt(own);
  const stopped = new Promise<void>((resolve) => stops.set(sessionId, resolve));
  const words = answerOf(mark);
  say(sessionId, words.slice(0, 7));
  say(sessionId, words.slice(7));
  if (verb === 'fail') throw { code: -32603, message: 'Wrong question buddy!' };
  if (verb === 'slow') await Promise.race([sleep(SLOW_MS), stopped]);
  if (verb !== 'hang') return { stopReason: 'end_turn' };
  await stopped;
  return { stopReason: 'cancelled' };
}

async function handle(method: string, params: unknown): Promise<unknown> {
  if (method === 'initialize') return { protocolVersion: 1, agentCapabilities: {}, authMethods: [] };
  if (method === 'session/new') return { sessionId: `story-${process.pid}-${++sessions}` };
  if (method === 'session/prompt') return prompt(params);
  throw { code: -32601, message: `Method not found: ${method}` };
}

wire.listen(
  (line) => {
    const { id, method, params } = JSON.parse(line) as { id?: unknown; method?: string; params?: unknown };
    if (method === 'session/cancel') stops.get(String(at(params, 'sessionId')))?.();
    if (id === undefined || method === undefined) return;
    handle(method, params).then(
      (result) => wire.send({ id, result }),
      (error: unknown) =>
        wire.send({ id, error: at(error, 'code') ? error : { code: -32603, message: String(error) } }),
    );
  },
  () => process.exit(0),
);
