// The editor's files and tools for agents.
import { EditorWorkingFiles } from '../changes/documents/workingFiles';
import { EditorUserEdits } from '../changes/userEdits';
import type { Contribution } from '../core/workbench';
import { EditorFiles } from '../editor/editorFiles';
import { EditorToolHost } from './editorToolHost';

export const editorTools: Contribution = {
  parts(workbench) {
    const { context, log } = workbench;
    workbench.add(new EditorFiles({ log }));
    const { asAgent } = workbench.add(new EditorUserEdits(Date.now));
    const files = workbench.add(new EditorWorkingFiles(log));
    workbench.add(new EditorToolHost({ context, files, asAgent, log }));
  },
};
