// One real agent in Parley's own Conversation, in plain Node: plays scripts, answers questions,
// counts what passes, and writes a transcript.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SessionInfo } from '../../src/acp/protocol/dialect';
import { missingFileReadsEmpty } from '../../src/acp/quirks/gemini';
import type { AgentDefinition } from '../../src/agents/agentDefinition';
import { agentEnvironment } from '../../src/agents/agentEnvironment';
import { silentLog } from '../../src/base/log';
import type { SessionOpenStrategy } from '../../src/client/connection/sessionOpenStrategy';
import type { Conversation } from '../../src/client/conversation/conversation';
import { AgentFiles } from '../../src/client/requests/agentFiles';
import { StateExchange } from '../../src/client/sharing/stateExchange';
import type { StopReason, TimedEvent } from '../../src/session/events/event';
import type { SessionModel } from '../../src/session/model/model';
import type { SessionState } from '../../src/session/model/state';
import { diskFiles, type TestConversation, testConversation } from '../support/sessions/conversation';
import { commandsIn } from '../support/vscode/processTree';
import type { ScriptName } from './modelScripts';
import type { Message } from './rawClient';
import type { RealAgent } from './realAgents';
import { type Asked, entryLines, type Names, offerLines, withoutChance } from './transcriptText';

/** Updates on both sides of the client's pipe. */
export interface Counts {
  readonly sent: number;
  readonly heard: number;
}

