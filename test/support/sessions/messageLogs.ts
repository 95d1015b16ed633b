// The messages of a session whose transcript a test writes.
import { silentLog } from '../../../src/base/log';
import { SessionLog, type SessionLogOptions } from '../../../src/client/sharing/sessionLog';
import { SessionModel } from '../../../src/session/model/model';

let turns = 0;

/** Adds turns to a transcript: a prompt each, with an answer if one is given. */
export function sayIn(
  model: SessionModel,
  ...said: readonly (string | readonly [prompt: string, answer: string])[]
): void {
  for (const turn of said) {
    const [prompt, answer] = typeof turn === 'string' ? [turn] : turn;
    const at = ++turns;
    const turnId = `t${at}`;
    model.apply({ type: 'turn_started', turnId, origin: 'user', at }, at);
    model.apply({ type: 'prompt_sent', turnId, promptId: `p${at}`, content: [{ type: 'text', text: prompt }] }, at);
    if (answer !== undefined)
      model.apply({ type: 'message_chunk', role: 'agent', block: { type: 'text', text: answer } }, at);
    model.apply({ type: 'turn_ended', turnId, stopReason: 'end_turn', barrier: 'response', at }, at);
  }
}

/** Shared from its first message on. */
export class WrittenLog extends SessionLog {
  readonly #model: SessionModel;

  constructor(options: Pick<SessionLogOptions, 'key' | 'stores' | 'fileStore'> & Partial<SessionLogOptions>) {
    const model = (options.model ?? new SessionModel()) as SessionModel;
    super({
      model,
      agentName: () => 'Agent',
      isWanted: () => true,
      log: silentLog,
      onTrouble: (error) => {
        throw error;
      },
      ...options,
    });
    this.#model = model;
  }

  async say(...prompts: readonly string[]): Promise<void> {
    sayIn(this.#model, ...prompts);
    await this.descriptor('later');
  }
}
