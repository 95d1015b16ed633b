// A conversation as lines of text to compare: everything that a user can read of it, without what
// differs from run to run (ids, times, places on disk).
import { inEnglish } from '../../src/base/localizable';
import type { ContentBlock, ToolContent } from '../../src/session/events/content';
import type { Entry, Permission, SessionState, ToolEntry } from '../../src/session/model/state';

/** What of a run stands for something else in the text, the longest first. */
export type Names = readonly (readonly [found: string, name: string])[];

/** What an agent says of the machine that it is tested on, where that lacks something. */
const ofThisMachine = /^notice( \(late\))?: Codex could not find bubblewrap/;

/** A question as it stood while it was open; the state forgets it with the answer. */
export type Asked = Pick<Permission, 'toolCallId' | 'title' | 'description' | 'command' | 'options'>;

/**
 * The entries of a state from one on, and the ends of their turns; one line each, more for what a
 * tool call shows.
 * @param asked the questions that were asked in the turn
 */
export function entryLines(state: SessionState, from: number, asked: readonly Asked[], names: Names): string[] {
  const open = [...asked];
  const lines = state.entries.slice(from).flatMap((entry) => {
    const own = linesOf(entry, state);
    if (entry.kind !== 'tool') return own;
    const questions = open.filter(({ toolCallId }) => toolCallId === entry.toolCallId);
    for (const question of questions) open.splice(open.indexOf(question), 1);
    return [...own, ...questions.map(questionLine)];
  });
  return [...lines, ...open.map(questionLine)]
    .filter((line) => !ofThisMachine.test(line))
    .map((line) => withoutChance(line, names));
}

/**
 * What stands around the transcript: how its turns ended, commands, modes, options, usage, title.
 */
export function offerLines(state: SessionState, names: Names): string[] {
  const { commands, modes, mode, config, usage, title, turns } = state;
  const barriers = new Set(turns.flatMap(({ barrier }) => barrier ?? []));
  return [
    `what ends a turn: ${[...barriers].join(' ') || '-'}`,
    `commands: ${
      commands
        .map(({ name }) => name)
        .sort()
        .join(' ') || '-'
    }`,
    `mode: ${mode ?? '-'} of ${modes.map(({ id }) => id).join(' ') || '-'}`,
    ...config.map((option) => {
      const values = option.type === 'select' ? option.values.map(({ value }) => value).join(' ') : 'true false';
      return `option: ${option.id} = ${option.value} of ${values}`;
    }),
    `usage: ${usage ? `${usage.used} of ${usage.size}` : '-'}`,
    `title: ${title ?? '-'}`,
  ].map((line) => withoutChance(line, names));
}

function linesOf(entry: Entry, state: SessionState): string[] {
  const late = entry.late ? ' (late)' : '';
  switch (entry.kind) {
    case 'user':
    case 'agent':
    case 'thought':
      return [`${entry.kind}${late}: ${entry.content.map(blockText).join(' + ')}`];
    case 'tool':
      return toolLines(entry, late, state);
    case 'plan':
      return [`plan${late}: ${entry.entries.map(({ status, content }) => `[${status}] ${content}`).join('; ')}`];
    case 'notice':
      return [
        `notice${late}: ${[entry.title, inEnglish(entry.text), JSON.stringify(entry.raw)].filter(Boolean).join(' | ')}`,
      ];
    case 'error':
    case 'gap':
      return [`${entry.kind}${late}: ${inEnglish(entry.text)}`];
    case 'turn_end': {
      const turn = state.turns.find(({ id }) => id === entry.turnId);
      return [`turn of the ${turn?.origin} ends: ${turn?.stopReason}${turn?.note ? `, ${inEnglish(turn.note)}` : ''}`];
    }
  }
}

function toolLines(entry: ToolEntry, late: string, { terminals }: SessionState): string[] {
  const { toolKind, status, title, content, locations, decision, rawInput, rawOutput } = entry;
  const places = locations.map(({ path, line }) => (line === undefined ? path : `${path}:${line}`));
  return [
    `tool${late}: ${toolKind} ${status} ${JSON.stringify(title)}`,
    ...content.map((part) => `  shows ${contentText(part, terminals)}`),
    ...(places.length > 0 ? [`  at ${places.join(', ')}`] : []),
    ...(rawInput == null ? [] : [`  input ${JSON.stringify(rawInput)}`]),
    ...(rawOutput == null ? [] : [`  output ${JSON.stringify(rawOutput)}`]),
    ...(decision ? [`  decided ${decision.outcome} ${decision.kind ?? '-'} by ${decision.by}`] : []),
  ];
}

function questionLine({ title, description, command, options }: Asked): string {
  const choices = options.map(({ kind, name }) => `${kind} ${JSON.stringify(name)}`).join(', ');
  return `  asked ${[title, description, command?.line]
    .filter(Boolean)
    .map((one) => JSON.stringify(one))
    .join(' ')}: ${choices}`;
}

function contentText(part: ToolContent, terminals: SessionState['terminals']): string {
  switch (part.type) {
    case 'content':
      return `content ${blockText(part.block)}`;
    case 'diff': {
      const { path, oldText, newText, hunks, operation } = part;
      const change = hunks ? hunks.flatMap(({ lines }) => lines) : [...signed('-', oldText), ...signed('+', newText)];
      return `diff ${operation ? `(${operation}) ` : ''}${path} ${JSON.stringify(change)}`;
    }
    case 'terminal': {
      const { command, output, exit } = terminals.get(part.terminalId) ?? {};
      return `terminal ${JSON.stringify(command ?? null)} ${JSON.stringify(output ?? '')} exit ${exit?.exitCode ?? exit?.signal ?? '-'}`;
    }
    case 'unknown':
      return `unknown ${JSON.stringify(part.raw)}`;
  }
}

/** Each line of a text with a sign, as a patch has it. */
function signed(sign: '-' | '+', text = ''): string[] {
  return text === ''
    ? []
    : text
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => sign + line);
}

function blockText(block: ContentBlock): string {
  return block.type === 'text' ? JSON.stringify(block.text).slice(1, -1) : `[${block.type}]`;
}

/** A line with names for what differs from run to run. */
export function withoutChance(line: string, names: Names): string {
  let text = line;
  for (const [found, name] of names) text = text.replaceAll(found, name);
  // How far the model came before it was stopped is chance.
  const stopped = text.replace(/(?:tick\d+ ?)+/g, 'tick1 … ');
  // What gemini-cli tells its model of the day and the machine, and repeats as if the user had said
  // it.
  return stopped.replace(/<session_context>.*<\/session_context>/, '<session_context>…');
}
