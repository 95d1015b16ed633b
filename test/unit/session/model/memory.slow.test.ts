// The memory use of a session is proportional to what it shows.
import { strict as assert } from 'node:assert';
import {
  MAX_ALL_TERMINAL_CHARS,
  MAX_ALL_TOOL_CHARS,
  MAX_RAW_CHARS,
  MAX_TOOL_TEXT,
} from '../../../../src/session/events/bounds';
import type { SessionEvent, ToolPatch } from '../../../../src/session/events/event';
import { Changes } from '../../../../src/session/model/changes';
import { SessionModel } from '../../../../src/session/model/model';
import { retainedBytes } from '../../../support/heap';
import { call } from '../../../support/sessionEvents';

const MB = 1024 * 1024;

const wireText = (chars: number, seed: number): string =>
  JSON.parse(JSON.stringify('x'.repeat(chars - 8) + (10_000_000 + seed)));

function model(events: (apply: (event: SessionEvent) => void) => void): SessionModel {
  const made = new SessionModel();
  events((event) => made.apply(event, 1));
  return made;
}

const output = (chars: number, seed: number): ToolPatch => ({
  content: [{ type: 'content', block: { type: 'text', text: wireText(chars, seed) } }],
});

describe('the memory of a session', () => {
  it('stays within the limit for large raw outputs', () => {
    const bytes = retainedBytes(() =>
      model((apply) => {
        for (let n = 0; n < 30; n++) apply(call(`c${n}`, { rawOutput: { out: wireText(3 * MB, n) } }));
      }),
    );
    assert.ok(bytes < 1.2 * 30 * MAX_RAW_CHARS + MB, `${bytes} bytes`);
  });

  it('stores messages received in small chunks as one string each', () => {
    const chars = 60 * 20;
    const bytes = retainedBytes(() =>
      model((apply) => {
        for (let n = 0; n < 1000; n++) {
          for (let piece = 0; piece < 60; piece++)
            apply({ type: 'message_chunk', role: 'agent', block: { type: 'text', text: wireText(20, n + piece) } });
          apply(call(`c${n}`, {}));
        }
      }),
    );
    assert.ok(bytes < 1000 * (chars + 1500), `${bytes} bytes`);
  });

  it('stays within the limit for large texts', () => {
    const bytes = retainedBytes(() =>
      model((apply) => {
        for (let n = 0; n < 20; n++) apply(call(`c${n}`, output(5 * MB, n)));
      }),
    );
    assert.ok(bytes < 1.2 * 20 * MAX_TOOL_TEXT + MB, `${bytes} bytes`);
  });

  it('shortens the oldest tool calls when all together are too large, and keeps the newest whole', () => {
    let made: SessionModel | undefined;
    const bytes = retainedBytes(() => {
      made = model((apply) => {
        for (let n = 0; n < 300; n++) apply(call(`c${n}`, { ...output(MB, n), status: 'completed' }));
      });
      return made;
    });
    assert.ok(bytes < 1.2 * MAX_ALL_TOOL_CHARS + MB, `${bytes} bytes`);
    const sizes = made?.state.entries.map((entry) =>
      entry.kind === 'tool' ? JSON.stringify(entry.content).length : 0,
    );
    assert.ok((sizes?.[0] ?? 0) < 50_000 && (sizes?.[0] ?? 0) > 1000, `the oldest has ${sizes?.[0]}`);
    assert.ok((sizes?.at(-1) ?? 0) >= MB);
  });

  it('is about the length of a text received in small chunks', () => {
    const pieces = 200_000;
    const bytes = retainedBytes(() =>
      model((apply) => {
        for (let n = 0; n < pieces; n++)
          apply({ type: 'message_chunk', role: 'agent', block: { type: 'text', text: `${n % 10}abcd ` } });
      }),
    );
    assert.ok(bytes < 3 * pieces * 6 + MB, `${bytes} bytes for ${pieces * 6} characters`);
  });

  it('bounds the output of all terminals together and keeps the newest output', () => {
    let made: SessionModel | undefined;
    const bytes = retainedBytes(() => {
      made = model((apply) => {
        for (let n = 0; n < 100; n++) apply({ type: 'terminal', terminalId: `t${n}`, append: wireText(MB, n) });
      });
      return made;
    });
    assert.ok(bytes < 1.2 * MAX_ALL_TERMINAL_CHARS + MB, `${bytes} bytes`);
    const outputs = [...(made?.state.terminals.values() ?? [])];
    assert.equal(outputs.at(-1)?.output.length, MB);
    assert.ok(outputs[0]?.truncated && outputs[0].output.endsWith('10000000'));
  });
});

describe('changes that no reader takes', () => {
  const flood = (kind: 'terminal' | 'message'): number => {
    const made = new SessionModel();
    const changes = new Changes(() => {});
    made.observe(changes);
    return retainedBytes(() => {
      for (let n = 0; n < 3000; n++) {
        const text = wireText(20_000, n);
        made.apply(
          kind === 'terminal'
            ? { type: 'terminal', terminalId: `t${n % 40}`, append: text }
            : { type: 'message_chunk', role: 'agent', block: { type: 'text', text } },
          1,
        );
      }
      return [made, changes];
    });
  };

  for (const [kind, most] of [
    ['terminal', MAX_ALL_TERMINAL_CHARS],
    ['message', 8 * MB],
  ] as const)
    it(`take no more memory than the model: ${kind}`, () => {
      const bytes = flood(kind);
      assert.ok(bytes < 1.2 * most + 10 * MB, `${bytes} bytes`);
    });
});
