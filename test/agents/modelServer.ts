// A scripted model on loopback for real agents: Anthropic messages, OpenAI chat completions and
// responses, Gemini, streaming.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerAnthropic } from './dialects/anthropic';
import { answerGemini } from './dialects/gemini';
import { answerOpenAi } from './dialects/openAi';
import { answerResponses } from './dialects/responses';
import { EventStream, sendJson } from './eventStream';
import { ModelFailure } from './modelScripts';

/** A running model. */
export interface ModelServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts the model on a free port of 127.0.0.1. */
export async function startModelServer(): Promise<ModelServer> {
  const server = createServer((request, response) => {
    route(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else
        sendJson(response, { error: { message: String(error) } }, error instanceof ModelFailure ? error.status : 500);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => close(server) };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://model').pathname;
  const body = await bodyOf(request);
  const gemini = /\/models\/([^/:]+):(\w+)$/.exec(path);
  const stream = new EventStream(response);
  if (request.method === 'GET' && path.endsWith('/models')) {
    const model = { id: 'scripted', object: 'model', type: 'model', display_name: 'Scripted' };
    sendJson(response, { object: 'list', data: [model], has_more: false });
  } else if (path.endsWith('/messages/count_tokens')) sendJson(response, { input_tokens: 100 });
  else if (path.endsWith('/messages')) await answerAnthropic(body, stream);
  else if (path.endsWith('/chat/completions')) await answerOpenAi(body, stream);
  else if (path.endsWith('/responses')) await answerResponses(body, stream);
  else if (gemini) await answerGemini(body, stream, gemini[2] ?? '');
  else sendJson(response, { error: { message: `The scripted model has no ${request.method} ${path}` } }, 404);
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? {} : JSON.parse(text);
}
