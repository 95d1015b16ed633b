// Scenes that show what a response can contain.
import type { Turn } from '../session';

/** Explains that there is no model, and lists the commands. */
export async function introduce(turn: Turn, table: string): Promise<void> {
  const { text, attachments } = turn.prompt;
  const seen =
    attachments.length > 0 ? `I can see that you attached ${attachments.map((one) => `\`${one}\``).join(', ')}. ` : '';
  const heard =
    text !== '' && !text.startsWith('/') ? `You wrote ${text.length} characters, and I understood none of them. ` : '';
  await turn.say(
    `Hello! I am the **demo agent**: a script that ships with Parley, not a model. ${heard}${seen}I need no key and no network, and everything I show you is real: the files, the permissions, the terminal.\n\n${table}\nTo talk to an agent that does think, choose one with **Parley: New Session with…**.${turn.session.settings.emoji ? ' 👋' : ''}\n`,
  );
}

export async function unknownCommand(turn: Turn, table: string): Promise<void> {
  const name = turn.prompt.text.split(/\s/, 1)[0];
  await turn.say(`I am a scripted demo and \`${name}\` is not in my script. These are:\n\n${table}`);
}

const TOUR = `# A tour of the transcript

Each word arrives in a message of its own, about thirty in a second, as they do from a model. Only the block that is still open is drawn again, so a long answer stays as light as a short one. You can scroll up at any time: the text keeps coming below, and **nothing pulls you back** until you want it to.

## Inline

Words can be **strong**, *emphasised*, ~~struck out~~ or \`code\`; a [link](https://agentclientprotocol.com) opens in your browser. Line breaks, quotes and rules work too.

> The best way to have a good idea is to have a lot of ideas, and to throw the bad ones away while they still stream.

## Lists

1. Ask for something.
2. Look at what the agent wants to do:
   - an edit shows its **diff** first,
   - a command shows its **words** first.
3. Say yes or no. No is a good answer.

- [x] Streams
- [x] Asks before it acts
- [ ] Thinks (this is a demo, remember?)

## A little prose

An editor and an agent are two programs that have to agree on very little: how a question is asked, how an answer arrives, and who may touch what. The Agent Client Protocol is that agreement. The agent does the thinking; the editor shows what it does, asks you before anything happens, and does the reading, the writing and the running with its own hands. That is why an edit lands in your open file with its undo history, and why a command runs in a terminal that you can watch.

You need not take the agent's word for anything. Every tool call can be opened: what went in, what came out, and which files it concerns.

## A table

| What you see | Where it comes from | Who decides |
| :--- | :--- | ---: |
| Text and thoughts | \`agent_message_chunk\`, \`agent_thought_chunk\` | the agent |
| A tool call | \`tool_call\`, \`tool_call_update\` | the agent |
| A permission | \`session/request_permission\` | **you** |
| The end of a turn | \`turn_complete\` | the agent |

## Code

\`\`\`ts
/** Splits a stream of bytes into lines; what is left over waits for more. */
export function* lines(chunks: Iterable<string>): Generator<string> {
  let rest = '';
  for (const chunk of chunks) {
    const parts = (rest + chunk).split('\\n');
    rest = parts.pop() ?? '';
    yield* parts;
  }
  if (rest !== '') yield rest;
}
\`\`\`

\`\`\`python
def greet(name: str, times: int = 3) -> str:
    """Says hello, several times."""
    return "\\n".join(f"{i + 1}. Hello, {name}!" for i in range(times))
\`\`\`

\`\`\`json
{
  "parley.agents": {
    "mine": { "command": "my-agent", "args": ["--acp"], "env": { "LOG": "info" } }
  },
  "parley.defaultAgent": "mine"
}
\`\`\`

\`\`\`diff
- the old line
+ the new line
\`\`\`

\`\`\`sh
npm install && npm start   # the button in the corner copies this
\`\`\`

---

Other scripts, other directions: 日本語のテキスト, Ελληνικά, العربية, and an emoji made of several code points: 👩‍👩‍👧‍👦. They arrive in pieces and must look whole.

That was all. Try \`/edit\` next.
`;

export async function stream(turn: Turn): Promise<void> {
  await turn.say(TOUR);
}

