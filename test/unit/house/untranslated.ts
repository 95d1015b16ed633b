// Finds texts that no translation reaches: what looks like words for people and does not go through
// `l10n.t` or `localizable`, and what goes through `l10n.t` before the bundle is there.
import type { Node, SourceFile } from 'typescript/unstable/ast';
import {
  isCallExpression,
  isClassLikeDeclaration,
  isFunctionLikeDeclaration,
  isImportDeclaration,
  isLiteralTypeNode,
  isNewExpression,
  isPropertyAssignment,
  isStringLiteralLikeNode,
  isTemplateExpression,
} from 'typescript/unstable/ast/is';
import { createVirtualFileSystem } from 'typescript/unstable/fs';
import { API } from 'typescript/unstable/sync';
import type { Source } from './sources';

const NOT_SHOWN = /(?:^|\.)l10n\.t$|^localizable$|(?:^|[.#])log\??\.(?:debug|info|warn|error|trace)$/;
const NOT_SHOWN_ERRORS = /^(?:Error|RangeError|SyntaxError|TypeError|RpcError|ServerRefusal)$/;
const SHOWN = /^(?:label|title|tooltip|hint|prompt|placeholder|detail|openLabel)$/;
const NAMES = /\b(?:Parley|Bearer|POST|GET)\b|\{\d+\}/g;
const CODE =
  /\b(?:SELECT|INSERT|INTO|UPDATE|DELETE FROM|PRAGMA|CREATE TABLE|ALTER TABLE|BEGIN)\b|(?:^|\s)[\w-]+-src\b|[{};]\s*\n|<!?\w+[ >]/;

export interface Found {
  readonly line: number;
  readonly text: string;
}

export function parseSources(sources: readonly Source[]): readonly SourceFile[] {
  const config = '/tsconfig.json';
  const files = Object.fromEntries(sources.map(({ path, text }) => [`/${path}`, text]));
  // Each file alone: nothing that a file imports is read, and no library.
  const compilerOptions = { noLib: true, noResolve: true, types: [], jsx: 'preserve' };
  const fs = createVirtualFileSystem({ ...files, [config]: JSON.stringify({ compilerOptions }) });
  const compiler = new API({ fs });
  try {
    const project = compiler.updateSnapshot({ openProjects: [config] }).getProject(config)!;
    return sources.map(({ path }) => project.program.getSourceFile(`/${path}`)!);
  } finally {
    compiler.close();
  }
}

export function translatedAtLoad(file: SourceFile): readonly Found[] {
  const found: Found[] = [];
  const search = (node: Node): void => {
    if (isFunctionLikeDeclaration(node) || isClassLikeDeclaration(node)) return;
    if (isCallExpression(node) && /(?:^|\.)l10n\.t$/.test(node.expression.getText(file)))
      found.push({ line: lineOf(node, file), text: node.getText(file) });
    node.forEachChild(search);
  };
  search(file);
  return found;
}

export function untranslated(file: SourceFile): readonly Found[] {
  const found: Found[] = [];
  const search = (node: Node): void => {
    if (isImportDeclaration(node) || isLiteralTypeNode(node)) return;
    if (isCallExpression(node) && NOT_SHOWN.test(node.expression.getText(file))) return;
    if (isNewExpression(node) && NOT_SHOWN_ERRORS.test(node.expression.getText(file))) return;
    const text = textOf(node);
    if (text !== undefined && (looksSpoken(text) || (isShown(node, file) && /\p{L}{2}/u.test(text.replace(NAMES, '')))))
      found.push({ line: lineOf(node, file), text });
    node.forEachChild(search);
  };
  search(file);
  return found;
}

function lineOf(node: Node, file: SourceFile): number {
  return file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
}

function looksSpoken(text: string): boolean {
  const words = text.replace(NAMES, '·');
  return !CODE.test(text) && /\p{L}{2,}[,:;.]? \p{L}|^\p{Lu}\p{L}+ ·|^\p{Lu}\p{Ll}+…$|\p{Ll}{2,}[.!?]$/u.test(words);
}

function isShown({ parent }: Node, file: SourceFile): boolean {
  return isPropertyAssignment(parent) && SHOWN.test(parent.name.getText(file));
}

function textOf(node: Node): string | undefined {
  if (isStringLiteralLikeNode(node)) return node.text;
  if (!isTemplateExpression(node)) return undefined;
  return node.templateSpans.reduce((text, { literal }, index) => `${text}{${index}}${literal.text}`, node.head.text);
}
