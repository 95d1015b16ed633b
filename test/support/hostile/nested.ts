// Messages that took a page minutes to show: quotes, lists and emphasis nested without a bound.

/** 1,005 bytes of quotes in quotes. */
export const QUOTES = `${'>'.repeat(1000)} x\ny\n`;

/** 55 KB of everything that nests. */
export const MIX = `${'>'.repeat(5000)}${'- '.repeat(5000)}${'['.repeat(20_000)}${'*'.repeat(20_000)} x\ny\n`;