export async function thoughts(turn: Turn): Promise<void> {
  await turn.think(
    'The user wants to see how thoughts look. I have none, since I am a script, but I can act as if I had.\n\nFirst I would look at the question from the left. Then from the right. Then I would find out that it was a good question, and say so.',
  );
  await turn.pause(400);
  await turn.think('One more thing to consider: *thoughts may come in several parts*. This is the second one.');
  await turn.say(
    'Having thought about it twice: **yes**. Thoughts stay folded above the answer; open them if you are curious.\n',
  );
}

const PLAN = [
  { content: 'Look at the folder', kind: 'search', title: 'List files' },
  { content: 'Find what could be better', kind: 'read', title: 'Read README.md' },
  { content: 'Decide to leave it as it is', kind: 'think', title: 'Weigh the options' },
  { content: 'Report back', kind: undefined, title: '' },
] as const;

export async function plan(turn: Turn): Promise<void> {
  await turn.say('I will pretend to work, in four steps. Watch the plan.\n');
  for (const [current, step] of PLAN.entries()) {
    await showPlan(turn, current);
    if (step.kind === undefined) continue;
    const tool = await turn.tool({ title: step.title, kind: step.kind, status: 'in_progress' });
    await turn.pause(900);
    await tool.change({
      status: 'completed',
      content: [{ type: 'content', content: { type: 'text', text: 'Nothing was touched: this is only a demo.' } }],
    });
  }
  await turn.say('Four steps, nothing harmed. In a real session the plan tells you where the agent is.\n');
  await showPlan(turn, PLAN.length);
}

async function showPlan(turn: Turn, current: number): Promise<void> {
  await turn.show({
    sessionUpdate: 'plan',
    entries: PLAN.map(({ content }, index) => ({
      content,
      priority: index === 0 ? 'high' : 'medium',
      status: index < current ? 'completed' : index === current ? 'in_progress' : 'pending',
    })),
  });
}

const ROUNDS = 100;
const WORDS =
  'the session keeps every update in order so that a reader can follow what changed while the work goes on and nothing is lost'.split(
    ' ',
  );

/** About 100 KB of text and 200 tool calls at the speed of a fast model. */
export async function long(turn: Turn): Promise<void> {
  await sayByLine(
    turn,
    `This will be long: ${ROUNDS} parts, ${ROUNDS * 2} tool calls. Scroll up while it runs, or stop it.\n`,
  );
  for (let round = 1; round <= ROUNDS; round++) {
    await sayByLine(turn, section(round));
    await toolPair(turn, round);
    await turn.pause(60);
  }
  await sayByLine(turn, '\nThat was the end. It should have felt no different from the beginning.\n');
}

async function toolPair(turn: Turn, round: number): Promise<void> {
  const path = `${turn.session.cwd}/example/part-${round}.ts`;
  const read = await turn.tool({
    title: `Read part-${round}.ts`,
    kind: 'read',
    status: 'in_progress',
    locations: [{ path, line: round }],
  });
  await read.change({
    status: 'completed',
    content: [
      { type: 'content', content: { type: 'text', text: `export const part = ${round}; // made up by the demo` } },
    ],
  });
  const search = await turn.tool({
    title: `Search for "part ${round}"`,
    kind: 'search',
    rawInput: { query: `part ${round}` },
  });
  await search.change({ status: 'completed', rawOutput: { matches: round } });
}

function section(round: number): string {
  const paragraph = (from: number, length: number): string =>
    Array.from({ length }, (_, index) => WORDS[(from * 7 + index * 5 + ((index * index) % 3)) % WORDS.length]).join(
      ' ',
    );
  const code = `\`\`\`ts\nexport function part${round}(input: readonly string[]): number {\n  // ${paragraph(round, 8)}\n  return input.filter((line) => line.length > ${round}).length;\n}\n\`\`\`\n`;
  return [
    `\n## Part ${round}\n`,
    `${paragraph(round, 90)}, with **${paragraph(round + 1, 2)}** and \`part_${round}\`.\n`,
    `- ${paragraph(round + 2, 12)}\n- ${paragraph(round + 3, 9)}\n- ${paragraph(round + 4, 14)}\n`,
    round % 3 === 0 ? code : `${paragraph(round + 5, 70)}.\n`,
  ].join('\n');
}

/** Streams line by line: 100 KB word by word would take an hour. */
async function sayByLine(turn: Turn, markdown: string): Promise<void> {
  const messageId = turn.session.newId('message');
  for (const line of markdown.match(/[^\n]*\n/g) ?? [markdown]) {
    await turn.show({ sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text: line } });
    turn.session.count(line.length);
  }
}
