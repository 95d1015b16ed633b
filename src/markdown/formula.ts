// Converts TeX to MathML with known elements, attributes and sizes only. Loaded on first use.
/// <reference path="./temml.d.ts" />
import buildMathML from 'temml/src/buildMathML.js';
import { _mathmlGroupBuilders as builders } from 'temml/src/defineFunction.js';
import parseTree from 'temml/src/parseTree.js';
import Settings from 'temml/src/Settings.js';
import Style from 'temml/src/Style.js';
import { revealControls } from '../base/revealControls';
import { isDisplayed, texOf } from './mathMarks';

export interface MathElement {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly style: Readonly<Record<string, string>>;
  readonly children: readonly (MathElement | string)[];
}

/** Why a formula is not drawn; `message` is the library's. */
export type FormulaProblem =
  | { readonly code: 'tooLong' | 'tooDeep' | 'tooLarge' | 'notAllowed' }
  | { readonly code: 'notRead'; readonly reason: string };

export type Formula = { readonly math: MathElement } | { readonly problem: FormulaProblem };

const MAX_TEX = 4_000;
const MAX_ELEMENTS = 1_500;
const MAX_DEPTH = 40;
const MAX_BUILT = 6_000;
const MAX_EXPANDED = 1_000;
const MAX_PIXELS = 400;
const MAX_EDGE = 40;
const MAX_SCALE = 3;
const MAX_REASON = 200;

const REFUSED =
  /\\(?:long|global|[gex]?def|let|futurelet|(?:new|renew|provide)command|definecolor|includegraphics|class|id|style|data|href|url|label|ref|eqref|cancelto|[lr]lap|clap|math[lr]lap|mathclap|reflectbox)(?![a-zA-Z])|\\[a-zA-Z]*@|\\begin\s*\{CD\}/;

const REFUSED_GROUPS: ReadonlySet<string> = new Set(
  'cancelto cdlabel cdlabelparent html includegraphics label lap ref reflect'.split(' '),
);

