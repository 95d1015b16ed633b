// Reads the features and sign-in methods that a v1 agent advertises in its answer to initialize
// (sections 1.9, 1.10).
import { at, isMarked } from '../../base/untrusted';
import { advertises, type ProposedCapability } from '../proposals/announced';
import { announcesSteering } from '../proposals/steering';
import type { AgentDescription, AgentFeatures, AuthMethod, Feature } from '../protocol/dialect';
import { announcedKeyForm } from '../quirks/apiKey';
import { authMethodSchema, initializeResultSchema } from './v1Schema';

const MAX_METHODS = 50;

export function describeV1(raw: unknown): AgentDescription | undefined {
  return describe(1, raw, featuresOf);
}

export function describe(
  protocol: 1 | 2,
  raw: unknown,
  featuresOf: (raw: unknown) => AgentFeatures,
): AgentDescription | undefined {
  const parsed = initializeResultSchema.safeParse(raw);
  if (!parsed.success) return undefined;
  const { agentInfo, info, authMethods } = parsed.data;
  return {
    protocol,
    ...(protocol === 1 ? agentInfo : info),
    features: featuresOf(raw),
    authMethods: readAuthMethods(authMethods),
    raw,
  };
}

function featuresOf(raw: unknown): AgentFeatures {
  const capability = (...path: string[]): Feature | undefined => toFeature(at(raw, 'agentCapabilities', ...path));
  const prompt = (kind: string): boolean => capability('promptCapabilities', kind) !== undefined;
  return withoutAbsent({
    prompt: { image: prompt('image'), audio: prompt('audio'), embeddedContext: prompt('embeddedContext') },
    load: capability('loadSession'),
    resume: capability('sessionCapabilities', 'resume'),
    list: capability('sessionCapabilities', 'list'),
    fork: capability('sessionCapabilities', 'fork'),
    close: capability('sessionCapabilities', 'close'),
    delete: capability('sessionCapabilities', 'delete'),
    title: capability('sessionCapabilities', 'title'),
    archive: capability('sessionCapabilities', 'archive'),
    additionalDirectories: capability('sessionCapabilities', 'additionalDirectories'),
    systemPrompt: capability('sessionCapabilities', 'systemPrompt'),
    options: capability('sessionCapabilities', 'options'),
    logout: capability('auth', 'logout'),
    authStatus: capability('auth', 'status'),
    mcpHttp: capability('mcpCapabilities', 'http'),
    mcpSse: capability('mcpCapabilities', 'sse'),
    mcpAcp: capability('mcpCapabilities', 'acp'),
    ...proposalsOf(raw),
  });
}

export function proposalsOf(raw: unknown): Readonly<Record<ProposedCapability | 'steering', Feature | undefined>> {
  const feature = (name: ProposedCapability): Feature | undefined => (advertises(raw, name) ? {} : undefined);
  return {
    status: feature('status'),
    ready: feature('ready'),
    turnComplete: feature('turnComplete'),
    steering: announcesSteering(raw) ? {} : undefined,
  };
}

export function toFeature(value: unknown): Feature | undefined {
  if (!isMarked(value)) return undefined;
  return value === true ? {} : (value as Feature);
}

export function withoutAbsent<T extends object>(record: { readonly [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as T;
}

/**
 * Without a type, a method is `agent`. `terminal` includes its predecessor `_meta.terminal-auth`;
 * `env_var` left the protocol but is still sent; other types are only shown.
 */
export function readAuthMethods(raw: unknown): AuthMethod[] {
  if (!Array.isArray(raw)) return [];
  return raw.slice(0, MAX_METHODS).flatMap((entry): AuthMethod[] => {
    const parsed = authMethodSchema.safeParse(entry);
    if (!parsed.success) return [];
    const { name, description, args, env, varName, vars, _meta } = parsed.data;
    const id = parsed.data.id ?? parsed.data.methodId;
    if (!id) return [];
    const common = { id, name: name ?? id, description };
    const legacy = at(_meta, 'terminal-auth');
    const command = at(legacy, 'command');
    if (typeof command === 'string') {
      return [
        { ...common, type: 'terminal', command, args: texts(at(legacy, 'args')), env: textRecord(at(legacy, 'env')) },
      ];
    }
    switch (parsed.data.type ?? 'agent') {
      case 'agent':
        return [{ ...common, type: 'agent', keyForm: announcedKeyForm(at(_meta, 'api-key')) }];
      case 'terminal':
        return [{ ...common, type: 'terminal', args: texts(args), env: textRecord(env) }];
      case 'env_var':
        return [{ ...common, type: 'env_var', variables: variablesOf(varName, vars) }];
      default:
        return [{ ...common, type: 'other' }];
    }
  });
}

function variablesOf(single: unknown, many: unknown): string[] {
  const names = Array.isArray(many) ? many.map((one) => (typeof one === 'string' ? one : at(one, 'name'))) : [single];
  return names.filter((name): name is string => typeof name === 'string' && name !== '').slice(0, MAX_METHODS);
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}

function textRecord(value: unknown): Record<string, string> {
  const pairs = Array.isArray(value)
    ? value.map((one) => [at(one, 'name'), at(one, 'value')])
    : Object.entries(typeof value === 'object' && value !== null ? value : {});
  return Object.fromEntries(pairs.filter(([key, text]) => typeof key === 'string' && typeof text === 'string'));
}
