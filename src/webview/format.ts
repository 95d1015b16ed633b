// How durations, counts and untrusted names are written. Pure.

/** A duration in ms: "0.1 s", "12.4 s", "2 min 5 s", "1 h 3 min". */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 0.05) return '< 0.1 s';
  if (seconds < 99.95) return `${(Math.round(seconds * 10) / 10).toString()} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min${whole % 60 ? ` ${whole % 60} s` : ''}`;
  const minutes = Math.round(whole / 60);
  return `${Math.floor(minutes / 60)} h${minutes % 60 ? ` ${minutes % 60} min` : ''}`;
}

/** A duration in ms as whole seconds, at least one: "4 s". */
export function formatSeconds(ms: number): string {
  return formatDuration(Math.max(1, Math.round(ms / 1000)) * 1000);
}

/** A count in few characters: 812, "8.1k", "1.2M". */
export function formatCount(count: number): string {
  if (count < 1000) return String(count);
  const [value, unit] = count < 999_500 ? [count / 1000, 'k'] : [count / 1_000_000, 'M'];
  return `${value < 99.5 ? Math.round(value * 10) / 10 : Math.round(value)}${unit}`;
}

/** "1 tool", "3 tools". */
export function plural(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

// Characters that turn, hide or break what stands around them: in a name, a path or a command they could make one thing look like another.
const CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** Writes invisible and direction-changing characters out as `⟨U+202E⟩`. Line breaks and tabs stay. */
export function revealControls(text: string): string {
  return text.replace(CONTROLS, (char) => `⟨U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

/** Splits a path before its last part, so that the middle can give way first: ["src/webview/", "main.tsx"]. */
export function splitPath(path: string): readonly [folder: string, name: string] {
  const cut = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'), 0);
  if (cut === 0 || cut >= path.length - 1) return ['', path];
  return [path.slice(0, cut + 1), path.slice(cut + 1)];
}

/** The last `count` lines of a text, found from its end. */
export function lastLines(text: string, count: number): string {
  let index = text.endsWith('\n') ? text.length - 1 : text.length;
  for (let line = 0; line < count; line++) {
    const found = index === 0 ? -1 : text.lastIndexOf('\n', index - 1);
    if (found === -1) return text;
    index = found;
  }
  return text.slice(index + 1);
}
