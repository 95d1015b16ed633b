// What a permission request is about, from its own text and its call's input. Shared by the chat,
// the questions of other windows and callers of the local server.
import { at, objectOf } from '../../base/untrusted';
import type { Permission, ToolEntry } from '../../session/model/state';
import { fieldName, type RawCommand, rawCommandsIn } from '../rules/rawCommands';

export interface AskedText {
  readonly path: string;
  readonly text: string;
}

export interface AskedInput {
  readonly commands: readonly RawCommand[];
  readonly texts: readonly AskedText[];
  readonly purpose?: string;
  /** The raw input, if it contains more than the above. */
  readonly rest?: unknown;
  readonly isUnknown: boolean;
}

const PATHS = /^(?:(?:file|abs|absolute|target|notebook)?path|filename|(?:target)?file)$/;
const TEXTS = /^(?:(?:file|new)?(?:contents?|text)|body|data)$/;

export function askedInputOf({ command }: Pick<Permission, 'command'>, entry: ToolEntry | undefined): AskedInput {
  const raw = objectOf(entry?.rawInput);
  const plain = plainCommandOf(raw);
  const { commands: called, isWhole } = rawCommandsIn(raw);
  const others = called.filter(({ line, cwd = command?.cwd }) => line !== command?.line || cwd !== command.cwd);
  const commands = [...(command ? [command] : []), ...others];
  const hasDiff = entry?.content.some(({ type }) => type === 'diff') === true;
  const texts = hasDiff ? [] : textsIn(raw);
  // The request's command may differ from the call's.
  const isSaid = raw === undefined || (plain !== undefined && plain.line === called[0]?.line);
  return {
    commands,
    texts,
    purpose: plain?.description ? plain.description : undefined,
    rest: !isSaid ? raw : undefined,
    isUnknown: !isSaid && (!isWhole || (commands.length + texts.length === 0 && !hasDiff)),
  };
}

interface PlainCommand {
  readonly line: string;
  readonly cwd?: string;
  readonly description?: string;
}

function plainCommandOf(raw: unknown): PlainCommand | undefined {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return undefined;
  const { command, cwd, description, timeout = 0, ...others } = raw as Readonly<Record<string, unknown>>;
  if (typeof command !== 'string' || typeof timeout !== 'number' || Object.keys(others).length > 0) return undefined;
  if (!isTextIfAny(cwd) || !isTextIfAny(description)) return undefined;
  return { line: command, cwd: cwd || undefined, description: description || undefined };
}

function isTextIfAny(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

function textsIn(raw: unknown): readonly AskedText[] {
  const places = [raw, ...['arguments', 'input', 'args', 'params'].map((name) => objectOf(at(raw, name)))];
  return places.flatMap((place) => {
    if (typeof place !== 'object' || place === null) return [];
    const fields = Object.entries(place).map(([name, value]) => [fieldName(name), value] as const);
    const path = fields.find(([name, value]) => PATHS.test(name) && typeof value === 'string')?.[1];
    if (typeof path !== 'string') return [];
    return fields.flatMap(([name, text]) => (TEXTS.test(name) && typeof text === 'string' ? [{ path, text }] : []));
  });
}
