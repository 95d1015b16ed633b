// What the params of a client's calls to the reference agent must look like, by version and by what
// the agent has advertised.
import { isAbsolute } from 'node:path';
import { at } from '../../../../src/base/untrusted';
import type { Offer, ReferenceScript } from './referenceScript';

export function judgeParams(version: 1 | 2, method: string, params: unknown, script: ReferenceScript): string[] {
  const offers = new Set<Offer>(script.offers ?? []);
  switch (method) {
    case 'session/new':
    case 'session/load':
    case 'session/resume':
    case 'session/fork':
      return place(version, method, params, offers);
    case 'session/prompt':
      return prompt(params, offers);
    case 'session/list':
      return at(params, 'archived') === undefined || offers.has('archive')
        ? []
        : ['session/list with the archived filter, which was not advertised'];
    case 'session/status': {
      const keys = Object.keys(typeof params === 'object' && params !== null ? params : {});
      return keys.join() === 'sessionId' ? [] : [`session/status with the params ${keys.join()}`];
    }
    case 'session/set_config_option': {
      const type = at(params, 'type');
      return type === typeOf(version, at(params, 'value')) ? [] : [`${method} with the type ${JSON.stringify(type)}`];
    }
    case 'authenticate':
    case 'auth/login': {
      const id = at(params, 'methodId');
      const found = (script.authMethods ?? []).find((one) => (one.methodId ?? one.id) === id);
      if (!found) return [`${method} with the unknown method ${JSON.stringify(id)}`];
      return found.type === 'terminal' ? [`${method} with a method of type terminal`] : [];
    }
    case '$/cancel_request':
      return at(params, 'requestId') === undefined ? ['$/cancel_request without requestId'] : [];
    default:
      return [];
  }
}

function typeOf(version: 1 | 2, value: unknown): string | undefined {
  if (typeof value === 'boolean') return 'boolean';
  return version === 2 ? 'id' : undefined;
}

function place(version: 1 | 2, method: string, params: unknown, offers: ReadonlySet<Offer>): string[] {
  const wrong: string[] = [];
  const cwd = at(params, 'cwd');
  if (typeof cwd !== 'string' || !isAbsolute(cwd)) wrong.push(`${method} with the cwd ${JSON.stringify(cwd)}`);
  const servers = at(params, 'mcpServers');
  const required = version === 1 && (method === 'session/new' || method === 'session/load');
  if (!Array.isArray(servers) && (required || servers !== undefined)) wrong.push(`${method} without mcpServers`);
  for (const server of Array.isArray(servers) ? servers : []) {
    const type = at(server, 'type') ?? 'stdio';
    const needed = new Map<unknown, Offer>([
      ['http', 'mcpHttp'],
      ['sse', 'mcpSse'],
      ['acp', 'mcpAcp'],
    ]).get(type);
    const allowed = type === 'stdio' || (needed !== undefined && offers.has(needed));
    if (!allowed) wrong.push(`${method} with an MCP server of type ${JSON.stringify(type)}, which was not advertised`);
  }
  const more = at(params, 'additionalDirectories');
  if (more !== undefined && !offers.has('additionalDirectories'))
    wrong.push(`${method} with additionalDirectories, which were not advertised`);
  if (Array.isArray(more) && !more.every((one) => typeof one === 'string' && isAbsolute(one)))
    wrong.push(`${method} with additionalDirectories that are not absolute`);
  const values = at(params, 'configOptions');
  if (values !== undefined && !offers.has('options')) wrong.push(`${method} with values, which were not advertised`);
  for (const one of Array.isArray(values) ? values : [])
    if (at(one, 'type') !== typeOf(version, at(one, 'value'))) wrong.push(`${method} with a value of the wrong type`);
  return [...wrong, ...instructions(method, at(params, 'systemPrompt'), offers)];
}

function instructions(method: string, prompt: unknown, offers: ReadonlySet<Offer>): string[] {
  if (prompt === undefined) return [];
  const wrong: string[] = [];
  const content = at(prompt, 'content');
  if (!offers.has('systemPrompt')) wrong.push(`${method} with a systemPrompt, which was not advertised`);
  if (at(prompt, 'mode') !== 'append') wrong.push(`${method} with the systemPrompt mode ${at(prompt, 'mode')}`);
  if (!Array.isArray(content) || content.length === 0 || content.some((block) => at(block, 'type') !== 'text'))
    wrong.push(`${method} with a systemPrompt that is not text`);
  return wrong;
}

function prompt(params: unknown, offers: ReadonlySet<Offer>): string[] {
  const blocks = at(params, 'prompt');
  if (!Array.isArray(blocks) || blocks.length === 0) return ['session/prompt without content'];
  return blocks.flatMap((block): string[] => {
    const type = String(at(block, 'type'));
    switch (type) {
      case 'text':
        return typeof at(block, 'text') === 'string' ? [] : ['a text block without text'];
      case 'resource_link':
        return typeof at(block, 'uri') === 'string' && typeof at(block, 'name') === 'string'
          ? []
          : ['a resource_link without uri or name'];
      case 'image':
      case 'audio':
        return offers.has(type) ? [] : [`a prompt with ${type}, which was not advertised`];
      case 'resource':
        return offers.has('embeddedContext') ? [] : ['a prompt with a resource, which was not advertised'];
      default:
        return [`a prompt with a block of type ${type}`];
    }
  });
}
