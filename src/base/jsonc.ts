// JSON as in settings files: with comments and trailing commas.

/** Strings match first, so that comments and commas inside them stay. */
const COMMENT = /"(?:\\.|[^"\\\n])*"|\/\/[^\r\n]*|\/\*[\s\S]*?\*\//g;
const LAST_COMMA = /"(?:\\.|[^"\\\n])*"|,(?=\s*[}\]])/g;

/**
 * Parses JSON with comments.
 * @throws SyntaxError
 */
export function parseJsonc(text: string): unknown {
  const keepStrings = (found: string): string => (found.startsWith('"') ? found : ' ');
  return JSON.parse(
    text
      .replace(/^\uFEFF/, '')
      .replace(COMMENT, keepStrings)
      .replace(LAST_COMMA, keepStrings),
  );
}
