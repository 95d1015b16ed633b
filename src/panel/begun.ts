// The first message of a chat's page, from its first script (webview/early.ts).

export const BEGUN = { type: 'begun' } as const;

export function isBegun(message: unknown): boolean {
  return Object(message).type === BEGUN.type;
}
