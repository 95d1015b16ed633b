// Rules for every message: the transport, JSON-RPC, and the form of session updates.
import { at } from '../../base/untrusted';
import { type Call, errorCode } from '../wire/life';
import { updateIn, updateName, type WireLine } from '../wire/wireLog';
import {
  breaks,
  conforms,
  each,
  type Finding,
  inBoth,
  notShown,
  type ProtocolVersion,
  type Rule,
  type Seen,
  shown,
  unanswered,
} from './rule';

export const UNKNOWN_METHOD = '_parley.check/unknown';

const KNOWN_UPDATES: ReadonlySet<string> = new Set([
  'user_message_chunk',
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
  'tool_call_update',
  'plan',
  'plan_update',
  'plan_removed',
  'available_commands_update',
  'current_mode_update',
  'config_option_update',
  'session_info_update',
  'usage_update',
  'prompt_suggestions_update',
  'notice',
  'compaction_update',
  'compaction_summary_chunk',
  'subagent_update',
  'session_message',
  'session_message_chunk',
  'turn_complete',
  'state_update',
  'state_change',
  'replay_complete',
  'user_message',
  'agent_message',
  'agent_thought',
]);

type Shape = (value: unknown) => boolean;
const isText: Shape = (value) => typeof value === 'string' && value !== '';
const isList: Shape = Array.isArray;
const isAmount: Shape = (value) => typeof value === 'number' && value >= 0;
const isContent: Shape = (value) => isText(at(value, 'type'));

/** Required fields of updates. */
const SHAPES: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  user_message_chunk: { content: isContent },
  agent_message_chunk: { content: isContent },
  agent_thought_chunk: { content: isContent },
  tool_call: { toolCallId: isText, title: (value) => typeof value === 'string' },
  tool_call_update: { toolCallId: isText },
  plan: { entries: isList },
  available_commands_update: { availableCommands: isList },
  current_mode_update: { currentModeId: isText },
  config_option_update: { configOptions: isList },
  usage_update: { used: isAmount, size: isAmount },
  prompt_suggestions_update: { suggestions: isList },
};
const SHAPES_V2 = Object.fromEntries(
  ['user', 'agent'].flatMap((role) =>
    [`${role}_message`, `${role}_message_chunk`, `${role}_thought`, `${role}_thought_chunk`].map((name) => [
      name,
      { messageId: isText },
    ]),
  ),
);

const TRANSPORTS = inBoth('Transports: stdio');

export const wireRules: readonly Rule[] = [
  {
    id: 'wire.stdout',
    rule: 'writes nothing to stdout but messages of the protocol',
    place: TRANSPORTS,
    judge: (seen) =>
      each(
        received(seen),
        (line) => (line.dir === 'noise' ? breaks('a line on stdout is no message', line) : conforms('only messages')),
        notShown('the agent sent nothing'),
      ),
  },
  {
    id: 'wire.json-rpc',
    rule: 'sends JSON-RPC 2.0 messages, one a line, without batches',
    place: TRANSPORTS,
    judge: (seen) => each(received(seen), judgeMessage, notShown('the agent sent no message')),
  },
  {
    id: 'wire.answers',
    rule: 'answers each request once, with the id of the request and a result or an error',
    place: 'JSON-RPC 2.0, section 5: Response object',
    judge: ({ lives }) => {
      const stray = lives.flatMap(({ strayAnswers }) => strayAnswers)[0];
      if (stray) return breaks('an answer to no open request', stray);
      return each(
        lives.flatMap(({ calls }) => calls),
        judgeAnswer,
        notShown('nothing was answered'),
      );
    },
  },
  {
    id: 'wire.unknown-method',
    rule: 'answers a request that it does not know with error -32601',
    place: inBoth('Extensibility: Custom requests'),
    judge: (seen) =>
      each(
        seen.calls(UNKNOWN_METHOD),
        (call) => {
          const code = errorCode(call);
          if (code === -32601) return conforms('answered with -32601', call.line, call.answer);
          return (
            unanswered(call) ??
            (call.answer &&
              breaks(code === undefined ? 'answered with a result' : `answered with ${code}`, call.line, call.answer))
          );
        },
        notShown('no unknown method was called'),
      ),
  },
  {
    id: 'wire.updates',
    rule: 'sends session updates that the protocol knows, with the fields that they need',
    place: inBoth('schema: SessionUpdate'),
    judge: (seen) =>
      each(
        received(seen).filter(({ message }) => message?.method === 'session/update'),
        (line) => judgeUpdate(line, seen.version),
        notShown('no session update was sent'),
      ),
  },
  {
    id: 'wire.alive',
    rule: 'runs until the client ends it',
    place: TRANSPORTS,
    judge: ({ lives }) =>
      each(
        lives,
        ({ ended, lines }) => {
          const last = lines.findLast(({ dir }) => dir === 'sent');
          return ended ? breaks(ended.text, last, ended) : conforms('ended with its input');
        },
        notShown('it was not started'),
      ),
  },
];

function received({ lives }: Seen): readonly WireLine[] {
  return lives.flatMap(({ lines }) => lines.filter(({ dir }) => dir === 'received' || dir === 'noise'));
}

function judgeMessage(line: WireLine): Finding | undefined {
  if (line.dir === 'noise') return undefined;
  if (!line.message) return breaks('a batch', line);
  if (line.message.jsonrpc !== '2.0') return breaks('a message without "jsonrpc": "2.0"', line);
  return conforms('each message');
}

function judgeAnswer(call: Call): Finding | undefined {
  const { answer, id, line } = call;
  const late = unanswered(call);
  if (late || !answer) return late;
  const { result, error, id: given } = answer.message ?? {};
  if (given !== id) return breaks(`the id ${shown(given)} for ${shown(id)}`, line, answer);
  if ((result === undefined) === (error === undefined))
    return breaks('an answer needs a result or an error, not both', line, answer);
  const isError = Number.isInteger(at(error, 'code')) && typeof at(error, 'message') === 'string';
  if (error !== undefined && !isError) return breaks('an error without code or message', line, answer);
  return conforms('each request');
}

function judgeUpdate(line: WireLine, version: ProtocolVersion): Finding {
  const name = updateName(line);
  if (name === undefined) return breaks('an update without "sessionUpdate"', line);
  if (!isText(at(line.message, 'params', 'sessionId'))) return breaks('an update without "sessionId"', line);
  if (version === 1 && !KNOWN_UPDATES.has(name)) return breaks(`the update ${shown(name)} is not in the schema`, line);
  const shapes = { ...(at(SHAPES, name) as object), ...(version === 2 && (at(SHAPES_V2, name) as object)) } as Record<
    string,
    Shape
  >;
  const wrong = Object.entries(shapes).find(([field, isRight]) => !isRight(at(updateIn(line), field)));
  return wrong
    ? breaks(`${name} with "${wrong[0]}": ${shown(at(updateIn(line), wrong[0]))}`, line)
    : conforms('each update');
}
