// A random story of one session, the same for each seed: it goes from a stdio agent to an HTTP
// agent and back, with a Stop, a run that fails, a window that is killed and links that end in
// between. At the end the session is read as the original client reads it, and everything that was
// said is counted.
import { setTimeout as sleep } from 'node:timers/promises';
import type { SessionDescriptor } from '../../../src/distributed/model/model';
import { seeded } from '../store/random';
import type { ReadMessage, Stage, StageWindow } from './stage';
import { marksIn, promptOf } from './story';
import type { Weather } from './weather';

export type AgentId = 'story' | 'far' | 'old';

export type Step =
  | { readonly kind: 'say' | 'stop' | 'fail' | 'kill' }
  | { readonly kind: 'move'; readonly agent: AgentId }
  /** Opened there, gone on with there, and brought back. */
  | { readonly kind: 'visit'; readonly back: AgentId }
  /** A day and an hour go by: no link that was handed out before is good any more. */
  | { readonly kind: 'day' };

const AGENTS: readonly AgentId[] = ['story', 'far', 'old'];
const PATIENCE_MS = 20_000;
const DAY_MS = 25 * 60 * 60 * 1000;

export function stepsOf(seed: number): readonly Step[] {
  const below = seeded(seed);
  const agent = (): AgentId => AGENTS[below(AGENTS.length)] ?? 'old';
  const must: Step[] = [
    { kind: 'stop' },
    { kind: 'fail' },
    { kind: 'kill' },
    { kind: 'day' },
    { kind: 'move', agent: 'far' },
    { kind: 'move', agent: 'old' },
    { kind: 'visit', back: agent() },
  ];
  const steps: Step[] = [{ kind: 'say' }];
  while (must.length > 0) {
    const [next] = must.splice(below(must.length), 1);
    if (next) steps.push(next);
    // What went wrong shows with the next message.
    if (below(2) === 0) steps.push({ kind: 'say' });
  }
  return steps;
}

export interface StoryEnd {
  readonly problems: readonly string[];
  readonly read: readonly ReadMessage[];
  readonly told: readonly string[];
  readonly said: number;
}

export class Storyline {
  readonly #stage: Stage;
  readonly #seed: number;
  readonly #problems: string[] = [];
  readonly #said = new Set<string>();
  #key = '';
  #agent: AgentId = 'story';
  #count = 0;
  #days = 0;

  constructor(stage: Stage, seed: number) {
    this.#stage = stage;
    this.#seed = seed;
  }

