// Finding a text in a session of 10,000 entries: how soon the first match and all of them are
// shown, and how long the event loop stands still.
import { SessionFind } from '../../src/client/view/sessionFind';
import type { FindQuery } from '../../src/panel/contract';
import { SessionModel } from '../../src/session/model/model';
import { median, type Row, rounded, rowsOf } from './figures';
import { LoopGaps } from './loopGaps';

const ENTRIES = 10_000;
/** Each of this many entries has one. */
const NEEDLE_EVERY = 50;
const RUNS = 5;
const PARAGRAPH = 'The parser reads one line, keeps **what is left**, and [goes on](src/parser.ts) with `next()`.\n';
const QUERIES: readonly Pick<FindQuery, 'text' | 'regex'>[] = [
  { text: 'needle', regex: false },
  { text: 'the', regex: false },
  { text: 'nowhere at all', regex: false },
  { text: 'need\\w+', regex: true },
];

/**
 * Times are in milliseconds, of the middle of five, for the slowest of the queries that find
 * something.
 */
export async function measureFind(say: (line: string) => void): Promise<readonly Row[]> {
  const model = makeSession();
  if (model.state.entries.length !== ENTRIES) throw new Error(`${model.state.entries.length} entries`);
  const gaps = new LoopGaps();
  const times: { text: string; first: number | undefined; all: number }[] = [];
  for (const query of QUERIES) {
    const runs = [];
    for (let run = 0; run < RUNS; run++) runs.push(await search(model, query));
    const firsts = runs.flatMap((one) => one.first ?? []);
    times.push({
      text: query.text,
      first: firsts.length > 0 ? median(firsts) : undefined,
      all: median(runs.map((one) => one.all)),
    });
  }
  say(
    times
      .map(({ text, first, all }) => `${text} ${first === undefined ? '–' : rounded(first)}, ${rounded(all)}`)
      .join('; '),
  );
  const row = rowsOf(`find in ${ENTRIES} entries`);
  return [
    row('first match', Math.max(...times.flatMap(({ first }) => first ?? [])), 'ms', 100),
    row('all counted', Math.max(...times.map(({ all }) => all)), 'ms', 1000),
    row('longest block of the event loop', gaps.end(), 'ms', 50),
  ];
}

function search(
  model: SessionModel,
  query: Pick<FindQuery, 'text' | 'regex'>,
): Promise<{ readonly first: number | undefined; readonly all: number }> {
  return new Promise((resolve) => {
    const began = performance.now();
    let first: number | undefined;
    const request = { ...query, matchCase: false, wholeWord: false };
    const source = { model, whole: undefined, roots: [] };
    const find = new SessionFind(source, { type: 'find', id: 1, query: request, from: ENTRIES - 10 }, (message) => {
      if (message.type !== 'found') return;
      const now = performance.now() - began;
      if (message.counts.length > 0) first ??= now;
      if (!message.isDone) return;
      find.dispose();
      resolve({ first, all: now });
    });
  });
}

/** A session of messages and tool calls, with a needle here and there. */
function makeSession(): SessionModel {
  const model = new SessionModel();
  for (let index = 0; index < ENTRIES; index++) {
    const text = `${index % NEEDLE_EVERY === 0 ? 'A needle. ' : ''}${PARAGRAPH.repeat(index % 3 === 0 ? 20 : 2)}`;
    if (index % 3 === 2)
      model.apply(
        {
          type: 'tool_call',
          toolCallId: `c${index}`,
          announced: true,
          patch: { title: `Read ${index}`, content: [{ type: 'content', block: { type: 'text', text } }] },
        },
        0,
      );
    else
      model.apply(
        {
          type: 'message_chunk',
          role: index % 3 === 0 ? 'agent' : 'user',
          messageId: `m${index}`,
          block: { type: 'text', text },
        },
        0,
      );
  }
  return model;
}
