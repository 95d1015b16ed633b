// Tools that other extensions register for language models, for agents: only those that a setting
// names, and each call asks.

import { type LanguageModelToolInformation, l10n, lm } from 'vscode';
import type { ToolSession } from '../../client/mcp/editorTools';
import type { ListedTool, OtherTools } from '../../editorTools/toolCaller';
import { isToolName } from '../../editorTools/tools';
import { askFirst, requireWork } from './askFirst';
import { textOfTool } from './languageModelTools';

const MAX_TOOLS = 16;
const MAX_DESCRIPTION = 300;
const MAX_SCHEMA = 2000;
/** Characters of the arguments: the user reads all of them. */
const MAX_ARGS = 4000;
/** What agents and models take as names. */
const NAME = /^[\w-]{1,64}$/;

export function extensionTools(allowed: () => readonly string[], session: ToolSession): OtherTools {
  const list = (): readonly ListedTool[] => {
    const names = new Set(allowed());
    if (names.size === 0) return [];
    return lm.tools
      .filter(({ name }) => names.has(name) && NAME.test(name) && !isToolName(name))
      .slice(0, MAX_TOOLS)
      .map(listed);
  };
  return {
    list,
    async call(name, args, signal) {
      requireWork(session);
      const text = JSON.stringify(args, undefined, 2);
      if (text.length > MAX_ARGS) throw new Error(`The arguments have more than ${MAX_ARGS} characters.`);
      const act = {
        title: l10n.t('Use the tool {0} of another extension', name),
        kind: 'other' as const,
        // Its strings have no line breaks of their own, so that none of them ends the block.
        details: {
          content: [
            { type: 'content' as const, block: { type: 'text' as const, text: `\`\`\`json\n${text}\n\`\`\`` } },
          ],
        },
      };
      return askFirst(session, act, signal, async () => {
        await session.beforeWrite();
        const [summary = '', ...lines] = (await textOfTool(name, args, signal)).split(/\r\n?|\n/);
        return { summary: summary === '' && lines.length === 0 ? 'The tool answered without text' : summary, lines };
      });
    },
  };
}

function listed({ name, description, inputSchema }: LanguageModelToolInformation): ListedTool {
  const isShort = JSON.stringify(inputSchema ?? {}).length <= MAX_SCHEMA;
  return {
    name,
    description: description.slice(0, MAX_DESCRIPTION),
    inputSchema: { ...(isShort && inputSchema), type: 'object' },
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  };
}
