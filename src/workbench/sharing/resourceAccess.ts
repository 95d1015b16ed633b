// Decides what shared sessions may fetch, with one question per session.
import { type ExtensionContext, l10n, workspace } from 'vscode';
import { credentialProblem } from '../../agents/agentInput';
import { Configured, type Disposable } from '../../base/disposable';
import { isCredential } from '../../base/httpHeader';
import type { Log } from '../../base/log';
import type { NetworkPolicy } from '../../distributed/fetch/guard';
import type { AskedOrigin } from '../../distributed/fetch/originConsent';
import { isOnThisMachine } from '../../distributed/model/resourceUrl';
import { type Questions, vscodeQuestions } from '../config/questions';
import { PREFIX } from '../config/remoteHeaders';
import type { AllowedOrigins } from './allowedOrigins';

const MAX_TOKENS = 500;

interface ResourceAccessOptions {
  readonly context: Pick<ExtensionContext, 'secrets'>;
  readonly origins: Pick<AllowedOrigins, 'has' | 'allowAlways'>;
  readonly log: Log;
  readonly ask?: Questions;
}

export class ResourceAccess extends Configured<ResourceAccessOptions> implements NetworkPolicy, Disposable {
  readonly #tokens = new Map<string, Promise<string | undefined>>();
  readonly #asking = new Map<string, Promise<boolean>>();
  readonly #subscription: Disposable;

  constructor(options: ResourceAccessOptions) {
    super(options);
    this.#subscription = options.context.secrets.onDidChange(() => this.#tokens.clear());
  }

  /** Returns the user's token for exactly this origin. */
  async credentials(origin: string): Promise<Readonly<Record<string, string>> | undefined> {
    const token = await this.#token(origin);
    return token === undefined ? undefined : { authorization: `Bearer ${token}` };
  }

  askToken(origin: string, signal: AbortSignal): Promise<boolean> {
    const open = this.#asking.get(origin);
    if (open) return open;
    const asking = this.#askToken(origin, signal).finally(() => this.#asking.delete(origin));
    this.#asking.set(origin, asking);
    return asking;
  }

  isAllowed(origin: string): boolean {
    return this.options.origins.has(origin);
  }

  /** Asks once for all. Origins that do not fit in the list are not allowed. */
  async ask(origins: readonly AskedOrigin[], signal: AbortSignal): Promise<readonly string[]> {
    if (!workspace.isTrusted || signal.aborted) return [];
    const { ask = vscodeQuestions, origins: list, log } = this.options;
    const once = l10n.t('Allow Once');
    const always = l10n.t('Always Allow');
    const { text, detail, listed } = originQuestion(origins);
    try {
      // The first button has focus, so Enter allows nothing.
      const choice = await ask.choose(text, detail, [l10n.t("Don't Allow"), once, always]);
      if (choice === always) await list.allowAlways(listed);
      return choice === once || choice === always ? listed : [];
    } catch (error) {
      // The question could not be shown.
      log.debug(`no question about ${origins.length} servers: ${String(error)}`);
      return [];
    }
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  async #askToken(origin: string, signal: AbortSignal): Promise<boolean> {
    if (!workspace.isTrusted || signal.aborted) return false;
    const { ask = vscodeQuestions, context } = this.options;
    const isRejected = (await this.#token(origin)) !== undefined;
    const title = isRejected
      ? l10n.t('{0} rejected the token', origin)
      : l10n.t('{0} requires a token for the messages of this session', origin);
    const storageNote = l10n.t("It's sent to {0} only and saved in VS Code's secret storage.", origin);
    const isUnencrypted = origin.startsWith('http:') && !isOnThisMachine(origin);
    const clear = l10n.t("The connection isn't encrypted. Anyone on the network can read the token.");
    const prompt = isUnencrypted ? `${storageNote} ${clear}` : storageNote;
    const validate = (text: string): string | undefined => credentialProblem(tokenIn(text));
    const token = tokenIn((await ask.line({ title, prompt, secret: true, validate }, signal)) ?? '');
    if (!isCredential(token)) return false;
    await context.secrets.store(keyOf(origin), token);
    this.#tokens.clear();
    return true;
  }

  #token(origin: string): Promise<string | undefined> {
    const cachedToken = this.#tokens.get(origin);
    if (cachedToken) return cachedToken;
    const reading = Promise.resolve(this.options.context.secrets.get(keyOf(origin)));
    // A failed read may succeed next time.
    reading.catch(() => this.#tokens.delete(origin));
    if (this.#tokens.size >= MAX_TOKENS) this.#tokens.clear();
    this.#tokens.set(origin, reading);
    return reading;
  }
}

function tokenIn(text: string): string {
  return text.trim().replace(/^bearer\s+/i, '');
}

/** With the prefix of agent secrets, so that “Clear all saved credentials” includes it. */
function keyOf(origin: string): string {
  return `${PREFIX}${origin} (messages)`;
}

/** Maximum servers in a question: users must see all that they agree to. */
const MAX_LISTED = 25;

interface OriginQuestion {
  readonly text: string;
  readonly detail: string;
  readonly listed: readonly string[];
}

/** @param origins at least one, the most important first */
function originQuestion(origins: readonly AskedOrigin[]): OriginQuestion {
  const shown = origins.slice(0, MAX_LISTED);
  const more = origins.length - shown.length;
  const [first] = origins;
  const text =
    first && origins.length === 1
      ? l10n.t('Read this session from {0}, which is on {1}?', first.origin, describePlace(first))
      : l10n.t(
          'This session has messages on {0} servers on this machine or in your network. Read them?',
          origins.length,
        );
  const lines = shown.map(lineOf);
  const unasked = l10n.t(
    '{0} more servers are not allowed. Select Retry on a missing message to allow its server.',
    more,
  );
  const advice = l10n.t("The session's author chose these addresses. Continue only if you trust the servers.");
  const list = [...lines, ...(more > 0 ? [unasked] : [])].join('\n');
  return {
    text,
    detail: origins.length === 1 ? advice : `${advice}\n\n${list}`,
    listed: shown.map(({ origin }) => origin),
  };
}

function lineOf(asked: AskedOrigin): string {
  const { origin, count } = asked;
  if (count === 1) return l10n.t('{0} ({1}, 1 message)', origin, describePlace(asked));
  return l10n.t('{0} ({1}, {2} messages)', origin, describePlace(asked), count);
}

function describePlace({ found }: AskedOrigin): string {
  return found === 'local' ? l10n.t('this machine') : l10n.t('your network');
}
