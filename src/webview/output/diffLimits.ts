// How much of a diff is drawn.

/** The editor shows the rest. */
export const COMPACT_LINES = 60;
export const OPEN_LINES = 800;
/** Maximum length of a line; longer ones are from minified files. */
export const LONGEST_LINE = 400;
