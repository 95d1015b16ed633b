// What the chat opens in editors: comparisons, proposals, outputs, terminals, code blocks.

import type { Uri } from 'vscode';
import { Terminals } from '../../client/terminals/terminals';
import { ChatHome } from '../chat/chatHome';
import { onlyOf } from '../commands/commandSession';
import type { Contribution } from '../core/workbench';
import { Conversations } from '../sessions/conversations';
import { Descriptors } from '../sharing/descriptors';
import { CodeBlocks } from './codeBlocks';
import { DiffEditor } from './diffEditor';
import { EditorFiles } from './editorFiles';
import { EditorContents } from './entryContents';
import { Follow } from './follow';
import { EditorLinks } from './linkOpener';
import { CodeProposals, Proposals } from './proposals';
import { OutputEditor, Reports, SessionTexts } from './readOnlyTexts';
import { RealTerminals } from './realTerminal';

export const editor: Contribution = {
  parts(workbench) {
    const { log } = workbench;
    const conversations = workbench.get(Conversations);
    const diffs = workbench.add(new DiffEditor());
    const shared = { files: workbench.get(EditorFiles), conversations, texts: diffs.texts };
    const proposals = workbench.add(
      new Proposals({ ...shared, scheme: 'parley-proposal', store: workbench.store('proposals') }),
    );
    const code = workbench.add(new CodeProposals({ ...shared, scheme: 'parley-code', store: workbench.store('code') }));
    const outputs = workbench.add(new OutputEditor());
    workbench.add(new RealTerminals(workbench.get(Terminals)));
    workbench.add(new EditorLinks(workbench.get(Descriptors).missing.openPart));
    workbench.add(new EditorContents({ diffs, proposals, outputs, scratch: workbench.folder('no-folder') }));
    workbench.add(new CodeBlocks((conversation, path, change) => code.propose(conversation, path, change)));
    workbench.add(new SessionTexts());
    workbench.add(new Reports());
    workbench.add(
      new Follow({
        active: () => onlyOf(workbench.get(ChatHome).current) ?? conversations.peek(),
        onDidActivate: conversations.onDidActivate,
        log,
      }),
    );
  },

  commands(workbench) {
    const proposals = workbench.get(Proposals);
    const code = workbench.get(CodeProposals);
    const follow = workbench.get(Follow);
    workbench.register('useProposal', (uri?: Uri) => proposals.use(uri));
    workbench.register('applyCode', (uri?: Uri) => code.use(uri));
    workbench.register('follow', () => follow.toggle());
  },
};
