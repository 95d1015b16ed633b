// Markdown of any length that is the same each time: headings, paragraphs with marks, lists, code
// in several languages, tables.

const vocabulary =
  'agent answer batch block branch cache change channel character client column commit cursor delta document editor event folder frame function handler heading index journal keyboard language line marker message module number option order output panel parser pending prompt queue reader renderer request review revision schema scroll session signal snapshot stream table terminal thought token transcript turn update value version viewport window worker writer'.split(
    ' ',
  );

/** Returns Markdown of about this length, cut off at the end. */
export function floodText(characters: number): string {
  let state = 20261121;
  const random = (below: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % below;
  };
  const words = (count: number): string =>
    Array.from({ length: count }, () => vocabulary[random(vocabulary.length)]).join(' ');
  const parts: string[] = [];
  let length = 0;
  for (let section = 1; length < characters; section++) {
    const part = block(section, words);
    parts.push(part);
    length += part.length;
  }
  return parts.join('').slice(0, characters);
}

function block(section: number, words: (count: number) => string): string {
  const heading = section % 3 === 1 ? `## ${words(4)}\n\n` : '';
  const paragraph = `The ${words(17)} with **${words(2)}**, \`${words(1)}${section}\` and a [${words(2)}](https://example.com/${section}); ${words(14)}.\n\n`;
  return heading + paragraph + extra(section, words);
}

function extra(section: number, words: (count: number) => string): string {
  switch (section % 6) {
    case 0:
      return `| Name | Kind | Cost |\n| --- | :-: | --: |\n${[1, 2, 3, 4].map((row) => `| ${words(2)} | \`k${row}\` | ${section * row}.5 |`).join('\n')}\n\n`;
    case 2:
      return `\`\`\`ts\nexport function step${section}(input: readonly string[], limit = ${section}): number {\n  // ${words(6)}\n  const kept = input.filter((line) => line.length > limit);\n  if (kept.length === 0) throw new Error('${words(3)}');\n  return kept.length;\n}\n\`\`\`\n\n`;
    case 4:
      return `\`\`\`python\ndef step_${section}(rows, limit=${section}):\n    """${words(5)}"""\n    return sum(len(row) for row in rows if row)\n\`\`\`\n\n`;
    case 5:
      return `\`\`\`sh\nset -e\nnpm run build -- --filter=part${section}\ngrep -rn "${words(2)}" src | head -3\n\`\`\`\n\n`;
    default:
      return `- ${words(6)}\n- ${words(5)} \`x${section}\`\n  - ${words(4)}\n- ${words(7)}\n\n`;
  }
}
