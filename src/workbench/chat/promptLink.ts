// Reads `vscode://parley.parley/open?prompt=…&agent=…`.

/**
 * VS Code has decoded the query, so a prompt may contain any character.
 * @returns undefined without a prompt
 */
export function promptOf(query: string): { readonly prompt: string; readonly agent: string | undefined } | undefined {
  const [, before, prompt, after] = /^(?:agent=([^&]*)&)?prompt=(.+?)(?:&agent=([^&=\s]*))?$/s.exec(query) ?? [];
  return prompt === undefined ? undefined : { prompt, agent: before || after || undefined };
}