  async run(steps: readonly Step[], weather?: Weather): Promise<StoryEnd> {
    const { here } = this.#stage;
    if (weather) await this.#stage.setWeather(weather);
    this.#key = await here.call('openSession', this.#agent);
    for (const step of steps) {
      const before = this.#problems.length;
      await this.#step(step).catch((error: Error) => this.#problems.push(error.message));
      for (let at = before; at < this.#problems.length; at++)
        this.#problems[at] = `${wordsOf(step)} (with ${this.#agent}): ${this.#problems[at]}`;
    }
    if (weather) await this.#stage.setWeather({ delayMs: 0, cuts: 0, seed: 0 });
    // Unrecorded parts go with the next message.
    for (const step of [{ kind: 'move', agent: 'old' }, { kind: 'say' }] as const)
      await this.#step(step).catch((error: Error) => this.#problems.push(`at the end: ${error.message}`));
    await this.#checkAgent();
    const read = await this.#stage.read(await this.#descriptor());
    this.#checkRead(read);
    const told = await here.call<string[]>('shown');
    const { entries } = await here.snapshot(this.#key);
    const notices = entries.flatMap(({ kind, text }) =>
      kind === 'notice' || kind === 'error' || kind === 'gap' ? [`${kind}: ${text}`] : [],
    );
    await here.call('run', 'parley.closeSession', { session: this.#key }).catch(() => undefined);
    return { problems: this.#problems, read, told: [...told, ...notices], said: this.#said.size };
  }

  async #step(step: Step): Promise<void> {
    const { here } = this.#stage;
    if (step.kind === 'say') await this.#say();
    else if (step.kind === 'fail') await this.#say('fail');
    else if (step.kind === 'stop') await this.#interrupt('hang', () => here.call('cancel', this.#key));
    else if (step.kind === 'move') await this.#move(step.agent);
    else if (step.kind === 'visit') await this.#visit(step.back);
    else if (step.kind === 'kill') {
      const mark = await this.#interrupt('slow', () => here.kill());
      await this.#stage.reopen();
      await here.call('run', 'parley.sessions', { action: 'recall', key: this.#key });
      // Of the agent that was killed with its window, there is what had reached the disk.
      const { entries } = await here.snapshot(this.#key);
      if (this.#agent === 'story' && !entries.some(({ text }) => text?.includes(`[a${mark}]`)))
        this.#said.delete(`a${mark}`);
    } else await this.#stage.setClocks(++this.#days * DAY_MS);
  }

  async #say(verb: 'plain' | 'fail' = 'plain', window = this.#stage.here, key = this.#key): Promise<void> {
    const mark = this.#mark();
    this.#said.add(`q${mark}`);
    const sent = await within(this.#send(window, key, promptOf(mark, verb)));
    if (verb === 'plain' && sent !== 'end_turn' && !(await this.#carriesOn(mark)))
      this.#problems.push(`the message ended with ${sent}: ${await this.#errorOf(window, key)}`);
    else this.#said.add(`a${mark}`);
  }

  async #carriesOn(mark: string): Promise<boolean> {
    const { here } = this.#stage;
    const error = await this.#errorOf(here, this.#key);
    if (this.#days === 0 || !error.includes('403 Forbidden')) return false;
    await here.call('press', this.#key, 'continue:transcript');
    return (await within(here.call('shows', this.#key, `[a${mark}]`))) === undefined;
  }

  async #interrupt(verb: 'hang' | 'slow', end: () => Promise<unknown>): Promise<string> {
    const { here } = this.#stage;
    const mark = this.#mark();
    this.#said.add(`q${mark}`);
    const sent = this.#send(here, this.#key, promptOf(mark, verb));
    const early = await within(Promise.race([sent, here.call('shows', this.#key, `[a${mark}]`)]));
    if (early !== undefined)
      throw new Error(`the message ended with ${String(early)}: ${await this.#errorOf(here, this.#key)}`);
    this.#said.add(`a${mark}`);
    await end();
    await within(sent);
    return mark;
  }

  #send(window: StageWindow, key: string, text: string): Promise<string> {
    return window.call<{ stopReason: string }>('send', key, text).then(
      ({ stopReason }) => stopReason,
      (error: Error) => error.message,
    );
  }

  async #errorOf(window: StageWindow, key: string): Promise<string> {
    const { entries } = await window.snapshot(key);
    return entries.findLast(({ kind }) => kind === 'error')?.text ?? '';
  }

  async #move(agent: AgentId): Promise<void> {
    if (agent === this.#agent) return;
    this.#key = await this.#stage.here.call('run', 'parley.continueWith', { session: this.#key, agent });
    this.#agent = agent;
  }

  async #visit(back: AgentId): Promise<void> {
    const { here, there } = this.#stage;
    const key = await there.call<string>('import', await this.#descriptor(), 'story');
    await this.#say('plain', there, key);
    const descriptor = await there.descriptor(key);
    this.#key = await here.call('import', descriptor, back);
    this.#agent = back;
    await there.call('run', 'parley.closeSession', { session: key });
  }

  #descriptor(): Promise<SessionDescriptor> {
    return this.#stage.here.descriptor(this.#key);
  }

  #mark(): string {
    return `${this.#seed}.${++this.#count}`;
  }

  async #checkAgent(): Promise<void> {
    const seen = (await this.#stage.original.call<readonly string[] | undefined>('lastSeen')) ?? [];
    const own = `a${this.#seed}.${this.#count}`;
    this.#count1('the agent has read', seen, (mark) => mark !== own);
  }

  #checkRead(read: readonly ReadMessage[]): void {
    for (const { role, text } of read) if (role === 'gap') this.#problems.push(`a reader gets no message: ${text}`);
    this.#count1('a reader gets', marksIn(read.map(({ text }) => text).join('\n')), () => true);
    const user = read.filter(({ role }) => role === 'user').flatMap(({ text }) => marksIn(text));
    const wrong = user.filter((mark) => mark.startsWith('a'));
    if (wrong.length > 0) this.#problems.push(`answers that are the user's: ${wrong.join(' ')}`);
  }

  #count1(what: string, marks: readonly string[], counts: (mark: string) => boolean): void {
    const times = new Map<string, number>();
    for (const mark of marks) times.set(mark, (times.get(mark) ?? 0) + 1);
    const lost = [...this.#said].filter((mark) => counts(mark) && !times.has(mark));
    const twice = [...times].filter(([, count]) => count > 1).map(([mark]) => mark);
    if (lost.length > 0) this.#problems.push(`${what} no ${lost.join(' ')}`);
    if (twice.length > 0) this.#problems.push(`${what} twice: ${twice.join(' ')}`);
    const order = marks.filter((mark) => mark.startsWith('q')).map((mark) => Number(mark.split('.')[1]));
    if (order.some((number, index) => number < (order[index - 1] ?? 0)))
      this.#problems.push(`${what} them out of order: ${order.join(' ')}`);
  }
}

async function within<T>(work: Promise<T>): Promise<T | string> {
  const end = new AbortController();
  const late = sleep(PATIENCE_MS, 'nothing', { signal: end.signal }).catch(() => 'nothing');
  try {
    return await Promise.race([work, late]);
  } finally {
    end.abort();
  }
}

export function wordsOf(step: Step): string {
  if (step.kind === 'move') return `move to ${step.agent}`;
  if (step.kind === 'visit') return `visit and back to ${step.back}`;
  return step.kind;
}
