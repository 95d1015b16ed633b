// Tools for language models that VS Code and other extensions register.

import { CancellationTokenSource, lm } from 'vscode';
import { at } from '../../base/untrusted';
import { inTime } from '../../editorTools/inTime';

/** A tool may ask the user itself, and then run for minutes; in milliseconds. */
const PATIENCE_MS = 15 * 60_000;

export function isRegistered(name: string): boolean {
  return lm.tools.some((tool) => tool.name === name);
}

/**
 * @returns the texts of the tool's answer
 * @throws the reason of `signal`; what the tool throws
 */
export async function textOfTool(name: string, input: object, signal: AbortSignal): Promise<string> {
  const source = new CancellationTokenSource();
  const cancel = (): void => source.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const answer = lm.invokeTool(name, { input, toolInvocationToken: undefined }, source.token);
    const { content } = await inTime(answer, PATIENCE_MS, signal);
    return content
      .map((part) => at(part, 'value'))
      .filter((value) => typeof value === 'string')
      .join('\n');
  } finally {
    signal.removeEventListener('abort', cancel);
    source.dispose();
  }
}