const TAGS: ReadonlySet<string> = new Set(
  'math mrow mi mn mo ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mmultiscripts mprescripts none mtable mtr mtd mstyle mpadded mphantom menclose'.split(
    ' ',
  ),
);
const FLAG = /^(?:true|false)$/;
const LENGTH = /^([-+]?(?:\d{1,6}(?:\.\d{1,20})?|\.\d{1,20}))(em|ex|pt|px|mm|cm|in|%)?$/;
const COLOR = /^(?:#[\da-f]{3,8}|[a-z]{3,25})$/i;
const SIZES: ReadonlySet<string> = new Set(
  'lspace rspace width height depth voffset minsize maxsize linethickness mathsize'.split(' '),
);
const ATTRIBUTES: Readonly<Record<string, RegExp>> = {
  accent: FLAG,
  accentunder: FLAG,
  columnspan: /^\d{1,2}$/,
  display: /^block$/,
  displaystyle: FLAG,
  fence: FLAG,
  form: /^(?:pre|in|post)fix$/,
  largeop: FLAG,
  mathcolor: COLOR,
  mathvariant: /^normal$/,
  movablelimits: FLAG,
  scriptlevel: /^[-+]?\d$/,
  separator: FLAG,
  stretchy: FLAG,
  symmetric: FLAG,
};
const LINE = /^\d?\.?\d{1,6}(?:em|px) (?:solid|dashed|double)$/;
const STYLES: Readonly<Record<string, RegExp>> = {
  border: LINE,
  borderBottom: LINE,
  borderLeft: LINE,
  borderRight: LINE,
  borderTop: LINE,
  fontWeight: /^bold$/,
  mathDepth: /^[0-3]$/,
  textAlign: /^(?:left|right|center)$/,
  width: /^\d{1,3}(?:\.\d)?%$/,
};
const EDGE = /^(?:padding(?:Top|Right|Bottom|Left)?|marginLeft)$/;
const CLASS = /^(?:tml|chr)-[a-z\d-]{1,20}$|^(?:up|down)strike$|^sout$/;
const VISIBLE = /[^\u2061-\u2064]+/g;

const MAX_SIZE: readonly [number, number] = [25, 300];
const POINT = 4 / 3;
const PIXELS: Readonly<Record<string, number>> = {
  em: 16,
  ex: 8,
  pt: POINT,
  px: 1,
  mm: 3.78,
  cm: 37.8,
  in: 96,
  '%': 1,
};

class Refusal extends Error {
  readonly code: Exclude<FormulaProblem['code'], 'notRead'>;

  constructor(code: Refusal['code']) {
    super(code);
    this.code = code;
  }
}

/** Remaining number of groups to build. */
let remainingGroups = 0;
for (const [type, build] of Object.entries(builders)) {
  builders[type] = (group, style) => {
    if (REFUSED_GROUPS.has(type)) throw new Refusal('notAllowed');
    if (--remainingGroups < 0) throw new Refusal('tooLong');
    return build(group, style);
  };
}

/** Returns the MathML of a formula with its delimiters, or a problem. Never throws. */
export function readFormula(source: string): Formula {
  try {
    const tex = revealControls(texOf(source));
    if (tex === '') return { problem: { code: 'notRead', reason: '' } };
    if (tex.length > MAX_TEX) throw new Refusal('tooLong');
    if (REFUSED.test(tex)) throw new Refusal('notAllowed');
    remainingGroups = MAX_BUILT;
    const displayMode = isDisplayed(source);
    const settings = new Settings({
      displayMode,
      strict: false,
      throwOnError: true,
      // Inline formulas wrap after operators.
      wrap: displayMode ? 'none' : 'tex',
      trust: false,
      maxExpand: MAX_EXPANDED,
      maxSize: MAX_SIZE,
    });
    const style = new Style({ level: displayMode ? 0 : 1, maxSize: MAX_SIZE });
    return { math: new Cleaner().clean(buildMathML(parseTree(tex, settings), '', style, settings)) };
  } catch (error) {
    return { problem: problemOf(error) };
  }
}

function problemOf(error: unknown): FormulaProblem {
  if (error instanceof Refusal) return { code: error.code };
  if (error instanceof RangeError) return { code: 'tooDeep' };
  const reason = error instanceof Error && error.name === 'ParseError' ? error.message : '';
  return { code: 'notRead', reason: revealControls(reason.split(' at position ')[0]!.trim()).slice(0, MAX_REASON) };
}

interface Built {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly children?: readonly unknown[];
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly classes?: readonly unknown[];
  readonly style?: Readonly<Record<string, unknown>>;
  readonly href?: unknown;
  readonly src?: unknown;
}

class Cleaner {
  #elements = 0;

  clean(node: unknown): MathElement {
    const [math] = this.#nodes(node as Built, 0, 1);
    if (typeof math !== 'object') throw new Refusal('notAllowed');
    return math;
  }

  #nodes(node: Built, depth: number, scale: number): readonly (MathElement | string)[] {
    if (depth > MAX_DEPTH) throw new Refusal('tooDeep');
    if (node.href !== undefined || node.src !== undefined) throw new Refusal('notAllowed');
    if (typeof node.text === 'string') return [node.text.replace(VISIBLE, revealControls)];
    // A fragment, or a number placeholder, which formulas do not get here.
    if (typeof node.type !== 'string') return this.#children(node, depth, scale);
    if (!TAGS.has(node.type)) throw new Refusal('notAllowed');
    if (++this.#elements > MAX_ELEMENTS) throw new Refusal('tooLong');
    const attributes = attributesOf(node);
    const size = scale * scaleOf(attributes.mathsize);
    if (size > MAX_SCALE) throw new Refusal('tooLarge');
    return [{ tag: node.type, attributes, style: stylesOf(node), children: this.#children(node, depth, size) }];
  }

  #children(node: Built, depth: number, scale: number): readonly (MathElement | string)[] {
    return (node.children ?? []).flatMap((child) => this.#nodes(child as Built, depth + 1, scale));
  }
}

function scaleOf(size: string | undefined): number {
  if (size === undefined) return 1;
  return Number.parseFloat(size) / (size.endsWith('%') ? 100 : 1);
}

function attributesOf({ attributes = {}, classes = [], style = {} }: Built): Readonly<Record<string, string>> {
  const clean: Record<string, string> = {};
  for (const [name, given] of Object.entries(attributes)) {
    const value = String(given);
    if (SIZES.has(name)) {
      // Relative to the width of its base, for example.
      if (!value.endsWith('width')) clean[name] = checked(value, MAX_PIXELS);
    } else if (ATTRIBUTES[name]?.test(value)) clean[name] = value;
    // Ruled lines: black, or the text colour.
    else if (name === 'mathbackground') clean[name] = COLOR.test(value) ? value : 'currentcolor';
  }
  const color = String(style.color ?? '');
  if (COLOR.test(color)) clean.mathcolor = color;
  const safeClasses = classes.filter((one) => typeof one === 'string' && CLASS.test(one));
  if (safeClasses.length > 0) clean.class = safeClasses.join(' ');
  return clean;
}

function checked(value: string, limit: number): string {
  const match = LENGTH.exec(value);
  if (!match || Math.abs(Number(match[1])) * (PIXELS[match[2] ?? 'px'] ?? 1) > limit) throw new Refusal('tooLarge');
  return value;
}

function stylesOf({ style = {} }: Built): Readonly<Record<string, string>> {
  const clean: Record<string, string> = {};
  for (const [name, given] of Object.entries(style)) {
    const value = String(given);
    if (STYLES[name]?.test(value)) clean[name] = value;
    else if (EDGE.test(name)) {
      for (const edge of value.split(' ')) checked(edge, MAX_EDGE);
      clean[name] = value;
    }
  }
  return clean;
}
