// The setting `parley.systemPrompt`: text added to the instructions of agents.

import { head } from '../../base/text';
import { at } from '../../base/untrusted';
import type { SystemPrompt } from '../../client/ports/ports';
import { isBelow } from '../../client/requests/roots';
import { folderValues, userValue } from './folderSettings';

const KEY = 'systemPrompt';
const MAX_TEXT = 20_000;

/** The user's text precedes the workspace's, which can't replace it. */
export const systemPrompt: SystemPrompt = (agentId, cwd) => {
  const ofFolders = folderValues(KEY).filter(({ place, folder }) => place === 'workspace' || isBelow(folder, cwd));
  const all: readonly { readonly value: unknown; readonly file?: string }[] = [{ value: userValue(KEY) }, ...ofFolders];
  return all.flatMap(({ value, file }) => {
    const text = at(value, agentId) ?? at(value, '*');
    if (typeof text !== 'string' || text.trim() === '') return [];
    return [{ text: head(text, MAX_TEXT), file, isCut: text.length > MAX_TEXT ? true : undefined }];
  });
};
