// The names in the official schemas as golden lists, so that changes of a newer SDK are a few
// readable lines. After an intended change: UPDATE_GOLDEN=1 npm run test:unit -- schemaChanges
import { strict as assert } from 'node:assert';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OfficialSchema, schemaNames, sdkVersion, variantsOf } from '../../support/protocol/officialSchema';

const unions = [
  ['ContentBlock', 'type'],
  ['ToolCallContent', 'type'],
  ['ConfigOption', 'type'],
  ['SessionConfigOption', 'type'],
  ['StateUpdate', 'state'],
  ['AuthMethod', 'type'],
  ['McpServer', 'type'],
  ['RequestPermissionSubject', 'type'],
  ['PlanUpdateContent', 'type'],
] as const;
const words = ['StopReason', 'ToolKind', 'ToolCallStatus', 'PlanEntryStatus', 'PermissionOptionKind', 'SessionStatus'];

function listOf(schema: OfficialSchema): string {
  const { defs, methods } = schema;
  const arrows = { agent: 'client → agent', client: 'agent → client', both: 'both ways', proxy: 'proxy' };
  const fields = (name: string): string => {
    const { properties = {}, required = [] } = defs[name] ?? {};
    return Object.keys(properties)
      .filter((key) => key !== '_meta')
      .map((key) => (required.includes(key) ? key : `${key}?`))
      .join(', ');
  };
  const union = (name: string, key: string): string[] => {
    const known = variantsOf(defs[name], key);
    return known.length > 0 ? [`${name}: ${known.join(' ')}`] : [];
  };
  const closed = (name: string): string[] => {
    const definition = defs[name];
    const known = [
      ...(definition?.enum ?? []),
      ...(definition?.oneOf ?? definition?.anyOf ?? []).map((one) => one.const),
    ];
    return definition ? [`${name}: ${known.filter((word) => typeof word === 'string').join(' ')}`] : [];
  };
  return [
    `# ${schema.name}, SDK ${sdkVersion()}`,
    '## methods',
    ...[...methods]
      .sort((a, b) => (a.method < b.method ? -1 : 1))
      .map(({ method, side, params, result }) => {
        const answer = result === undefined ? ' (notification)' : ` → {${fields(result)}}`;
        return `${method} [${arrows[side]}] {${fields(params)}}${answer}`;
      }),
    '## updates',
    ...schema.updates,
    '## capabilities of the agent',
    ...schema.capabilities('agent'),
    '## capabilities of the client',
    ...schema.capabilities('client'),
    '## words',
    ...unions.flatMap(([name, key]) => union(name, key)),
    ...words.flatMap(closed),
    '',
  ].join('\n');
}

describe('the official schemas', () => {
  for (const name of schemaNames) {
    it(`match the reviewed list of names: ${name}`, () => {
      const path = join(process.cwd(), `test/golden/schema-${name.replace(' ', '-')}.txt`);
      const list = listOf(new OfficialSchema(name, false));
      if (process.env.UPDATE_GOLDEN || !existsSync(path)) writeFileSync(path, list);
      assert.equal(list, readFileSync(path, 'utf8'));
    });
  }
});
