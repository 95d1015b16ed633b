// Scenes about turns and sessions: how they end, fail, continue and are shared (docs/proposals.md).
import type { Turn } from '../session';
import { RpcFault } from '../wire';

const SECONDS = 60;

/** A one-minute turn for trying Stop and the queue. Reports progress every second. */
export async function slow(turn: Turn): Promise<void> {
  await turn.say('This takes a minute. Press **Stop**, or write your next message: it will wait in the queue.\n');
  const messageId = turn.session.newId('heartbeat');
  for (let second = 1; second <= SECONDS; second++) {
    await turn.wait(1000);
    await turn.show({
      sessionUpdate: 'agent_thought_chunk',
      messageId,
      content: { type: 'text', text: `Still here after ${second} s.\n` },
    });
    await turn.takeIn();
  }
  await turn.say('A minute has passed. Thank you for your patience.\n');
}

/** The protocol has no rate limits; claude-agent-acp reports them this way. */
export async function limits(turn: Turn): Promise<void> {
  const resetsAt = Math.floor(Date.now() / 1000) + 2 * 3600;
  const info = { status: 'allowed_warning', rateLimitType: 'five_hour', utilization: 0.93, resetsAt };
  await turn.session.showUsage({ '_claude/rateLimit': info });
  if (turn.session.can.suggestions) {
    const suggestions = [{ prompt: [{ type: 'text', text: '/help' }] }];
    await turn.show({ sessionUpdate: 'prompt_suggestions_update', suggestions });
  }
  await turn.say('I have no account and no limits. I only pretend, so that you see both at the message field.\n');
}

/** Replaces the conversation with a summary, which uses less context. */
export async function compact(turn: Turn): Promise<void> {
  const compaction = { sessionUpdate: 'compaction_update', compactionId: turn.session.newId('compaction') };
  const { compaction: shows } = turn.session.can;
  if (shows) await turn.show({ ...compaction, status: 'in_progress' });
  await turn.pause(1000);
  await turn.session.forgetContext();
  if (shows) await turn.show({ ...compaction, status: 'completed', summary: 'You tried the commands of a demo.' });
  await turn.say(
    'I am a script and need no context. The meter at the message field shows less now, as with an agent.\n',
  );
}

export async function fail(turn: Turn): Promise<void> {
  await turn.say('I will answer this prompt with an error, as an agent does that has lost its model. Here it comes.\n');
  throw new RpcFault(-32603, 'The demo agent failed, because you asked it to.', {
    hint: 'Nothing is broken: send another message.',
  });
}

export async function crash(turn: Turn): Promise<void> {
  await turn.say('I am about to exit in the middle of this sentence, and the reason will be on my');
  await turn.tool({ title: 'A tool call that never ends', kind: 'think', status: 'in_progress' });
  await new Promise<void>((resolve) => {
    process.stderr.write(
      'demo agent: you asked me to crash\ndemo agent: this is what an agent says on its way out\ndemo agent: exiting with status 1\n',
      () => resolve(),
    );
  });
  process.exit(1);
}

/** Responds first: only `turn_complete` (v1) or the state `idle` (v2) ends the turn. */
export async function late(turn: Turn): Promise<void> {
  const isV2 = turn.session.version === 2;
  await turn.say(
    isV2
      ? 'I have answered your prompt already: in version 2 the answer only says that I took it in. The turn goes on.\n'
      : 'I answer your prompt **now**, with `end_turn`, and go on working. A client that stops here loses the rest.\n',
  );
  await turn.answer();
  const tool = await turn.tool({ title: 'Work after the answer', kind: 'think', status: 'in_progress' });
  await turn.pause(4000);
  await tool.change({ status: 'completed' });
  const end = isV2 ? 'the state `idle`' : '`turn_complete`';
  await turn.say(
    `This came after the answer and still belongs to the turn. What ends it is ${end}, which follows now.\n`,
  );
}

const STEPS = ['Read the question', 'Look for an answer', 'Compare what was found', 'Write it down'];

/** A message sent while the agent works joins the turn at its next break. */
export async function steer(turn: Turn): Promise<void> {
  await turn.say(
    `I work in ${STEPS.length} steps. **Send me a message now**${turn.session.version === 1 ? ', with Ctrl+Enter' : ''}: I take it in at the next break.\n`,
  );
  for (const title of STEPS) {
    const step = await turn.tool({ title, kind: 'think', status: 'in_progress' });
    await turn.pause(3000);
    await step.change({ status: 'completed' });
    await turn.takeIn(true);
  }
  await turn.say('All steps are done. Messages that come now begin a turn of their own.\n');
}

