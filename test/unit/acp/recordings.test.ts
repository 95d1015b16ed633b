// Recorded traffic of real agents, read as the client reads it: the transcript that comes out is the golden one, and no update is left without a place.
// After a wanted change: UPDATE_GOLDEN=1 npm run test:unit -- recordings
import { strict as assert } from 'node:assert';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { V1Agent } from '../../../src/acp/v1Agent';
import { messageOf } from '../../../src/base/errors';
import { silentLog } from '../../../src/base/log';
import { PermissionDesk } from '../../../src/client/permissionDesk';
import type { SessionEvent } from '../../../src/session/event';
import { SessionModel } from '../../../src/session/model';
import type { Entry } from '../../../src/session/state';

const recordings = join(process.cwd(), 'test/fixtures/wire');
const golden = join(process.cwd(), 'test/golden/transcripts');

interface Recorded {
  readonly dir?: 'c2a' | 'a2c';
  readonly msg?: {
    readonly id?: unknown;
    readonly method?: string;
    readonly params?: Record<string, unknown>;
    readonly result?: { readonly stopReason?: string };
  };
}

/** Plays the agent's side of a recording into a model for each session. */
function replay(lines: readonly Recorded[]): {
  models: Map<string, SessionModel>;
  problems: string[];
  updates: number;
} {
  const models = new Map<string, SessionModel>();
  const prompts = new Map<unknown, { turnId: string; model: SessionModel }>();
  const problems: string[] = [];
  let updates = 0;
  let turns = 0;
  const v1 = new V1Agent({ request: () => Promise.reject(new Error('only reads')), notify: async () => {} });
  const modelOf = (id: unknown): SessionModel => {
    const known = models.get(String(id)) ?? new SessionModel();
    models.set(String(id), known);
    return known;
  };
  for (const { dir, msg } of lines) {
    if (!msg) continue;
    const { method, params, id } = msg;
    const apply = (event: SessionEvent): void => modelOf(params?.sessionId).apply(event, 0);
    if (dir === 'c2a' && method === 'session/prompt') {
      const turnId = `t${++turns}`;
      apply({ type: 'turn_started', turnId, origin: 'user', at: 0 });
      prompts.set(id, { turnId, model: modelOf(params?.sessionId) });
    } else if (dir === 'a2c' && method === 'session/update') {
      updates++;
      const log = { ...silentLog, warn: (line: string) => problems.push(line) };
      v1.readUpdates([params?.update], { emit: apply, onTurnComplete() {}, onState() {}, log });
    } else if (dir === 'a2c' && method === 'session/request_permission') {
      try {
        void new PermissionDesk(apply).ask(v1.readPermission(params), true, new AbortController().signal);
      } catch (error) {
        problems.push(messageOf(error));
      }
    } else if (dir === 'a2c' && !method && prompts.has(id)) {
      const { turnId, model } = prompts.get(id) ?? { turnId: '', model: new SessionModel() };
      const stopReason = msg.result?.stopReason === 'cancelled' ? 'cancelled' : msg.result ? 'end_turn' : 'error';
      model.apply({ type: 'turn_ended', turnId, stopReason, barrier: 'response', at: 0 }, 0);
    }
  }
  return { models, problems, updates };
}

function line(entry: Entry): string {
  const place = `${entry.turnId ?? '-'}${entry.late ? ' late' : ''}`;
  switch (entry.kind) {
    case 'user':
    case 'agent':
    case 'thought':
      return `${place} ${entry.kind}: ${entry.content.map((block) => (block.type === 'text' ? JSON.stringify(block.text).slice(1, -1).slice(0, 400) : `[${block.type}]`)).join('')}`;
    case 'tool':
      return `${place} tool ${entry.toolKind} ${entry.status}: ${JSON.stringify(entry.title).slice(1, -1).slice(0, 200)} (${entry.content.map(({ type }) => type).join()}) ${entry.locations.map(({ path, line: at }) => `${path}:${at ?? ''}`).join()}`;
    case 'plan':
      return `${place} plan: ${entry.entries.map(({ status, content }) => `[${status}] ${content}`).join('; ')}`;
    case 'notice':
      return `${place} notice: ${entry.title} ${entry.text}`;
    case 'error':
      return `${place} error: ${entry.text}`;
    case 'turn_end':
      return `${entry.turnId} ends`;
  }
}

describe('recorded agents', () => {
  for (const file of readdirSync(recordings)) {
    it(`lose nothing of what they said: ${file}`, () => {
      const lines = readFileSync(join(recordings, file), 'utf8')
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text) as Recorded);
      const { models, problems, updates } = replay(lines);
      assert.ok(updates > 0);
      assert.deepEqual(problems, []);
      const transcript = [...models].flatMap(([, { state }], index) => {
        const { commands, mode, config, usage, title } = state;
        return [
          `# session ${index + 1}: ${commands.length} commands, mode ${mode ?? '-'}, ${config.length} options, usage ${usage ? `${usage.used}/${usage.size}` : '-'}, title ${title ?? '-'}`,
          ...state.entries.map(line),
        ];
      });
      const path = join(golden, file.replace('.ndjson', '.txt'));
      const text = `${transcript.join('\n')}\n`;
      if (process.env.UPDATE_GOLDEN || !existsSync(path)) writeFileSync(path, text);
      assert.equal(text, readFileSync(path, 'utf8'));
    });
  }
});
