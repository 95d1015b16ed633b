// Code actions and menu items for problems, whose texts go only into the composer.
import {
  CodeAction,
  CodeActionKind,
  type Diagnostic,
  type Disposable,
  l10n,
  languages,
  type TextDocument,
} from 'vscode';

const MAX_PROBLEMS = 20;
const MAX_TEXT = 1000;

/** Argument of `parley.fixProblem` and `parley.explainProblem`. */
export interface ProblemsArgument {
  readonly uri: string;
  /** 1-based, as is `last`. */
  readonly first: number;
  readonly last: number;
  readonly problems: readonly string[];
}

export function offerProblemActions(): Disposable {
  return languages.registerCodeActionsProvider(
    { scheme: 'file' },
    {
      provideCodeActions: (document, _range, { diagnostics }) =>
        diagnostics.length === 0 ? [] : actionsFor(document, diagnostics),
    },
    { providedCodeActionKinds: [CodeActionKind.QuickFix] },
  );
}

function actionsFor(document: TextDocument, diagnostics: readonly Diagnostic[]): CodeAction[] {
  const argument: ProblemsArgument = {
    uri: document.uri.toString(),
    first: Math.min(...diagnostics.map(({ range }) => range.start.line)) + 1,
    last: Math.max(...diagnostics.map(({ range }) => range.end.line)) + 1,
    problems: diagnostics.slice(0, MAX_PROBLEMS).map(({ message }) => message.slice(0, MAX_TEXT)),
  };
  const action = (title: string, command: string): CodeAction => {
    const one = new CodeAction(title, CodeActionKind.QuickFix);
    one.command = { title, command, arguments: [argument] };
    one.diagnostics = [...diagnostics];
    return one;
  };
  return [
    action(l10n.t('Fix with Parley'), 'parley.fixProblem'),
    action(l10n.t('Explain with Parley'), 'parley.explainProblem'),
  ];
}
