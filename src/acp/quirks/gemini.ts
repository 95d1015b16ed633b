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

/**
 * Returns the tokens of a turn as `usage` names them. gemini-cli tells them only in `_meta.quota` of
 * its answer.
 */
export function tokensOfQuota(answer: unknown): object | undefined {
  const count = at(answer, '_meta', 'quota', 'token_count');
  const [inputTokens, outputTokens] = [at(count, 'input_tokens'), at(count, 'output_tokens')];
  if (typeof inputTokens !== 'number' || typeof outputTokens !== 'number') return undefined;
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}