export class AgentRun {
  readonly agent: RealAgent;
  readonly protocol: 1 | 2;
  /** Lines so far, of all sessions. */
  readonly lines: string[] = [];
  readonly #folder: string;
  readonly #scratch: string;
  readonly #state = new StateExchange(silentLog, {
    hasState: false,
    read: async () => undefined,
    store: async () => assert.fail('none of these agents knows of states'),
  });
  #test: TestConversation | undefined;
  #processes = 0;
  #heard = 0;
  #steered: unknown;
  #drawn = 0;
  #asked: Asked[] = [];
  readonly #submitted = new Set<string>();

  /** @param folder where the sessions work @param scratch for recordings */
  constructor(agent: RealAgent, protocol: 1 | 2, folder: string, scratch: string) {
    this.agent = agent;
    this.protocol = protocol;
    this.#folder = folder;
    this.#scratch = scratch;
  }

  get conversation(): Conversation {
    return this.#test?.conversation ?? assert.fail('no session is open');
  }

  /**
   * Starts a process of the agent and opens a session. The one before is left first.
   * @param heading for the lines
   * @param past what stands in the transcript before
   */
  async open(heading: string, opening: SessionOpenStrategy, past: readonly TimedEvent[] = []): Promise<void> {
    await this.close();
    this.#drawn = 0;
    this.#asked = [];
    this.#test = testConversation({
      agent: this.#definition('0'),
      cwd: this.#folder,
      opening,
      services: {
        startTimeoutMs: () => 60_000,
        // As in a chat of the extension: agents that know nothing of states take no offence.
        agentState: () => this.#state,
        // Each process has its own recording.
        currentAgent: () => this.#definition(`${++this.#processes}`),
        environment: async () => {
          if (this.#processes > 1) await this.agent.settle?.();
          return agentEnvironment(process.env, undefined);
        },
        filesFor: (agentName, initializeResult) =>
          new AgentFiles(diskFiles(), { agentName, missingFileReadsEmpty: missingFileReadsEmpty(initializeResult) }),
        onTraffic: (_key, dir, line) => {
          if (dir === 'in' && isUpdate(line)) this.#heard++;
          const [, outcome] = (dir === 'in' && /"outcome":"(\w+)"/.exec(line)) || [];
          if (outcome !== undefined) this.#steered = outcome;
        },
      },
    });
    this.conversation.note(past);
    await this.conversation.start();
    await this.#untilReady();
    this.lines.push(`== ${heading}`);
  }

  /**
   * Starts another process of the agent, and opens the session again beside the transcript that
   * stands.
   * @param heading for the lines
   */
  async reopen(heading: string, sessionId: string): Promise<void> {
    await this.conversation.reopen({ kind: 'reopen', sessionId, transcript: 'keep' });
    await this.#untilReady();
    this.lines.push(`== ${heading}`);
  }

  /** Returns the whole transcript of the session that is open, in lines. */
  standing(): readonly string[] {
    return entryLines(this.conversation.model.state, 0, [], this.#names());
  }

  async #untilReady(): Promise<void> {
    const { conversation } = this;
    if (conversation.connection.kind === 'authRequired' && this.agent.signIn)
      await conversation.signIn(this.agent.signIn);
    const { connection } = conversation;
    if (connection.kind !== 'ready') throw 'error' in connection ? connection.error : new Error(connection.kind);
    assert.equal(connection.link.description.protocol, this.protocol);
  }

  /** Sends the prompt of a script and answers what is asked. @returns why the turn ended */
  async play(script: ScriptName, answer: 'allow' | 'reject' = 'allow'): Promise<StopReason> {
    const { conversation } = this;
    const { done } = conversation.send(this.agent.prompt(script, this.#folder));
    let isOver = false;
    const result = done.finally(() => {
      isOver = true;
    });
    const answering = this.#until(() => {
      this.#answer(conversation.model.state, answer);
      return isOver;
    });
    const { stopReason } = await result;
    (conversation.model as SessionModel).touch('turn'); // the turn's last change came before its promise: look once more
    await answering;
    this.draw(script === 'command' ? `${script}, ${answer}` : script);
    return stopReason;
  }

  /**
   * Begins the script that takes a minute, and stops it as soon as its first words are there.
   * @param streams whether they come one by one
   */
  async stopInMidStream(streams = true): Promise<StopReason> {
    const { conversation } = this;
    const { done } = conversation.send(this.agent.prompt('slow', this.#folder));
    await this.#until(({ model }) => {
      if (!streams) return model.state.turn !== undefined;
      const last = model.state.entries.at(-1);
      return last?.kind === 'agent' && last.content.some((block) => block.type === 'text' && /tick/.test(block.text));
    });
    conversation.cancel();
    const { stopReason } = await done;
    this.draw('stopped in mid-stream');
    return stopReason;
  }

  /**
   * Begins a script, and puts the text script into its turn: with the first words, or while a
   * question is open.
   * @returns what the agent answered, and the turns of the user's messages
   */
  async steer(script: 'brief' | 'command'): Promise<{
    readonly outcome: unknown;
    readonly stopReason: StopReason;
    readonly users: readonly (string | undefined)[];
  }> {
    const { conversation } = this;
    const { done } = conversation.send(this.agent.prompt(script, this.#folder));
    await this.#until(({ model: { state } }) =>
      script === 'command' ? state.permissions.size > 0 : state.entries.at(-1)?.kind === 'agent',
    );
    conversation.queueActions.steer(conversation.send(this.agent.prompt('text', this.#folder)).id);
    await this.#until(({ queue }) => queue.items.length === 0);
    let isOver = false;
    const result = done.finally(() => {
      isOver = true;
    });
    const answering = this.#until(({ model: { state } }) => {
      this.#answer(state, 'allow');
      return isOver;
    });
    const { stopReason } = await result;
    (conversation.model as SessionModel).touch('turn');
    await answering;
    this.draw(`steered in ${script}`);
    const { entries } = conversation.model.state;
    const users = entries.flatMap((entry) => (entry.kind === 'user' ? [entry.turnId] : []));
    return { outcome: this.#steered, stopReason, users };
  }

  /**
   * Begins a command that takes ten minutes, and stops it.
   * @param showsOutput whether its output is to come while it runs
   */
  async stopCommand(
    showsOutput: boolean,
  ): Promise<{ readonly stopReason: StopReason; readonly pids: readonly number[] }> {
    const { conversation } = this;
    const { done } = conversation.send(this.agent.prompt('wait', this.#folder));
    const isShown = (): boolean =>
      entryLines(conversation.model.state, this.#drawn, [], []).some((line) =>
        /^ {2}(shows|output) .*it waits\\n/.test(line),
      );
    // It begins without a change of the session.
    while (commandsIn(this.#folder, 'sleep 600').length === 0 || (showsOutput && !isShown())) {
      this.#answer(conversation.model.state, 'allow');
      await sleep(50);
    }
    const pids = commandsIn(this.#folder, 'sleep 600');
    conversation.cancel();
    const { stopReason } = await done;
    this.draw('stopped in a command');
    return { stopReason, pids };
  }

  /** Writes down what has come since the last time. @param heading for the lines */
  draw(heading: string): void {
    const { state } = this.conversation.model;
    this.lines.push(`-- ${heading}`, ...entryLines(state, this.#drawn, this.#asked, this.#names()));
    this.#drawn = state.entries.length;
    this.#asked = [];
  }

  /**
   * Writes down what stands around the transcript, as soon as the agent has said what it says after
   * its answers.
   */
  async drawOffer(): Promise<void> {
    const { givesTitles } = this.agent;
    await this.#until(
      ({ model: { state } }) => state.commands.length > 0 && (!givesTitles || state.title !== undefined),
    );
    this.lines.push('-- around it', ...offerLines(this.conversation.model.state, this.#names()));
  }

  /** Writes down what the agent's own list has of this folder. */
  async drawList(): Promise<void> {
    const sessions: SessionInfo[] = [];
    for await (const page of this.conversation.ops.list({}, new AbortController().signal)) sessions.push(...page);
    this.lines.push(
      '-- its list',
      ...sessions.map(({ sessionId, title }) => this.#named(`${sessionId} ${title ?? '-'}`)),
    );
  }

  /** Ends the process. Fails where the client has sent what no schema has. */
  async close(): Promise<void> {
    await this.#test?.close();
    this.#test = undefined;
  }

  /** Updates of all processes so far, by the agents' own account and by the client's. */
  counts(): Counts {
    let sent = 0;
    for (let process = 1; process <= this.#processes; process++)
      sent += readFileSync(this.#wire(`${process}`), 'utf8')
        .split('\n')
        .filter(isUpdate).length;
    return { sent, heard: this.#heard };
  }

  /** Answers what is open; in forms, with the first option of each field. */
  #answer({ permissions, elicitations }: Readonly<SessionState>, answer: 'allow' | 'reject'): void {
    for (const [id, asked] of elicitations) {
      if (asked.mode !== 'form' || this.#submitted.has(id)) continue;
      this.#submitted.add(id);
      const content = asked.form.fields.flatMap((field) =>
        field.type === 'choice' ? [[field.key, field.options[0]?.value]] : [],
      );
      void this.conversation.elicitations.submit(id, Object.fromEntries(content));
    }
    for (const [id, question] of permissions) {
      if (!this.#asked.includes(question)) this.#asked.push(question);
      const fitting = question.options.filter(({ kind }) => kind.startsWith(answer));
      const option = fitting.find(({ kind }) => kind === `${answer}_once`) ?? fitting[0];
      this.conversation.answerPermission(id, option?.optionId ?? null);
    }
  }

  #until(holds: (conversation: Conversation) => boolean): Promise<void> {
    return this.#test?.until(holds) ?? assert.fail('no session is open');
  }

  #names(): Names {
    const { sessionId } = this.conversation;
    return [
      [this.#folder, '<folder>'],
      [this.#folder.replace(/^\//, ''), '<folder without its slash>'],
      ...(sessionId === undefined ? [] : [[sessionId, '<session>'] as const]),
    ];
  }

  #named(line: string): string {
    return withoutChance(line, this.#names());
  }

  #wire(name: string): string {
    return join(this.#scratch, `${this.agent.id}.v${this.protocol}.${name}.ndjson`);
  }

  /** The agent as a user's setting has it, with a recorder on its way. */
  #definition(name: string): AgentDefinition {
    const { id, definition } = this.agent;
    const recorder = join(process.cwd(), 'out/support/agents/wireRecorder.js');
    return {
      type: 'process',
      id,
      name: id,
      protocol: this.protocol,
      command: process.execPath,
      args: [recorder, this.#wire(name), definition.command, ...definition.args],
      env: definition.env,
    };
  }
}

function isUpdate(line: string): boolean {
  if (!line.includes('session/update')) return false;
  const { method, params } = JSON.parse(line) as Message;
  // Some agents name a session, or count its tokens, while it is left.
  return method === 'session/update' && !/^(session_info|usage)_update$/.test(params.update.sessionUpdate);
}
