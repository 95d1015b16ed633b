// Finds texts that no translation reaches: what looks like words for people and does not go through `l10n.t` or
// `localizable`, and what goes through `l10n.t` before the bundle is there.
import { join } from 'node:path';
import Parser from 'web-tree-sitter';

/** The calls that translate, and those whose texts are for the log, for programmers, or for the program on the other side of a wire. */
const NOT_SHOWN = /(?:^|\.)l10n\.t$|^localizable$|(?:^|[.#])log\??\.(?:debug|info|warn|error|trace)$/;
const NOT_SHOWN_ERRORS = /^(?:Error|RangeError|TypeError|RpcError|ServerRefusal)$/;
/** Places that people read, where a single word counts too. */
const SHOWN = /^(?:label|title|tooltip|hint|prompt|placeholder|detail|openLabel)$/;
/** What is no word: names of ours and of protocols, SQL, styles and addresses. */
const NAMES = /\b(?:Parley|Bearer|POST|GET)\b|\{\d+\}/g;
const CODE =
  /\b(?:SELECT|INSERT|INTO|UPDATE|DELETE FROM|PRAGMA|CREATE TABLE|ALTER TABLE|BEGIN)\b|(?:^|\s)[\w-]+-src\b|[{};]\s*\n|<!?\w+[ >]/;

/** A text that a file holds, with `{0}` in the places of what is filled in. */
export interface Found {
  readonly line: number;
  readonly text: string;
}

export interface TextFinder {
  /** Words for people that do not go through `l10n.t`. */
  untranslated(source: string): readonly Found[];
  /** Calls of `l10n.t` that run when the file is loaded. */
  atLoad(source: string): readonly Found[];
}

export async function textFinder(): Promise<TextFinder> {
  await Parser.init();
  const grammar = 'node_modules/@vscode/l10n-dev/dist/tree-sitter-typescript.wasm';
  const parser = new Parser();
  parser.setLanguage(await Parser.Language.load(join(process.cwd(), grammar)));
  const finder = (look: (node: Parser.SyntaxNode, found: Found[]) => void) => (source: string) => {
    const tree = parser.parse(source);
    const found: Found[] = [];
    look(tree.rootNode, found);
    tree.delete();
    return found;
  };
  return { untranslated: finder(search), atLoad: finder(searchAtLoad) };
}

const FUNCTIONS = /function|method_definition|^class/;

function searchAtLoad(node: Parser.SyntaxNode, found: Found[]): void {
  if (FUNCTIONS.test(node.type)) return;
  if (node.type === 'call_expression' && /(?:^|\.)l10n\.t$/.test(node.childForFieldName('function')?.text ?? ''))
    found.push({ line: node.startPosition.row + 1, text: node.text });
  for (const child of node.namedChildren) searchAtLoad(child, found);
}

function search(node: Parser.SyntaxNode, found: Found[]): void {
  if (['comment', 'import_statement', 'literal_type', 'type_annotation'].includes(node.type)) return;
  if (node.type === 'call_expression' && NOT_SHOWN.test(node.childForFieldName('function')?.text ?? '')) return;
  if (node.type === 'new_expression' && NOT_SHOWN_ERRORS.test(node.childForFieldName('constructor')?.text ?? ''))
    return;
  if (node.type === 'string' || node.type === 'template_string') {
    const text = textOf(node);
    if (looksSpoken(text) || (isShown(node) && /\p{L}{2}/u.test(text.replace(NAMES, ''))))
      found.push({ line: node.startPosition.row + 1, text });
  }
  for (const child of node.namedChildren) search(child, found);
}

/** Two words in a row, or one that ends as a sentence or a label does. */
function looksSpoken(text: string): boolean {
  const words = text.replace(NAMES, '·');
  return !CODE.test(text) && /\p{L}{2,}[,:;.]? \p{L}|^\p{Lu}\p{L}+ ·|^\p{Lu}\p{Ll}+…$|\p{Ll}{2,}[.!?]$/u.test(words);
}

function isShown({ parent }: Parser.SyntaxNode): boolean {
  return parent?.type === 'pair' && SHOWN.test(parent.childForFieldName('key')?.text ?? '');
}

/** The characters between the quotes, with `{0}`, `{1}` in the places of expressions. */
function textOf(node: Parser.SyntaxNode): string {
  let text = '';
  let from = node.startIndex + 1;
  const filled = node.namedChildren.filter(({ type }) => type === 'template_substitution');
  filled.forEach((child, index) => {
    text += `${node.text.slice(from - node.startIndex, child.startIndex - node.startIndex)}{${index}}`;
    from = child.endIndex;
  });
  return (text + node.text.slice(from - node.startIndex, -1)).replaceAll('\\n', '\n').replaceAll(/\\(.)/g, '$1');
}
