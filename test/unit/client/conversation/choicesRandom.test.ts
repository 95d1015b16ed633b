// Tests random choices and restarts with unreliable agents: no prompt is sent with other values
// than shown.
import { strict as assert } from 'node:assert';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import type { Manner, Treatment } from '../../../support/sessions/choosyAgent';
import { ChoosySession } from '../../../support/sessions/choosySession';
import { seeded } from '../../../support/store/random';
import { seeds } from '../../../support/tier';

const OPTIONS: Readonly<Record<string, readonly (string | boolean)[]>> = {
  mode: ['full', 'ask', 'read-only'],
  model: ['small', 'medium', 'large'],
  effort: ['low', 'high'],
  web: [false, true],
};
/** The value in force is unknown after these, but the user may send anyway. */
const UNKNOWN: ReadonlySet<Treatment> = new Set(['mute', 'empty', 'lies', 'late']);
const TREATMENTS: readonly Treatment[] = ['sets', 'sets', 'sets', 'refuses', 'late', 'mute', 'empty', 'lies', 'keeps'];

interface Outcome {
  readonly sent: number;
  readonly held: number;
}

/** Plays one session, until a prompt is sent with other values than shown. */
async function play(seed: number, folder: string): Promise<Outcome> {
  const below = seeded(seed);
  const one = <T>(values: readonly T[]): T => values[below(values.length)] as T;
  const session = new ChoosySession(folder);
  const { agent } = session;
  const some = (): Record<string, string | boolean> => {
    const id = one(Object.keys(OPTIONS));
    return { [id]: one(OPTIONS[id] ?? []) };
  };
  const manner = (): Manner => ({
    remembers: below(2) === 0,
    modeOption: agent.manner.modeOption ?? below(2) === 0,
    reopens: agent.manner.reopens ?? one(['resume', 'load', 'never']),
    offers: agent.manner.offers ?? (below(2) === 0 ? { options: {} } : {}),
    isSilent: below(4) === 0,
    treats: Object.fromEntries(Object.keys(OPTIONS).map((id) => [id, one(TREATMENTS)])),
    ...(below(4) === 0 && { drops: [one(['read-only', 'ask', 'large', 'high'])] }),
    ...(below(4) === 0 && { changes: some() }),
    ...(below(4) === 0 && { changesAtOpen: some() }),
    lateMs: below(12),
    ...(below(3) === 0 && { repeats: one(['before', 'after'] as const) }),
  });
  /** May be in force without being shown, as they were not reported. */
  let unsure = new Set<string>();
  /** Requested since the agent started, but not confirmed. */
  let doubtful: readonly string[] = [];
  const unknown = (): string[] => Object.keys(OPTIONS).filter((id) => UNKNOWN.has(agent.manner.treats?.[id] ?? 'sets'));
  let held = 0;
  const log: string[] = [];
  const isOver = (): boolean => session.conversation.queue.items.length === 0 && !session.conversation.isBusy;

  async function send(): Promise<void> {
    const { conversation } = session;
    const { length } = agent.prompts;
    conversation.send(`message ${length}`).done.catch(() => {});
    await session.until(({ queue }) => queue.paused !== undefined || isOver());
    log.push(`sent, ${conversation.queue.paused ?? 'left'}`);
    if (conversation.queue.paused !== undefined) {
      assert.equal(agent.prompts.length, length, 'what is held does not leave');
      held++;
      const { confirmed } = conversation.model.state;
      for (const id of Object.keys(OPTIONS)) {
        // An unanswered request may still be applied.
        if (/didn't (answer|confirm)/.test(conversation.queue.paused)) unsure.add(id);
        const isSaid = id === 'mode' && !agent.manner.modeOption ? confirmed.mode : confirmed.config;
        if (!isSaid || doubtful.includes(id)) unsure.add(id);
      }
      conversation.queueActions.resume();
      await session.until(({ queue }) => queue.paused !== undefined || isOver());
      assert.equal(conversation.queue.paused, undefined, 'the user can send all the same');
    }
    const prompt = agent.prompts.at(-1)?.settings ?? {};
    const shown = session.shown[agent.prompts.length - 1] ?? {};
    for (const id of Object.keys(prompt))
      if (!unsure.has(id))
        assert.equal(shown[id], prompt[id], `${id} as it was shown (seed ${seed}): ${log.join(' | ')}`);
  }

  agent.manner = manner();
  doubtful = unknown();
  session.open({ services: { choiceMs: 15 } });
  try {
    await session.conversation.start();
    for (let step = 0; step < 8; step++) {
      const what = one(['choose', 'choose', 'send', 'send', 'change', 'window', 'crash', 'idle', 'restart', 'manner']);
      log.push(what);
      if (what === 'send') await send();
      else if (what === 'change') {
        if (session.conversation.connection.kind !== 'ready') continue;
        agent.change(some());
        await new Promise((resolve) => setTimeout(resolve, 3)); // it arrives
      } else if (what === 'manner') {
        agent.manner = manner();
        doubtful = [...doubtful, ...unknown()];
      } else if (what === 'choose') {
        const [[id, value] = ['', '']] = Object.entries(some());
        log.push(`${id} ${value} ${agent.manner.treats?.[id]}`);
        const { choices } = session.conversation;
        if (session.conversation.connection.kind !== 'ready') await session.conversation.start();
        const asked =
          id === 'mode' && !agent.manner.modeOption
            ? choices.setMode(String(value))
            : choices.setConfigOption(id, value);
        asked.catch(() => {});
        if (below(2) === 0) await asked.catch(() => {});
      } else {
        if (what === 'window') {
          await session.close();
          session.open({ services: { choiceMs: 15 } });
        } else if (what === 'idle') await session.conversation.suspend();
        else if (what === 'restart') await session.conversation.restart();
        else {
          agent.crash();
          await session.until(({ connection }) => connection.kind !== 'ready');
        }
        // An agent that can't reopen the session keeps running.
        if (what === 'idle' && !session.conversation.isSuspended) continue;
        unsure = new Set();
        doubtful = unknown();
      }
    }
    agent.manner = { ...agent.manner, treats: {}, drops: [] };
    await send();
    return { sent: agent.prompts.length, held };
  } finally {
    await session.close();
  }
}

describe('random choices and restarts', function () {
  this.timeout(1_800_000);
  after(removeScratch);

  it('never send a prompt with other values than shown', async () => {
    const folder = await scratchFolder();
    let [sent, held] = [0, 0];
    for (let seed = 1; seed <= seeds(4, 40); seed++) {
      const outcome = await play(seed, folder);
      sent += outcome.sent;
      held += outcome.held;
    }
    assert.ok(sent > held, `${sent} prompts left, ${held} were held first`);
  });
});
