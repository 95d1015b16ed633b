// Finds wording in comments and documentation that a native reader stumbles over, and long comment
// lines.
import { commentsOf } from './codeOf';

/** What to write instead, by what was found. */
const PHRASES: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\banew\b/i, 'again'],
  [/\blet(s|ting)? go of\b/i, 'releases, detaches, drops'],
  [/\bwhat (became|becomes|has become) of\b/i, 'what happened to, the outcome of'],
  [/\bso many\b/i, 'a number, "this many"'],
  [/\bof elsewhere\b/i, 'from another …'],
  [/\b(is|are|was|were|be) told\b(?! apart)/i, 'receives, learns; "notifies" in the active voice'],
  [/\bgo(es)? on\b/i, 'continues'],
  [/\bof (its|their) own\b/i, 'its own …, a separate …'],
  [/\b(is|are) gone\b/i, 'no longer exists, has exited, was removed'],
  [/\bmeanwhile\b/i, 'in the meantime, while …'],
  [/\bnobody\b/i, 'no one; better: no client, no window, unused'],
  [/\bat once\b/i, 'immediately; together, at a time'],
  [/\bwhoever\b/i, 'the caller, the owner, anyone who'],
  [/\b(undefined|true|false|null|none|absent|empty|only) where\b/i, 'if, when'],
  [/@throws (?![^.]*\bif\b)[^.]*\bwhere\b/i, 'if'],
  [/\bwhere (there|nothing|none|no one|no|possible|needed)\b/i, 'if, when'],
];

/** At the beginning of a sentence; in documentation this is a plain question. */
const IN_COMMENTS: typeof PHRASES = [[/\bWhat is\b(?![^.]*\?)/, 'name the thing']];

const COLUMNS = 100;

export interface Finding {
  /** From 1. */
  readonly line: number;
  readonly found: string;
  readonly instead: string;
}

/** Reads Markdown: all but code. */
export function readProse(text: string): readonly Finding[] {
  const prose = text.replace(/^( *)```[\s\S]*?^\1```|`[^`\n]*`/gm, (code) => code.replace(/[^\n]/g, ' '));
  return phrasesIn(prose, 1, PHRASES);
}

/** Reads the comments of TypeScript, JavaScript or CSS. */
export function readComments(text: string): readonly Finding[] {
  return blocksOf(text).flatMap(({ line, text: comment }) => [
    ...phrasesIn(comment, line, [...PHRASES, ...IN_COMMENTS]),
    ...comment
      .split('\n')
      .flatMap((each, index) =>
        each.length > COLUMNS && !/\b(biome-ignore|https?:)/.test(each)
          ? [{ line: line + index, found: `${each.length} columns`, instead: `wrap at ${COLUMNS}` }]
          : [],
      ),
  ]);
}

/** Returns the comments with their indentation; line comments below each other are one. */
function blocksOf(text: string): readonly { readonly line: number; readonly text: string }[] {
  const blocks: { line: number; text: string }[] = [];
  let line = 1;
  let counted = 0;
  for (const { at, text: comment } of commentsOf(text)) {
    line += text.slice(counted, at).split('\n').length - 1;
    counted = at;
    const before = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
    const isAlone = before.trim() === '';
    const last = blocks.at(-1);
    const isNext = last !== undefined && line === last.line + last.text.split('\n').length;
    if (isAlone && isNext && comment.startsWith('//')) last.text += `\n${before}${comment}`;
    else blocks.push({ line, text: isAlone ? `${before}${comment}` : comment });
  }
  return blocks;
}

/** Phrases are found across line breaks. */
function phrasesIn(text: string, line: number, phrases: typeof PHRASES): readonly Finding[] {
  const plain = text.replace(/\n[ \t]*(\/\/|\*(?!\/)) ?/g, (gap) => `\n${' '.repeat(gap.length - 1)}`);
  const findings = phrases.flatMap(([phrase, instead]) =>
    [...plain.matchAll(new RegExp(phrase.source.replaceAll(' ', '\\s+'), `g${phrase.flags}`))].map(
      ({ 0: found, index }) => ({
        line: line + plain.slice(0, index).split('\n').length - 1,
        found: found.replace(/\s+/g, ' ').trim(),
        instead,
      }),
    ),
  );
  return findings.sort((a, b) => a.line - b.line);
}
