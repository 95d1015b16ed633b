// A very long answer: about 100 KB of text between 200 tool calls, as fast as a quick model. For
// seeing that a long conversation stays light.
import type { Turn } from '../turn';

const ROUNDS = 100;
const WORDS =
  'the session keeps every update in order so that a reader can follow what changed while the work goes on and nothing is lost'.split(
    ' ',
  );

export async function long(turn: Turn): Promise<void> {
  await sayAtOnce(
    turn,
    `This will be long: ${ROUNDS} parts, ${ROUNDS * 2} tool calls. Scroll up while it runs, or stop it.\n`,
  );
  for (let round = 1; round <= ROUNDS; round++) {
    await sayAtOnce(turn, section(round));
    await toolPair(turn, round);
    await turn.pause(60);
  }
  await sayAtOnce(turn, '\nThat was the end. It should have felt no different from the beginning.\n');
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

/** Streams by line: a hundred kilobytes word by word would take an hour. */
async function sayAtOnce(turn: Turn, markdown: string): Promise<void> {
  const messageId = turn.session.newId('message');
  for (const line of markdown.match(/[^\n]*\n/g) ?? [markdown]) {
    await turn.show({ sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text: line } });
    turn.session.count(line.length);
  }
}
