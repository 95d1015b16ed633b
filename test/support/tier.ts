// Which tests run: `npm test` takes the fast tier, `npm run test:slow` what that leaves out. A file
// that imports this one belongs to both, with other numbers.

export const isSlow = process.env.PARLEY_TIER === 'slow';

export const THEMES = isSlow ? (['dark', 'light', 'hc', 'hclight'] as const) : (['dark'] as const);

export function seeds(fast: number, slow: number): number {
  return isSlow ? slow : fast;
}
