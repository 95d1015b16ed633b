// marked's lexer without what we do not want: HTML stays text, and reference definitions are text too, because a definition could change blocks that were closed
// long before it. Pure: tokens only, no DOM.
import { getDefaults, Lexer, type Token, Tokenizer } from 'marked';

class PlainTokenizer extends Tokenizer {
  override html(): undefined {}
  override tag(): undefined {}
  override def(): undefined {}
}

function lexer(): Lexer {
  return new Lexer({ ...getDefaults(), gfm: true, tokenizer: new PlainTokenizer() });
}

/** The top-level blocks of `source`, their inline content not yet parsed. The `raw` of all tokens together is `source`. */
export function lexBlocks(source: string): Token[] {
  return guarded(source, () => lexer().blockTokens(source, []));
}

/** The whole token tree of `source`. */
export function lexAll(source: string): Token[] {
  return guarded(source, () => lexer().lex(source));
}

/** The lexer throws on a few texts (a block quote that holds an empty list item). Those are shown as they are; with more text it mostly recovers. */
function guarded(source: string, lex: () => Token[]): Token[] {
  try {
    return lex();
  } catch {
    return [{ type: 'paragraph', raw: source, text: source, tokens: [{ type: 'text', raw: source, text: source }] }];
  }
}
