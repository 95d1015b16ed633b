// What newer schemas add to the one of the newest SDK (1.29), as far as Parley supports it.
import type { Definition } from './officialSchema';

type Definitions = Readonly<Record<string, Definition>>;

const suggestion: Definition = {
  type: 'object',
  required: ['prompt'],
  properties: { prompt: { type: 'array', minItems: 1, items: { $ref: '#/$defs/ContentBlock' } } },
};
const suggestions: Definition = {
  type: 'object',
  required: ['sessionUpdate', 'suggestions'],
  properties: {
    sessionUpdate: { type: 'string', const: 'prompt_suggestions_update' },
    suggestions: { type: 'array', items: suggestion },
  },
};
const session: Definition = { type: 'object', properties: { promptSuggestions: { type: 'object', properties: {} } } };

const text: Definition = { type: 'string' };
const folders: Definition = { type: 'array', items: text };
const value: Definition = {
  type: 'object',
  required: ['configId', 'value'],
  properties: { configId: text, type: text, value: {} },
};
const values: Definition = { properties: { configOptions: { type: 'array', items: value } } };
const optionsMethod = { 'x-method': 'session/options', 'x-side': 'agent' } as const;
const options: Definitions = {
  SessionCapabilities: { properties: { options: { type: 'object', properties: {} } } },
  NewSessionRequest: values,
  ResumeSessionRequest: values,
  ForkSessionRequest: values,
  SessionOptionsRequest: {
    ...optionsMethod,
    type: 'object',
    required: ['cwd'],
    properties: { cwd: text, additionalDirectories: folders, sessionId: text },
  },
  SessionOptionsResponse: { ...optionsMethod, type: 'object' },
};

/** Unstable, 1.31 and 1.32. */
const additions: Readonly<Record<'v1' | 'v2', Definitions>> = {
  v1: {
    ...options,
    LoadSessionRequest: values,
    SessionUpdate: { oneOf: [suggestions] },
    ClientSessionCapabilities: session,
  },
  v2: { ...options, SessionUpdate: { anyOf: [suggestions] }, ClientCapabilities: { properties: { session } } },
};

export function withNewer(version: 'v1' | 'v2', defs: Definitions): Definitions {
  const changed = Object.entries(additions[version]).map(([name, addition]) => {
    const { oneOf = [], anyOf = [], properties } = addition;
    const { [name]: old = addition } = defs;
    return [
      name,
      {
        ...old,
        ...(old.oneOf && { oneOf: [...oneOf, ...old.oneOf] }),
        ...(old.anyOf && { anyOf: [...anyOf, ...old.anyOf] }),
        ...(properties && { properties: { ...old.properties, ...properties } }),
      },
    ] as const;
  });
  return { ...defs, ...Object.fromEntries(changed) };
}
