// Reads an agent's icon: a small drawing in one color. The output is rebuilt from its shapes, so
// nothing else in the file gets through.

export const MAX_SVG = 16_384;
const MAX_ELEMENTS = 200;
const MAX_DEPTH = 16;

const SHAPES = new Set(['path', 'circle', 'ellipse', 'rect', 'line', 'polyline', 'polygon']);
/** Dropped with their contents: they draw nothing. */
const NON_DRAWING = new Set(['title', 'desc', 'defs', 'metadata']);
const NUMBERS =
  /^(?:d|points|[xy][12]?|c[xy]|r[xy]?|width|height|transform|(?:fill-|stroke-)?opacity|stroke-(?:width|miterlimit|dasharray|dashoffset))$/;
const WORDS = new Set(['fill-rule', 'clip-rule', 'stroke-linecap', 'stroke-linejoin']);
const PAINTS = new Set(['fill', 'stroke']);
/** Attributes without effect on a drawing in one color. */
const SKIPPED = /^(?:xmlns(?::\w+)?|id|class|version|role|color|clip-path|xml:space|aria-[\w-]+|data-[\w-]+)$/;
const NUMERIC = /^[\w\s.,()+-]*$/;
const ONE_COLOR = /^(?:currentColor|black|#000|#000000)$/i;

const SPACE = /\s+|<!--[\s\S]*?-->|<\?xml[^<>]*\?>/y;
const TAG = /<(\/?)([A-Za-z]+)((?:\s+[\w:-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'))*)\s*(\/?)>/y;
const ATTRIBUTE = /([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const CHARACTER_DATA = /[^<]+/y;

/** Uses `currentColor`; undefined unless it is a small drawing in one color. Idempotent. */
export function readPlainSvg(text: string): string | undefined {
  if (text.length > MAX_SVG) return undefined;
  const open: string[] = [];
  let out = '';
  let elements = 0;
  for (let at = 0; at < text.length; ) {
    const isInNonDrawing = open.some((name) => NON_DRAWING.has(name));
    const between = matchAt(SPACE, text, at) ?? (isInNonDrawing ? matchAt(CHARACTER_DATA, text, at) : undefined);
    if (between) {
      at += between[0].length;
      continue;
    }
    const tag = matchAt(TAG, text, at);
    if (!tag) return undefined;
    at += tag[0].length;
    const [, closes, name = '', attributes = '', isEmpty] = tag;
    if (closes) {
      if (attributes !== '' || isEmpty || open.pop() !== name) return undefined;
      if (!isInNonDrawing) out += `</${name}>`;
      if (open.length === 0) return /^\s*$/.test(text.slice(at)) ? out : undefined;
      continue;
    }
    elements += 1;
    if (elements > MAX_ELEMENTS || open.length >= MAX_DEPTH) return undefined;
    if ((open.length === 0) !== (name === 'svg')) return undefined;
    if (!isEmpty) open.push(name);
    if (isInNonDrawing || NON_DRAWING.has(name)) continue;
    const written = writeTag(name, attributes);
    if (written === undefined || (isEmpty && open.length === 0)) return undefined;
    out += `${written}${isEmpty ? '/>' : '>'}`;
  }
  return undefined;
}

export function svgImage(svg: string, color: `#${string}`): string {
  return `data:image/svg+xml;base64,${Buffer.from(svg.replaceAll('currentColor', color)).toString('base64')}`;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

/** Returns undefined for anything but a plain shape. */
function writeTag(name: string, attributes: string): string | undefined {
  const found = new Map([...attributes.matchAll(ATTRIBUTE)].map(([, key = '', a, b]) => [key, a ?? b ?? '']));
  if (name === 'svg') return writeRoot(found);
  if (name !== 'g' && !SHAPES.has(name)) return undefined;
  const written = writeAttributes(found);
  return written === undefined ? undefined : `<${name}${written}`;
}

function writeRoot(found: Map<string, string>): string | undefined {
  const box = found.get('viewBox') ?? `0 0 ${lengthOf(found.get('width'))} ${lengthOf(found.get('height'))}`;
  if (!/^\s*-?[\d.]+(?:[\s,]+-?[\d.]+){3}\s*$/.test(box)) return undefined;
  for (const key of ['viewBox', 'width', 'height', 'x', 'y', 'preserveAspectRatio']) found.delete(key);
  if (!found.has('fill')) found.set('fill', 'currentColor');
  const written = writeAttributes(found);
  if (written === undefined) return undefined;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="${box.trim()}"${written}`;
}

function lengthOf(text = ''): string {
  return text.replace(/px$/, '');
}

function writeAttributes(found: ReadonlyMap<string, string>): string | undefined {
  let out = '';
  for (const [key, value] of found) {
    if (SKIPPED.test(key)) continue;
    if (PAINTS.has(key)) {
      if (value !== 'none' && !ONE_COLOR.test(value)) return undefined;
      out += ` ${key}="${value === 'none' ? 'none' : 'currentColor'}"`;
    } else if ((NUMBERS.test(key) && NUMERIC.test(value)) || (WORDS.has(key) && /^[a-z]+$/.test(value))) {
      out += ` ${key}="${value}"`;
    } else return undefined;
  }
  return out;
}
