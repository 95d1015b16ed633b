// Rules for `initialize` and `session/new`.
import { at } from '../../base/untrusted';
import { resultOf, sessionOfCall, succeeded } from '../wire/life';
import { breaks, conforms, each, inBoth, lifeOf, notShown, type Rule, shown, unanswered } from './rule';

const NEW = inBoth('Session setup: Creating a session');

/** Error code of `session/new` without a sign-in. */
export const AUTH_REQUIRED = -32000;

export const startRules: readonly Rule[] = [
  {
    id: 'initialize.answer',
    rule: 'answers initialize with a protocol version that it speaks, at or below the one that is offered',
    place: inBoth('Initialization: Version negotiation'),
    judge: (seen) =>
      each(
        seen.calls('initialize'),
        (call) => {
          const late = unanswered(call, lifeOf(seen, call));
          if (late) return late;
          if (!succeeded(call)) return breaks('initialize failed', call.line, call.answer);
          const version = at(resultOf(call), 'protocolVersion');
          const offered = at(call.params, 'protocolVersion');
          return Number.isInteger(version) &&
            (version as number) >= 1 &&
            (version === seen.version || (version as number) <= Number(offered))
            ? conforms(`version ${shown(version)} for ${shown(offered)}`, call.line, call.answer)
            : breaks(`the protocol version ${shown(version)}`, call.line, call.answer);
        },
        notShown('it was not initialized'),
      ),
  },
  {
    id: 'initialize.capabilities',
    rule: 'describes itself: capabilities as an object, ways to sign in as a list, and in version 2 its name',
    place: inBoth('schema: InitializeResponse'),
    judge: (seen) =>
      each(
        seen.calls('initialize').filter(succeeded),
        (call) => {
          const result = resultOf(call);
          const key = seen.version === 2 ? 'capabilities' : 'agentCapabilities';
          const wrong = wrongDescription(result, key, seen.version);
          return wrong ? breaks(wrong, call.line, call.answer) : conforms('a description', call.line, call.answer);
        },
        notShown('it was not initialized'),
      ),
  },
  {
    id: 'new.id',
    rule: 'opens a session with an id',
    place: NEW,
    judge: (seen) =>
      each(
        seen.calls('session/new'),
        (call) => {
          const late = unanswered(call, lifeOf(seen, call));
          if (late) return late;
          if (at(call.answer?.message, 'error', 'code') === AUTH_REQUIRED) return undefined;
          if (!succeeded(call)) return breaks('session/new failed', call.line, call.answer);
          const id = at(resultOf(call), 'sessionId');
          return typeof id === 'string' && id !== ''
            ? conforms('a session', call.line, call.answer)
            : breaks(`the session id ${shown(id)}`, call.line, call.answer);
        },
        notShown('no session was opened'),
      ),
  },
  {
    id: 'new.unique',
    rule: 'gives each session an id of its own',
    place: NEW,
    judge: (seen) => {
      const opened = seen.calls('session/new').filter(succeeded);
      if (opened.length < 2) return notShown('only one session was opened');
      const twins = opened.filter((call) =>
        opened.some((other) => other !== call && sessionOfCall(other) === sessionOfCall(call)),
      );
      const answers = twins.map(({ answer }) => answer);
      return twins.length > 0
        ? breaks('two sessions have one id', ...answers)
        : conforms('different ids', ...opened.map(({ answer }) => answer));
    },
  },
];

function wrongDescription(result: unknown, key: string, version: 1 | 2): string | undefined {
  const capabilities = at(result, key);
  const methods = at(result, 'authMethods');
  if (
    capabilities !== undefined &&
    (typeof capabilities !== 'object' || capabilities === null || Array.isArray(capabilities))
  )
    return `"${key}": ${shown(capabilities)}`;
  if (methods != null && !Array.isArray(methods)) return `"authMethods": ${shown(methods)}`;
  if (version === 2 && typeof at(result, 'info', 'name') !== 'string') return 'no "info.name"';
  return undefined;
}
