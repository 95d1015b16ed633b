// Inputs that a configuration of MCP servers asks the user for: asked once, kept in this workspace;
// passwords only in VS Code's secret store.
import { type ExtensionContext, l10n } from 'vscode';
import type { McpInput } from '../../client/mcp/mcpConfig';
import { askLine, pick } from '../ui/input';

const VALUES = 'parley.mcp.inputs';
const SECRETS = 'parley.mcp.secrets';

export class McpInputs {
  readonly #context: ExtensionContext;

  constructor(context: ExtensionContext) {
    this.#context = context;
  }

  /**
   * @param source each has its own answers
   * @returns undefined if the user gave none
   */
  async ask(source: string, id: string, inputs: readonly McpInput[]): Promise<string | undefined> {
    const input = inputs.find((candidate) => candidate.id === id);
    const key = JSON.stringify([source, id]);
    // An undeclared input may be a secret.
    const isSecret = input ? input.password === true : true;
    const known = isSecret ? await this.#context.secrets.get(this.#secretKey(key)) : this.#values()[key];
    if (known !== undefined) return known;
    const answer = await ask(id, input, isSecret);
    if (answer === undefined) return undefined;
    const { workspaceState, secrets } = this.#context;
    if (isSecret) {
      await secrets.store(this.#secretKey(key), answer);
      await workspaceState.update(SECRETS, [...new Set([...workspaceState.get<string[]>(SECRETS, []), key])]);
    } else await workspaceState.update(VALUES, { ...this.#values(), [key]: answer });
    return answer;
  }

  get hasAnswers(): boolean {
    const { workspaceState } = this.#context;
    return Object.keys(this.#values()).length > 0 || workspaceState.get<string[]>(SECRETS, []).length > 0;
  }

  async reset(): Promise<void> {
    const { workspaceState, secrets } = this.#context;
    for (const key of workspaceState.get<string[]>(SECRETS, [])) await secrets.delete(this.#secretKey(key));
    await workspaceState.update(SECRETS, undefined);
    await workspaceState.update(VALUES, undefined);
  }

  #values(): Record<string, string> {
    return this.#context.workspaceState.get<Record<string, string>>(VALUES, {});
  }

  #secretKey(key: string): string {
    return `parley.mcp.input:${key}`;
  }
}

async function ask(id: string, input: McpInput | undefined, password: boolean): Promise<string | undefined> {
  const title = l10n.t('MCP server: {0}', id);
  const prompt = input?.description ?? id;
  if (input?.type === 'pickString') {
    const options = input.options ?? [];
    const items = options.map((option, index) => ({ id: String(index), label: option }));
    const chosen = await pick(items, prompt, { title, ignoreFocusOut: true });
    return chosen === undefined ? undefined : options[Number(chosen)];
  }
  if (input !== undefined && input.type !== 'promptString') return undefined;
  return askLine({ title, prompt, secret: password, value: input?.default });
}
