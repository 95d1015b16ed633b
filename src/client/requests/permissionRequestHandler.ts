// Permission requests: an agent asks, the user answers, and no request stays open. A cancelled or
// ended turn, a withdrawal and the agent's exit all answer "cancelled". Options are chosen by id
// only (protocol.md 1.6).
import { randomUUID } from 'node:crypto';
import type { PermissionAsk } from '../../acp/protocol/dialect';
import { Deferred } from '../../base/deferred';
import { boundContent, boundRaw, jsonText } from '../../session/events/bounds';
import type { PermissionRuleOffer, ToolContent } from '../../session/events/content';
import type { SessionEvent } from '../../session/events/event';
import { keepInput } from '../../session/model/callInput';
import type { SessionState, ToolEntry } from '../../session/model/state';

/** More are answered `cancelled` without being shown. */
const MAX_OPEN = 100;

export type PermissionOutcome = { outcome: 'selected'; optionId: string } | { outcome: 'cancelled' };
type Closer = 'user' | 'turn' | 'agent' | 'exit' | 'rule';

interface OpenQuestion {
  readonly optionIds: ReadonlySet<string>;
  readonly answer: Deferred<PermissionOutcome>;
}

interface RestoredQuestion {
  readonly id: string;
  readonly key: string;
  readonly question: OpenQuestion;
  readonly call: ToolEntry | undefined;
}

export class PermissionRequestHandler {
  readonly #open = new Map<string, OpenQuestion>();
  readonly #apply: (event: SessionEvent) => void;
  readonly #judge: JudgePermission | undefined;
  /** How often all questions were cancelled, including those that rules still judge. */
  #cancelCount = 0;
  /** Questions of an earlier window that the agent has not repeated yet. */
  readonly #restored: RestoredQuestion[] = [];

  constructor(apply: (event: SessionEvent) => void, judge?: JudgePermission) {
    this.#apply = apply;
    this.#judge = judge;
  }

