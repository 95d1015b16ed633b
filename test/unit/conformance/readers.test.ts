// Everything that the official schemas allow agents to send is read: updates and requests with
// minimal and all fields, and each branch of unions.
import { strict as assert } from 'node:assert';
import { type Dialect, required } from '../../../src/acp/protocol/dialect';
import { describeV1 } from '../../../src/acp/v1/v1Description';
import { describeV2 } from '../../../src/acp/v2/v2Agent';
import { silentLog } from '../../../src/base/log';
import { at } from '../../../src/base/untrusted';
import type { SessionEvent } from '../../../src/session/events/event';
import { SessionModel } from '../../../src/session/model/model';
import { officialSchema, type SchemaName, schemaNames } from '../../support/protocol/officialSchema';
import { readerOf } from '../../support/protocol/onlyReads';
import { instancesOf } from './instances';

function dialectOf(name: SchemaName): Dialect {
  return readerOf(name.startsWith('v2') ? 2 : 1);
}

describe('messages of agents in the official schemas', () => {
  for (const name of schemaNames) {
    const schema = officialSchema(name);
    const notification = schema.method('session/update')?.params ?? '';

    for (const size of ['least', 'all'] as const) {
      const all = instancesOf(schema, notification, size);
      for (const word of schema.updates) {
        it(`are understood: ${name} ${word}, with ${size} of its fields`, () => {
          const fitting = all.filter((params) => at(params, 'update', 'sessionUpdate') === word);
          assert.ok(fitting.length > 0, 'no instance of it was made');
          for (const params of fitting) {
            assert.equal(schema.misfit(notification, params), undefined, 'the instance itself');
            const events: SessionEvent[] = [];
            const warnings: string[] = [];
            let heard = 0;
            dialectOf(name).readUpdates([at(params, 'update')], {
              emit: (event) => events.push(event),
              onTurnComplete: () => heard++,
              onState: () => heard++,
              log: { ...silentLog, warn: (line) => warnings.push(line) },
            });
            const raw = events.filter(({ type }) => type === 'unknown_update').length;
            assert.deepEqual([warnings, raw], [[], 0], JSON.stringify(params));
            const model = new SessionModel();
            for (const event of events) model.apply(event, 0);
          }
        });
      }

      it(`are accepted: permission requests of ${name}, with ${size} of their fields`, () => {
        const definition = schema.method('session/request_permission')?.params ?? '';
        const made = instancesOf(schema, definition, size);
        for (const params of made) {
          assert.equal(schema.misfit(definition, params), undefined, 'the instance itself');
          const ask = required(dialectOf(name).controls).readPermission(params);
          const options = at(params, 'options');
          assert.equal(ask.options.length, Array.isArray(options) ? options.length : -1);
        }
        assert.ok(made.length > 0);
      });

      it(`are accepted: initialize answers of ${name}, with ${size} of its fields`, () => {
        const made = instancesOf(schema, 'InitializeResponse', size);
        for (const params of made) {
          assert.equal(schema.misfit('InitializeResponse', params), undefined, 'the instance itself');
          assert.ok(name.startsWith('v2') ? describeV2(params) : describeV1(params), JSON.stringify(params));
        }
        assert.ok(made.length > 0);
      });
    }
  }
});
