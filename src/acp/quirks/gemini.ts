// Quirks of gemini-cli that its capabilities don't tell.
import { at } from '../../base/untrusted';

/** gemini-cli reads a file before creating it and takes any error for a failed write. */
export function missingFileReadsEmpty(initializeResult: unknown): boolean {
  return at(initializeResult, 'agentInfo', 'name') === 'gemini-cli';
}

/** Converts to `usage`. gemini-cli reports tokens only in `_meta.quota`. */
export function tokensOfQuota(answer: unknown): object | undefined {
  const count = at(answer, '_meta', 'quota', 'token_count');
  const [inputTokens, outputTokens] = [at(count, 'input_tokens'), at(count, 'output_tokens')];
  if (typeof inputTokens !== 'number' || typeof outputTokens !== 'number') return undefined;
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}