  /**
   * `session/request_permission`: shows the question and waits for its answer.
   * @param refuse the turn was cancelled
   * @param signal aborted when the agent withdraws its request
   */
  async ask(asked: PermissionAsk, refuse: boolean, signal: AbortSignal): Promise<{ outcome: PermissionOutcome }> {
    const { toolCallId, title, description, command, options } = asked;
    const restored = this.#takeRestored(asked);
    if (restored) return this.#awaitAnswer(restored.id, restored.question, signal);
    this.describe(asked);
    if (refuse || signal.aborted) return { outcome: { outcome: 'cancelled' } };
    const cancelled = this.#cancelCount;
    const judged: Judgement = this.#judge ? await this.#judge(asked) : {};
    if (signal.aborted || cancelled !== this.#cancelCount || this.#open.size >= MAX_OPEN)
      return { outcome: { outcome: 'cancelled' } };

    const id = randomUUID();
    const question: OpenQuestion = {
      optionIds: new Set(options.map((option) => option.optionId)),
      answer: new Deferred(),
    };
    this.#open.set(id, question);
    this.#apply({
      type: 'permission_asked',
      permissionId: id,
      title,
      options,
      toolCallId,
      description: description || undefined,
      command,
      ruleOffer: judged.action === undefined && judged.offer ? judged.offer : undefined,
    });
    if (judged.action !== undefined) this.#answerByRule(id, options, judged);
    return this.#awaitAnswer(id, question, signal);
  }

  /** Answers are sent when the agent repeats its requests. */
  restore(asked: readonly Permission[], entries: SessionState['entries'] = []): void {
    for (const permission of asked) {
      const optionIds = new Set(permission.options.map(({ optionId }) => optionId));
      const question: OpenQuestion = { optionIds, answer: new Deferred() };
      this.#open.set(permission.id, question);
      const call = entries.findLast((entry) => entry.kind === 'tool' && entry.toolCallId === permission.toolCallId);
      this.#restored.push({
        id: permission.id,
        key: keyOf(permission),
        question,
        call: call?.kind === 'tool' ? { ...call } : undefined,
      });
    }
  }

  #takeRestored(asked: PermissionAsk): { readonly id: string; readonly question: OpenQuestion } | undefined {
    if (this.#restored.length === 0) return undefined;
    const index = this.#restored.findIndex(({ key }) => key === keyOf(asked));
    const found = index < 0 ? undefined : this.#restored.splice(index, 1)[0];
    if (!found || isSameQuestion(found.call, asked.patch)) return found;
    // The call does something else now, so the answer doesn't apply.
    this.#close(found.id, { outcome: 'cancelled' }, 'agent');
    return undefined;
  }

  async #awaitAnswer(id: string, question: OpenQuestion, signal: AbortSignal): Promise<{ outcome: PermissionOutcome }> {
    const withdraw = (): void => this.#close(id, { outcome: 'cancelled' }, 'agent');
    signal.addEventListener('abort', withdraw, { once: true });
    try {
      return { outcome: await question.answer.promise };
    } finally {
      signal.removeEventListener('abort', withdraw);
    }
  }

  /** Applies what a question says about its tool call, which may be the only description. */
  describe({ toolCallId, patch }: PermissionAsk): void {
    if (toolCallId !== undefined && patch)
      this.#apply({ type: 'tool_call', toolCallId, patch, announced: false, asks: true });
  }

  /**
   * Null dismisses. Returns false if the question is closed or lacks the option.
   * @param isEdited the user has made the change, with edits
   */
  answer(id: string, optionId: string | null, isEdited?: true): boolean {
    const question = this.#open.get(id);
    if (!question || (optionId !== null && !question.optionIds.has(optionId))) return false;
    const outcome =
      optionId === null ? ({ outcome: 'cancelled' } as const) : { outcome: 'selected' as const, optionId };
    this.#close(id, outcome, 'user', { isEdited });
    return true;
  }

  #answerByRule(
    id: string,
    options: PermissionAsk['options'],
    { action, rule }: Extract<Judgement, { readonly action: string }>,
  ): void {
    const option = options.find(({ kind }) => kind === `${action}_once`);
    if (option) this.#close(id, { outcome: 'selected', optionId: option.optionId }, 'rule', { rule });
  }

  cancelAll(by: Closer): void {
    this.#cancelCount += 1;
    // Cancelled requests aren't repeated: a later equal question is a new one.
    this.#restored.length = 0;
    for (const id of [...this.#open.keys()]) this.#close(id, { outcome: 'cancelled' }, by);
  }

  #close(
    id: string,
    outcome: PermissionOutcome,
    by: Closer,
    how?: { rule?: string; isEdited?: true | undefined },
  ): void {
    const question = this.#open.get(id);
    if (!question) return;
    this.#open.delete(id);
    this.#apply({
      type: 'permission_closed',
      permissionId: id,
      outcome: outcome.outcome,
      by,
      optionId: outcome.outcome === 'selected' ? outcome.optionId : undefined,
      ...how,
    });
    question.answer.resolve(outcome);
  }
}

type Permission = SessionState['permissions'] extends Map<string, infer P> ? P : never;

type Alike = Pick<PermissionAsk, 'toolCallId' | 'title' | 'options' | 'description' | 'command'>;

function keyOf({ toolCallId, title, options, description, command }: Alike): string {
  const offered = options.map(({ optionId, name, kind }) => [optionId, name, kind]);
  return JSON.stringify([toolCallId, title, offered, description || null, command?.line, command?.cwd]);
}

function isSameQuestion(call: ToolEntry | undefined, patch: PermissionAsk['patch']): boolean {
  if (!call || !patch) return call === undefined;
  const { rawInput, content } = keepInput(call, patch, true);
  const isShown = (part: ToolContent): boolean => part.type !== 'terminal';
  return (
    (rawInput === undefined || jsonText(boundRaw(rawInput)) === jsonText(call.rawInput)) &&
    (!content || jsonText(boundContent(content).filter(isShown)) === jsonText(call.content.filter(isShown)))
  );
}

/** A rule's answer and label, or a rule that the request suggests. */
export type Judgement =
  | { readonly action: 'allow' | 'reject'; readonly rule: string }
  | { readonly action?: undefined; readonly offer?: PermissionRuleOffer };

/** Never rejects. */
export type JudgePermission = (asked: PermissionAsk) => Promise<Judgement>;
