// JSON as people write it in settings files: with comments, and with a comma after the last item.

/** Strings first, so that what only looks like a comment or a comma in one stays. */
const COMMENT = /"(?:\\.|[^"\\\n])*"|\/\/[^\r\n]*|\/\*[\s\S]*?\*\//g;
const LAST_COMMA = /"(?:\\.|[^"\\\n])*"|,(?=\s*[}\]])/g;

/** Reads JSON with comments. @throws SyntaxError */
export function parseJsonc(text: string): unknown {
  const keepStrings = (found: string): string => (found.startsWith('"') ? found : ' ');
  return JSON.parse(
    text
      .replace(/^\uFEFF/, '')
      .replace(COMMENT, keepStrings)
      .replace(LAST_COMMA, keepStrings),
  );
}
