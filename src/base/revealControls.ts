// Makes invisible and direction-changing characters visible, as they can make a name, path or
// command look like another one. Pure.

const CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/**
 * Returns the text with such characters as `⟨U+202E⟩`. Line breaks and tabs stay, as do the joiners
 * that emoji and Persian need.
 */
export function revealControls(text: string): string {
  return text.replace(CONTROLS, (char) => {
    const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `⟨U+${code}⟩`;
  });
}
