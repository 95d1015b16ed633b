// A server that treats sessions as the original one (acp-sdk 1.0.3) does: it records completed runs
// alone, an incoming descriptor replaces its own, and a history that it cannot load whole fails the
// run with the words of its HTTP client. Its agent answers with all that it knows.
import type { ServerResponse } from 'node:http';
import { type Message, mintId, type SessionDescriptor, textPart } from '../../../src/distributed/model/model';
import { textIn } from './servedAgents';
import { json, type StubServer, sse, stubServer } from './stubServer';

export interface OriginalServer extends StubServer {
  readonly knew: readonly (readonly string[])[];
  readonly links: readonly (readonly string[])[];
  session(id: string): SessionDescriptor | undefined;
  record(id: string, history: readonly string[], messages: readonly Message[]): void;
  forgetMessages(only?: number): void;
  restart(): void;
}

interface Body {
  readonly session?: SessionDescriptor;
  readonly session_id?: string;
  readonly input: readonly Message[];
}

/**
 * Prompts that are words for the agent: `fail` ends the run with an error, `stop` says something
 * and waits to be cancelled, `ask` asks a question.
 * @param port for one that comes back; 0 for any
 */
export async function originalServer(port = 0): Promise<OriginalServer> {
  const sessions = new Map<string, SessionDescriptor>();
  const resources = new Map<string, string>();
  const running = new Map<string, { cancel(): void; resume(answer: Message, response: ServerResponse): void }>();
  const knew: string[][] = [];
  const links: string[][] = [];
  let baseUrl = '';

  const record = (id: string, history: readonly string[], messages: readonly Message[]): void => {
    const added = messages.map((message) => {
      const name = mintId();
      resources.set(name, JSON.stringify(message));
      return `${baseUrl}/resources/${name}`;
    });
    sessions.set(id, { id, history: [...history, ...added] });
  };

  const load = async (history: readonly string[]): Promise<readonly string[] | Error> => {
    const texts: string[] = [];
    for (const url of history) {
      const name = url.startsWith(`${baseUrl}/resources/`)
        ? url.slice(baseUrl.length + 11).split(/[?#]/)[0]
        : undefined;
      const here = name === undefined ? undefined : resources.get(name);
      if (here !== undefined) {
        texts.push(textIn(JSON.parse(here) as Message));
        continue;
      }
      // Its own links it follows without HTTP.
      if (name !== undefined)
        return new Error(`Object at location ${name} not found: No data in memory found. Location: ${name}`);
      try {
        const response = await fetch(url);
        if (!response.ok) throw new Error(`Client error '${response.status} ${response.statusText}' for url '${url}'`);
        texts.push(textIn((await response.json()) as Message));
      } catch (error) {
        return error instanceof TypeError ? new Error('All connection attempts failed') : (error as Error);
      }
    }
    return texts;
  };

  const run = async (body: Body, response: ServerResponse): Promise<void> => {
    const id = body.session?.id ?? body.session_id ?? mintId();
    const { history } = body.session ?? sessions.get(id) ?? { history: [] };
    if (body.session) links.push([...history]);
    const base = { run_id: mintId(), agent_name: 'a', session_id: id, output: [] as Message[] };
    const say = (text: string): Message => ({
      role: 'agent/a',
      parts: [textPart(text)],
      created_at: new Date().toISOString(),
    });
    response.writeHead(200, { 'content-type': 'text/event-stream', 'run-id': base.run_id });
    const send = (type: string, more: object = {}): void => {
      response.write(sse([{ type: `run.${type}`, run: { ...base, status: type, ...more } }]));
    };
    const complete = (): void => {
      record(id, history, [...body.input, ...base.output]);
      send('completed');
      response.end();
    };
    send('created');
    const past = await load(history);
    const fail = (message: string): void => {
      send('failed', { error: { code: 'server_error', message } });
      response.end();
    };
    if (past instanceof Error) return fail(past.message);
    const known = [...past, ...body.input.map(textIn)];
    knew.push(known);
    switch (known.at(-1)) {
      case 'fail':
        return fail('Wrong question buddy!');
      case 'stop':
        base.output.push(say('I begin'));
        response.write(sse([{ type: 'message.part', part: textPart('I begin') }]));
        running.set(base.run_id, {
          cancel: () => {
            send('cancelled');
            response.end();
          },
          resume: () => {},
        });
        return;
      case 'ask':
        running.set(base.run_id, {
          cancel: () => {},
          resume: (answer, next) => {
            response = next;
            next.writeHead(200, { 'content-type': 'text/event-stream' });
            base.output.push(say(`You said ${textIn(answer)}`));
            complete();
          },
        });
        send('awaiting', { await_request: { type: 'message', message: say('Which one?') } });
        response.end();
        return;
      default:
        base.output.push(say(`I know ${known.length}`));
        complete();
    }
  };

  const stub = await stubServer(async ({ method, path, body }, response) => {
    const [, room, id = '', action] = path.split(/[/?]/);
    if (room === 'ping') json(response, 200, {});
    else if (room === 'agents') json(response, 200, { name: 'a' });
    else if (room === 'resources') {
      const found = resources.get(id);
      if (found === undefined) json(response, 404, { code: 'not_found', message: 'Resource not found' });
      else response.end(found);
    } else if (room === 'sessions' || room === 'session') {
      const session = sessions.get(id);
      if (session) json(response, 200, session);
      else json(response, 404, { code: 'not_found', message: 'Session not found' });
    } else if (room === 'runs' && action === 'cancel') {
      json(response, 202, { run_id: id, agent_name: 'a', status: 'cancelling', output: [] });
      running.get(id)?.cancel();
    } else if (room === 'runs' && method === 'GET') {
      json(response, 200, { run_id: id, agent_name: 'a', status: 'awaiting', output: [] });
    } else if (room === 'runs' && id !== '') {
      running.get(id)?.resume((body as { await_resume: { message: Message } }).await_resume.message, response);
    } else await run(body as Body, response);
  }, port);
  baseUrl = stub.baseUrl;
  return {
    ...stub,
    knew,
    links,
    session: (id) => sessions.get(id),
    record,
    restart: () => {
      sessions.clear();
      resources.clear();
    },
    forgetMessages: (only) => {
      for (const [index, name] of [...resources.keys()].entries())
        if (only === undefined || index === only - 1) resources.delete(name);
    },
  };
}
