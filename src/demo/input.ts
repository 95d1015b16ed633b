// Reads requests without a schema library: the demo agent has no dependencies.
import { at } from '../base/untrusted';
import { RpcFault } from './wire';

export type Version = 1 | 2;

/** Returns a string parameter. @throws RpcFault -32602 if it is missing */
export function text(params: unknown, key: string): string {
  const value = at(params, key);
  if (typeof value !== 'string') throw new RpcFault(-32602, `"${key}" must be a string.`);
  return value;
}

export interface Prompt {
  readonly blocks: readonly unknown[];
  readonly text: string;
  readonly attachments: readonly string[];
}

/** Reads the content blocks of session/prompt (v1, section "Content"). @throws RpcFault -32602 */
export function promptOf(params: unknown): Prompt {
  const blocks = at(params, 'prompt');
  if (!Array.isArray(blocks) || blocks.length === 0)
    throw new RpcFault(-32602, '"prompt" must hold at least one block.');
  const words: string[] = [];
  const attachments: string[] = [];
  for (const block of blocks) {
    const type = at(block, 'type');
    if (type === 'text') words.push(String(at(block, 'text') ?? ''));
    else if (type === 'resource') attachments.push(String(at(block, 'resource', 'uri')));
    else if (type === 'resource_link') attachments.push(String(at(block, 'uri')));
    else if (type === 'image') attachments.push(`an image (${String(at(block, 'mimeType'))})`);
    else throw new RpcFault(-32602, `The demo agent takes no "${String(type)}" blocks.`);
  }
  return { blocks, text: words.join('\n').trim(), attachments };
}

export interface ClientCan {
  readonly readFiles: boolean;
  readonly writeFiles: boolean;
  readonly terminals: boolean;
  readonly booleanOptions: boolean;
  readonly forms: boolean;
  readonly receipts: boolean;
  readonly suggestions: boolean;
  readonly compaction: boolean;
}

export interface KeptState {
  readonly url: string | null;
  readonly content: string;
  readonly hasConflict: boolean;
  readonly unavailable?: string;
}

export function readState(offer: unknown, known: KeptState | undefined): KeptState | undefined {
  if (typeof offer !== 'object' || offer === null) return undefined;
  const [url, content, unavailable] = ['url', 'content', 'unavailable'].map((name) => at(offer, name));
  return {
    url: typeof url === 'string' ? url : null,
    content: typeof content === 'string' ? Buffer.from(content, 'base64').toString('utf8') : (known?.content ?? ''),
    hasConflict: at(offer, 'conflict') === true,
    unavailable: typeof unavailable === 'string' ? unavailable : undefined,
  };
}

export function clientCan(params: unknown, version: Version): ClientCan {
  const capabilities = at(params, version === 2 ? 'capabilities' : 'clientCapabilities');
  const booleans = at(capabilities, 'session', 'configOptions', 'boolean');
  return {
    readFiles: at(capabilities, 'fs', 'readTextFile') === true,
    writeFiles: at(capabilities, 'fs', 'writeTextFile') === true,
    terminals: at(capabilities, 'terminal') === true,
    forms: at(capabilities, 'elicitation', 'form') != null,
    receipts: version === 2 || at(capabilities, '_meta', 'prompt_lifecycle', 'receipt') != null,
    suggestions: at(capabilities, 'session', 'promptSuggestions') != null,
    compaction: at(capabilities, 'session', 'compaction') != null,
    booleanOptions: version === 2 || (typeof booleans === 'object' && booleans !== null),
  };
}
