// Recognizes gemini-cli, where its capabilities do not tell its behaviour.
import { at } from '../../base/untrusted';

/**
 * Returns whether a missing file must read as empty. gemini-cli reads a file before it creates it,
 * and takes every error answer to that (-32603 and -32002 alike) for a failure of the write itself,
 * so it could never create a file; nothing in its capabilities tells this.
 */
export function missingFileReadsEmpty(initializeResult: unknown): boolean {
  return at(initializeResult, 'agentInfo', 'name') === 'gemini-cli';
}