const PARTS = 3;

/** Work that continues after the turn, followed by a turn that the agent starts itself. */
export async function background(turn: Turn): Promise<void> {
  await turn.say(
    'I start something in the background and end my turn. You can write to me meanwhile. When it is done, I begin a turn by myself.\n',
  );
  const { id } = await turn.tool({ title: 'Count to three in the background', kind: 'think', status: 'in_progress' });
  const show = (by: Turn, fields: object): Promise<void> =>
    by.show({ sessionUpdate: 'tool_call_update', toolCallId: id, ...fields });
  const count = async (work: Turn): Promise<void> => {
    for (let part = 1; part <= PARTS; part++) {
      await work.pause(2000);
      const text = { type: 'text', text: `${part} of ${PARTS}` };
      await show(work, { content: [{ type: 'content', content: text }] });
    }
  };
  const report = async (agentTurn: Turn): Promise<void> => {
    await show(agentTurn, { status: 'completed' });
    await agentTurn.say('The background work is done. Nobody sent a prompt: I began this turn by myself.\n');
  };
  turn.session.continueInBackground(id, count, report);
}

/** Forgets the session: `session/status` returns `not_found`, and prompts are rejected. */
export async function forget(turn: Turn): Promise<void> {
  await turn.say(
    'I forget this session now, as an agent does that was restarted or has cleaned up. From now on `session/status` answers `not_found`: select **Check session status** in the menu of the chat to see that. Then send any message. Your client opens the session again with `session/resume`, sends your message once more, and nothing of the conversation is lost.\n',
  );
  turn.session.options.onForget();
}

/** Shows what was sent before and after `session/ready`. */
export async function ready(turn: Turn): Promise<void> {
  const { opening } = turn.session;
  const signal = opening.findIndex(({ message }) => message === 'session/ready');
  const isEarly = opening.some(
    ({ by, message }, index) => by === 'agent' && index < signal && !message.startsWith('answer'),
  );
  const before = isEarly
    ? 'Only my state went out before your client said `session/ready`: version 2 wants it before the answer to `session/resume`.'
    : 'Nothing of mine went out before your client said `session/ready`.';
  const rows = opening.map(({ ms, by, message }) => `| ${ms} ms | ${by} | \`${message}\` |`);
  const verdict =
    signal < 0
      ? 'Your client never sent `session/ready`, so I waited for its first prompt.'
      : `${before} An update that comes before the answer can name a session that the client does not know yet, and get lost.`;
  await turn.say(
    `I announce \`session.ready\`, so I held everything back until your client had the answer:\n\n| Time | Sent by | Message |\n| ---: | --- | --- |\n${rows.join('\n')}\n\n${verdict}\n`,
  );
}

const QUESTION = 'Which day is it? (sent by another client)';

/** Acts as a second client, whose `turn_complete` must not end a turn of this client. */
export async function twoClients(turn: Turn): Promise<void> {
  const { session } = turn;
  await turn.say('Two clients share this session: yours, and one that I make up. The other one sends me a message:\n');
  await turn.pause(1500);
  const content = { type: 'text', text: QUESTION };
  await turn.show({ sessionUpdate: 'user_message_chunk', messageId: session.newId('user'), content });
  await turn.say(`It is ${new Date().toLocaleDateString('en', { weekday: 'long' })}.\n`);
  const promptRequestId = session.newId('other-prompt');
  await turn.show({ sessionUpdate: 'turn_complete', promptRequestId, stopReason: 'end_turn' });
  await turn.pause(1500);
  await turn.say(
    `That was the end of the *other* client's turn: \`turn_complete\` named its prompt, \`${promptRequestId}\`. Yours has another id, so your turn is still running, and ends only now.\n`,
  );
}

export async function count(turn: Turn): Promise<void> {
  const { state } = turn.session;
  if (state === undefined) {
    await turn.say('This client keeps no state for agents: the count lives in sessions that others can reach.');
    return;
  }
  if (state.unavailable !== undefined)
    await turn.say(`The state could not be read, so I start again: ${state.unavailable}\n\n`);
  if (state.hasConflict) await turn.say('Somebody else has counted meanwhile: my last count was not stored.\n\n');
  const next = (Number(state.content) || 0) + 1;
  await turn.session.storeState(String(next));
  await turn.say(`Count: ${next}`);
}
