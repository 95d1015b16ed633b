// Renders the settings of package.json as Markdown tables, with texts from package.nls.json.

/** The used parts of the JSON schema of a setting or property. */
interface Schema {
  readonly order?: number;
  readonly default?: unknown;
  readonly description?: string;
  readonly markdownDescription?: string;
  readonly enum?: readonly unknown[];
  readonly enumDescriptions?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
}

export interface SettingsManifest<S = Schema> {
  readonly contributes: {
    readonly configuration: readonly { readonly title: string; readonly properties: Readonly<Record<string, S>> }[];
  };
}

type Texts = Readonly<Record<string, string>>;

export function settingsOf<S>({ contributes }: SettingsManifest<S>): Readonly<Record<string, S>> {
  return Object.assign({}, ...contributes.configuration.map(({ properties }) => properties)) as Record<string, S>;
}

/** Returns a table for each section of the settings editor, in order. */
export function settingsTables({ contributes }: SettingsManifest, texts: Texts): string {
  return contributes.configuration
    .map(({ title, properties }) => {
      const sorted = Object.entries(properties).sort(([, a], [, b]) => (a.order ?? 0) - (b.order ?? 0));
      return `**${texts[title.replaceAll('%', '')] ?? title}**\n\n${table('Setting', sorted, texts)}`;
    })
    .join('\n\n');
}

export function propertyTable(manifest: SettingsManifest, texts: Texts, key: string): string {
  const schema = settingsOf(manifest)[key];
  return table('Property', schema === undefined ? [] : propertiesOf(schema, ''), texts);
}

function propertiesOf(schema: Schema, prefix: string): readonly (readonly [string, Schema])[] {
  const own = typeof schema.additionalProperties === 'object' ? schema.additionalProperties.properties : undefined;
  return Object.entries(own ?? schema.properties ?? {}).flatMap(([name, property]) => [
    [`${prefix}${name}`, property] as const,
    ...propertiesOf(property, `${prefix}${name}.`),
  ]);
}

function table(title: string, rows: readonly (readonly [string, Schema])[], texts: Texts): string {
  return [
    `| ${title} | Default | Description |`,
    '| --- | --- | --- |',
    ...rows.map(([key, schema]) => {
      const value = schema.default === undefined ? '' : `\`${JSON.stringify(schema.default)}\``;
      return `| \`${key}\` | ${value} | ${describe(schema, texts)} |`;
    }),
  ].join('\n');
}

function describe(schema: Schema, texts: Texts): string {
  const words = (key: string | undefined): string => (key === undefined ? '' : (texts[key.replaceAll('%', '')] ?? key));
  const values = (schema.enumDescriptions ?? []).map(
    (key, index) => `\`${JSON.stringify(schema.enum?.[index])}\`: ${words(key)}`,
  );
  return [words(schema.markdownDescription ?? schema.description), ...values]
    .join(' ')
    .replace(/`#([\w.]+)#`/g, '`$1`')
    .replace(/\[([^\]]+)\]\(command:[^)]+\)/g, '**Parley: $1**')
    .replaceAll('|', '\\|')
    .replace(/\s+/g, ' ')
    .trim();
}
