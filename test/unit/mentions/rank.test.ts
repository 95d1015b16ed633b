// Ranking of mentions: exact, prefix, word, part, letters.
import assert from 'node:assert/strict';
import { RANKS, rankOfPath, rankOfTitle } from '../../../src/mentions/rank';

const ofPath = (path: string, wanted: string) => rankOfPath(path, path.toLowerCase(), wanted);

describe('mention ranks', () => {
  it('distinguish exact file names, prefixes, words, parts and letters', () => {
    for (const [path, wanted, rank] of [
      ['src/port.ts', 'port.ts', 'exact'],
      ['src/port.test.ts', 'port', 'exact'],
      ['src/port.ts', 'src/port.ts', 'exact'],
      ['.env', '.env', 'exact'],
      ['src/port.ts', 'src/po', 'prefix'],
      ['src/portal.ts', 'port', 'prefix'],
      ['src/viewPort.ts', 'port', 'word'],
      ['src/view-port.ts', 'port', 'word'],
      ['a/src/port.ts', 'src/port', 'word'],
      ['src/report.ts', 'port', 'part'],
      ['port/a.ts', 'port', 'path'],
      ['p/o/rt.ts', 'port', 'letters'],
      ['src/a.ts', 'port', 'none'],
    ] as const)
      assert.equal(ofPath(path, wanted), RANKS[rank], `${path} ${wanted}`);
  });

  it('ignore case, spaces and hyphens in titles', () => {
    for (const [title, wanted, rank] of [
      ['Fix the Parser', 'fix-the-parser', 'exact'],
      ['Fix the Parser', 'fixthe', 'prefix'],
      ['Fix the Parser', 'the-pars', 'word'],
      ['parseEverything', 'every', 'word'],
      ['Fix the Parser', 'arser', 'part'],
      ['Übersicht', 'über', 'prefix'],
      ['Fix the Parser', 'ftp', 'none'],
    ] as const)
      assert.equal(rankOfTitle(title, wanted), RANKS[rank], `${title} ${wanted}`);
  });
});
