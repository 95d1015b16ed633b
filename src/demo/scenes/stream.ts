// Streamed Markdown: everything that the transcript renders, word by word.
import type { Turn } from '../turn';

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
