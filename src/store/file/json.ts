// JSON columns: written by us, but possibly damaged.
import type * as z from 'zod/mini';

/** Returns the value of a JSON text if it fits the schema, else the fallback. */
export function readJson<T>(text: string | undefined, schema: z.ZodMiniType<T>, fallback: T): T {
  if (text === undefined) return fallback;
  try {
    const parsed = schema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : fallback;
  } catch {
    return fallback;
  }
}
