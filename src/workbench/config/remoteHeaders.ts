// Secrets for headers of remote agents, stored per origin, and consent to unencrypted connections.
import { type ExtensionContext, l10n } from 'vscode';
import { headerValueProblem } from '../../agents/agentInput';
import type { RemoteAccess } from '../../client/transport/remoteTarget';
import { askLine } from '../ui/input';
import { askModal } from '../ui/messages';

/** “Clear all saved credentials” removes secrets with this prefix. */
export const PREFIX = 'parley.remote:';
const CLEARTEXT = 'parley.remote.cleartext';

export class RemoteHeaders implements RemoteAccess {
  readonly #context: ExtensionContext;
  /** Sessions that start together share a question. */
  readonly #asking = new Map<string, Promise<string | undefined>>();

  constructor(context: ExtensionContext) {
    this.#context = context;
  }

  async secret(origin: string, name: string, agent: string, signal: AbortSignal): Promise<string | undefined> {
    const key = `${PREFIX}${origin} ${name}`;
    const savedSecret = await this.#context.secrets.get(key);
    if (savedSecret !== undefined) return savedSecret;
    return this.#askOnce(key, async () => {
      const title = `${agent}: ${name}`;
      const prompt = l10n.t("It's sent to {0} only and saved in VS Code's secret storage.", origin);
      const given = await askLine({ title, prompt, secret: true, validate: headerValueProblem }, signal);
      if (given) await this.#context.secrets.store(key, given);
      return given || undefined;
    });
  }

  async save(origin: string, name: string, value: string): Promise<void> {
    await this.#context.secrets.store(`${PREFIX}${origin} ${name}`, value);
  }

  async allowCleartext(origin: string, agent: string): Promise<boolean> {
    if (this.#cleartext().includes(origin)) return true;
    const allow = l10n.t('Connect Anyway');
    const answer = await this.#askOnce(`${CLEARTEXT} ${origin}`, async () => {
      const message = l10n.t('Connect to {0} at {1} without encryption?', agent, origin);
      const detail = l10n.t(
        "Anyone on the network can read and change your messages, the agent's answers and the headers.",
      );
      // The first button has focus, so a key meant for the composer doesn't connect.
      const choice = await askModal(message, detail, [l10n.t("Don't Connect"), allow]);
      if (choice === allow) await this.#context.globalState.update(CLEARTEXT, [...this.#cleartext(), origin]);
      return choice;
    });
    return answer === allow;
  }

  async forget(): Promise<number> {
    const { secrets, globalState } = this.#context;
    const keys = (await secrets.keys()).filter((key) => key.startsWith(PREFIX));
    for (const key of keys) await secrets.delete(key);
    await globalState.update(CLEARTEXT, undefined);
    return keys.length;
  }

  #cleartext(): readonly string[] {
    return this.#context.globalState.get<string[]>(CLEARTEXT, []);
  }

  #askOnce(key: string, ask: () => Promise<string | undefined>): Promise<string | undefined> {
    const open = this.#asking.get(key);
    if (open) return open;
    const asking = ask().finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }
}
