// Converts a run of the Agent Communication Protocol to session events; the only file that knows
// both vocabularies. Pure; one instance per run.
import { type LocalizableText, localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import type { ContentBlock } from '../../session/events/content';
import type { SessionEvent, StopReason } from '../../session/events/event';
import type { OwnText } from '../../session/events/ownText';
import {
  citationOf,
  type Message,
  type MessagePart,
  type Run,
  type RunEvent,
  type Trajectory,
  trajectoryOf,
} from '../model/model';
import { plainSentence } from './agentServerError';
import { citationBlock, isRemote, livePart, missingParts, partBlock, type Shown, textOf } from './runParts';

/** `awaiting`: its question was shown, and the next prompt answers it. */
export interface RunEnd {
  readonly status: 'completed' | 'failed' | 'cancelled' | 'awaiting';
  readonly stopReason: StopReason;
  readonly error?: { readonly code: string; readonly message: LocalizableText };
  readonly run?: Run;
}

/** The caller begins and ends turns. */
export class RunToEvents {
  readonly #log: Log;
  readonly #key: string;
  readonly #run: Shown = { text: '', others: 0 };
  #message: Shown | undefined;
  /** Cleared when the run continues after an answer. */
  end: RunEnd | undefined;
  readonly #parts: MessagePart[] = [];
  #messageIndex = 0;
  #stepCount = 0;
  readonly #maxGaps: number;
  #gaps = 0;
  #openTools: { readonly toolCallId: string; readonly toolName: string }[] = [];

  /** `key` makes ids unique in the session. Up to `maxGaps` remote parts are gaps, others links. */
  constructor(key: string, log: Log, maxGaps = 0) {
    this.#key = key;
    this.#maxGaps = maxGaps;
    this.#log = log;
  }

  get parts(): readonly MessagePart[] {
    return this.#parts;
  }

  /** Protocol 1.0.3 "Events". */
  apply(event: RunEvent): readonly SessionEvent[] {
    const out: SessionEvent[] = [];
    switch (event.type) {
      case 'run.created':
        break;
      case 'run.in-progress':
        this.end = undefined;
        break;
      case 'message.created':
        // Its parts follow one by one or with `message.completed`, even for whole messages.
        this.#startMessage();
        break;
      case 'message.part':
        this.#showPart(event.part, out);
        break;
      case 'message.completed':
        this.#complete(this.#message ?? this.#startMessage(), event.message.parts, out);
        this.#message = undefined;
        break;
      case 'run.awaiting':
        this.#complete(this.#run, partsOf(event.run.output), out);
        this.#showQuestion(event.run, out);
        this.end = { status: 'awaiting', stopReason: 'end_turn', run: event.run };
        break;
      case 'run.completed':
      case 'run.failed':
      case 'run.cancelled':
        this.#finish(event.run, event.type, out);
        break;
      case 'error':
        this.#fail(event.error, undefined, out);
        break;
      case 'generic':
        this.#log.debug('A generic event of an agent is not shown.');
        break;
      case 'unknown':
        this.#log.debug(`An event "${plainSentence(event.name)}" of an agent is not known.`);
        break;
    }
    return out;
  }

  #startMessage(): Shown {
    this.#messageIndex += 1;
    this.#message = { text: '', others: 0 };
    return this.#message;
  }

  #finish(run: Run, type: 'run.completed' | 'run.failed' | 'run.cancelled', out: SessionEvent[]): void {
    this.#complete(this.#run, partsOf(run.output), out);
    this.#message = undefined;
    if (type === 'run.failed') {
      this.#fail(run.error ?? { code: 'server_error', message: localizable('The agent gave no reason.') }, run, out);
    } else if (type === 'run.cancelled') this.end = { status: 'cancelled', stopReason: 'cancelled', run };
    else {
      this.#closeTools('completed', out);
      this.end = { status: 'completed', stopReason: 'end_turn', run };
    }
  }

  #fail(
    { code, message }: { code: string; message: LocalizableText },
    run: Run | undefined,
    out: SessionEvent[],
  ): void {
    this.#closeTools('failed', out);
    const error = {
      code: `agent-error ${plainSentence(code)}`,
      message: (typeof message === 'string' ? plainSentence(message) : message) || localizable('The agent failed.'),
    };
    out.push({ type: 'error', ...error });
    this.end = { status: 'failed', stopReason: 'error', error, run };
  }

  #complete(shown: Shown, whole: readonly MessagePart[], out: SessionEvent[]): void {
    const missing = missingParts(shown, whole);
    if (missing === undefined) this.#log.debug('A completed message differs from its parts; the parts stay.');
    for (const part of missing ?? []) this.#showPart(part, out);
  }

  #showPart(part: MessagePart, out: SessionEvent[]): void {
    this.#parts.push(part);
    const message = this.#message ?? this.#startMessage();
    const text = textOf(part);
    for (const shown of [message, this.#run]) {
      if (text === undefined) shown.others += 1;
      else shown.text += text;
    }
    if (text !== undefined) this.#emitBlock({ type: 'text', text }, out);
    else this.#showOther(part, out);
  }

  #showOther(part: MessagePart, out: SessionEvent[]): void {
    if (isRemote(part) && this.#gaps < this.#maxGaps) {
      this.#showGap(part, out);
      return;
    }
    const step = trajectoryOf(part);
    if (step) this.#showStep(step, out);
    const block = partBlock(part);
    if (block) this.#emitBlock(block, out);
    const source = citationOf(part) && citationBlock(part);
    if (source) this.#emitBlock(source, out);
  }

  #showGap(part: MessagePart, out: SessionEvent[]): void {
    this.#gaps += 1;
    // Text after the gap is a new message below it.
    this.#messageIndex += 1;
    out.push(livePart(part, `${this.#key}:part${this.#gaps}`));
  }

  #emitBlock(block: ContentBlock, out: SessionEvent[]): void {
    if (block.type === 'text' && block.text === '') return;
    out.push({ type: 'message_chunk', role: 'agent', messageId: `${this.#key}:${this.#messageIndex}`, block });
  }

  #showStep({ message, toolName, toolInput, toolOutput }: Trajectory, out: SessionEvent[]): void {
    // Text after a step is a new message below it.
    this.#messageIndex += 1;
    this.#stepCount += 1;
    const id = `${this.#key}:step${this.#stepCount}`;
    if (toolName === undefined) {
      if (message) {
        const block = { type: 'text', text: message } as const;
        out.push({ type: 'message_chunk', role: 'thought', messageId: id, block });
      }
      return;
    }
    // Steps have no id: a result without arguments belongs to the tool's last open call.
    const open =
      toolOutput !== undefined && toolInput === undefined
        ? this.#openTools.findLast((call) => call.toolName === toolName)
        : undefined;
    const toolCallId = open?.toolCallId ?? id;
    if (open) this.#openTools = this.#openTools.filter((call) => call !== open);
    if (toolOutput === undefined) this.#openTools.push({ toolCallId, toolName });
    out.push({
      type: 'tool_call',
      toolCallId,
      announced: open === undefined,
      patch: {
        ...(open && message === undefined ? {} : { title: message || toolName }),
        name: toolName,
        status: toolOutput === undefined ? 'in_progress' : 'completed',
        rawInput: toolInput,
        rawOutput: toolOutput,
      },
    });
  }

  #closeTools(status: 'completed' | 'failed', out: SessionEvent[]): void {
    for (const { toolCallId } of this.#openTools.splice(0)) {
      out.push({ type: 'tool_call', toolCallId, announced: false, patch: { status } });
    }
  }

  #showQuestion(run: Run, out: SessionEvent[]): void {
    this.#message = undefined;
    this.#messageIndex += 1;
    const before = out.length;
    for (const part of run.await_request?.message?.parts ?? []) {
      const text = textOf(part);
      if (text !== undefined) this.#emitBlock({ type: 'text', text }, out);
      else this.#showOther(part, out);
    }
    if (out.length === before) {
      const said: OwnText = { code: 'agent-awaits-answer', args: [] };
      out.push({ type: 'notice', severity: 'info', title: '', said, own: true });
    }
  }
}

function partsOf(output: readonly Message[]): readonly MessagePart[] {
  return output.flatMap((message) => message.parts);
}
