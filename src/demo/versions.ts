// Converts version 1, which scenes speak, to version 2.
import { at } from '../base/untrusted';
import type { Version } from './input';

export interface Update {
  readonly sessionUpdate: string;
  readonly [field: string]: unknown;
}

export function initializeResult(version: Version): object {
  const info = { name: 'parley-demo', title: 'Demo agent', version: '1.0.0' };
  if (version === 2)
    return {
      protocolVersion: 2,
      info,
      capabilities: {
        auth: { status: {} },
        session: {
          prompt: { image: {}, embeddedContext: {} },
          mcp: { stdio: {} },
          ready: true,
          status: {},
          fork: {},
          delete: {},
          options: {},
          systemPrompt: {},
        },
      },
      authMethods: [],
    };
  return {
    protocolVersion: 1,
    agentInfo: info,
    agentCapabilities: {
      loadSession: false,
      auth: { status: {} },
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      session: { ready: true },
      sessionCapabilities: {
        close: {},
        resume: {},
        status: {},
        turnComplete: {},
        fork: {},
        delete: {},
        options: {},
        systemPrompt: {},
      },
    },
    authMethods: [],
    // In version 2, prompts join the running turn.
    _meta: { steering: { supported: true } },
  };
}

export function toV2Update({ sessionUpdate, ...fields }: Update): Update | undefined {
  switch (sessionUpdate) {
    case 'tool_call':
    case 'tool_call_update':
      return { sessionUpdate: 'tool_call_update', ...toV2Call(fields) };
    case 'plan':
      return { sessionUpdate: 'plan_update', plan: { type: 'items', planId: 'plan', ...fields } };
    case 'available_commands_update':
      return {
        sessionUpdate,
        availableCommands: (at(fields, 'availableCommands') as readonly object[]).map((command) => {
          const hint = at(command, 'input', 'hint');
          return { type: 'command', ...command, input: hint !== undefined ? { type: 'text', hint } : undefined };
        }),
      };
    case 'config_option_update':
      return { sessionUpdate, configOptions: toV2Options(at(fields, 'configOptions') as readonly object[]) };
    case 'current_mode_update':
      return undefined;
    default:
      return { sessionUpdate, ...fields };
  }
}

export function toV2Options(options: readonly object[]): object[] {
  return options.map((option) => {
    const { id, ...fields } = option as { readonly id: string };
    return { configId: id, ...fields };
  });
}

export function toV2Permission({ toolCall, options }: { toolCall: object; options: unknown }): object {
  const title = at(toolCall, 'title');
  return { title, subject: { type: 'tool_call', toolCall: toV2Call(toolCall) }, options };
}

function toV2Call(fields: object): object {
  const content = at(fields, 'content');
  if (!Array.isArray(content)) return fields;
  return { ...fields, content: content.map((part) => (at(part, 'type') === 'diff' ? toV2Diff(part) : part)) };
}

function toV2Diff(diff: unknown): object {
  const [path, before, after] = [String(at(diff, 'path')), at(diff, 'oldText') ?? '', at(diff, 'newText') ?? ''];
  const [old, now] = [linesOf(String(before)), linesOf(String(after))];
  // The demo only appends lines.
  const lines = [...old.map((line) => ` ${line}`), ...now.slice(old.length).map((line) => `+${line}`)];
  const from = old.length === 0 ? '/dev/null' : path;
  const hunk = `@@ -${old.length && 1},${old.length} +1,${now.length} @@`;
  const text = [`--- ${from}`, `+++ ${path}`, hunk, ...lines, ''].join('\n');
  const operation = old.length === 0 ? 'add' : 'modify';
  return { type: 'diff', changes: [{ operation, path }], patch: { format: 'git_patch', text } };
}

function linesOf(content: string): string[] {
  return content.split('\n').slice(0, -1);
}
