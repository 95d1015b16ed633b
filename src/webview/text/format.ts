// How durations, counts and paths are written. Pure.

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
