// Reads what a client sends without a schema library: the demo agent has no dependencies.
import { RpcFault } from './wire';

/** The value at a path of keys; undefined where any step is missing. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}

/** A string of the params. @throws RpcFault -32602 where it is missing */
export function text(params: unknown, key: string): string {
  const value = at(params, key);
  if (typeof value !== 'string') throw new RpcFault(-32602, `"${key}" must be a string.`);
  return value;
}

/** A prompt as the scenes need it: its words, and what was attached to it. */
export interface Prompt {
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
  return { text: words.join('\n').trim(), attachments };
}
